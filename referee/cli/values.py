"""The values of options: numbers, durations, and files to be read. Each error says what was expected."""

import re
import stat
from collections.abc import Callable
from pathlib import Path

import click

from lastcard.referee.cli.bad_usage import BadUsage

LARGEST_FILE = 64 << 20
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def whole_number(least: int, most: int = 1_000_000_000) -> Callable[[str], int]:
    """The type of an option that takes a whole number."""

    def convert(value: str) -> int:
        text = str(value)
        if not re.fullmatch(r"[0-9]{1,10}", text) or not least <= int(text) <= most:
            raise click.BadParameter(f"{text!r}, expected a whole number from {least} to {most}")
        return int(text)

    return convert


def duration(value: str) -> float:
    """The type of an option that takes a duration, 500, 500ms or 2s; in seconds."""
    match = re.fullmatch(r"([0-9]{1,6})(ms|s)?", str(value))
    if match is None:
        raise click.BadParameter(f"{value!r}, expected a duration as 500ms or 2s")
    return int(match[1]) * (1.0 if match[2] == "s" else 0.001)


def text_of(path: Path, what: str, *, option: str = "") -> str:
    """The text of a file that the user named; `what` it was expected to hold."""
    place = f"{option} {path}".lstrip()
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise BadUsage(f"{place}: {reason(error)}, expected {what}") from error
    if len(data) > LARGEST_FILE:
        raise BadUsage(f"{place}: more than {LARGEST_FILE >> 20} MiB, expected {what}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadUsage(f"{place}: not UTF-8 at byte {error.start}, expected {what}") from error


def reason(error: OSError | ValueError) -> str:
    """Why the system refuses, in its own words without number and path."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]


def mode_open_to_others(file: Path) -> str:
    """The mode of a file of secrets, as 0644, if others may read it; empty if not. A pipe has no such others."""
    try:
        mode = file.stat().st_mode
    except OSError:  # it has been read, and was taken away since
        return ""
    return f"{stat.S_IMODE(mode):04o}" if stat.S_ISREG(mode) and mode & OTHERS else ""
