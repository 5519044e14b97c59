"""What a user got wrong, in one line: our own sentence, or click's made as short. Knows no command."""

import click

from lastcard.referee.escape import escaped


class BadUsage(Exception):
    """One sentence about what is wrong and what was expected; exit code 2, before anything starts."""


def in_one_line(error: click.ClickException) -> str:
    """An error of click's without the usage above it."""
    text = " ".join(error.format_message().split())
    text = (text[:1].lower() + text[1:]).removesuffix(".")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text = f"{text}; see: {error.ctx.command_path} --help"
    return text


def complain(text: str) -> None:
    """One line on standard error, under the name that all our errors bear."""
    click.echo(f"lastcard: {escaped(text)}", err=True)
