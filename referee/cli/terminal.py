"""Printing on standard output: escaped, line by line, and with a reader who may have gone. Knows no command."""

import os
import sys
from typing import TextIO

import click

from lastcard.referee.escape import escaped, json_escaped


def say(line: str) -> None:
    """Print a line; a line feed in it is escaped, since it would come from a bot or a file.

    Raises BrokenPipeError when nobody reads any more (`lastcard replay LOG | head`).
    """
    click.echo(escaped(line))


def say_lines(text: str) -> None:
    """Print a text of our own, of several lines."""
    click.echo("\n".join(map(escaped, text.split("\n"))))


def say_if_read(line: str) -> None:
    """The same where an exit code has still to be found: it goes on without a reader."""
    try:
        say(line)
    except BrokenPipeError:
        nobody_reads()


def say_json(text: str) -> None:
    """Print one JSON value on a line, for a script, which may have gone."""
    try:
        click.echo(json_escaped(text))
    except BrokenPipeError:
        nobody_reads()


def nobody_reads(stream: TextIO | None = None) -> None:
    """From here on standard output, or this stream, goes nowhere, the last flush of the interpreter too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, (stream or sys.stdout).fileno())
    os.close(nowhere)
