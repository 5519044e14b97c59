"""The options that confine bots, shared by the commands that start some; it starts nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from lastcard.referee.cli.bad_usage import BadUsage
from lastcard.referee.cli.values import whole_number
from lastcard.referee.sandbox.levels import Level, Sandbox

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT = Sandbox()

OPTIONS = (
    click.option(
        "--sandbox",
        "level",
        type=click.Choice([level.value for level in Level]),
        help="How bots are confined; see `lastcard doctor`. [default: none]",
    ),
    click.option(
        "--memory-mb",
        type=whole_number(16, 1_048_576),
        metavar="MB",
        help=f"Memory of a confined bot. [default: {DEFAULT.memory_mb}]",
    ),
    click.option(
        "--processes",
        type=whole_number(1, 32_768),
        metavar="N",
        help=f"Its processes and threads. [default: {DEFAULT.processes}]",
    ),
    click.option(
        "--file-mb",
        type=whole_number(1, 1_048_576),
        metavar="MB",
        help=f"The largest file that it may write. [default: {DEFAULT.file_mb}]",
    ),
    click.option(
        "--cpu-s",
        type=whole_number(1, 31_536_000),
        metavar="S",
        help=f"CPU seconds of one process. [default: {DEFAULT.cpu_s}]",
    ),
    click.option(
        "--read",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="What it may read beside its own folder and the system; may be given again.",
    ),
)


def sandbox_options(command: F) -> F:
    """Gives a command these options; it hands what it got to `sandbox_of`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def sandbox_of(level: str | None, read: tuple[Path, ...], **limits: int | None) -> Sandbox:
    """What the options mean. Raises BadUsage for a limit that nobody would be held to."""
    given = {name: value for name, value in limits.items() if value is not None}
    if level is None and (given or read):
        option = "--" + next(iter(given), "read").replace("_", "-")
        raise BadUsage(f"{option}: has no effect without a sandbox, expected --sandbox basic or --sandbox strict too")
    paths = tuple(str(path.absolute()) for path in read)
    return Sandbox(level=Level(level or Level.NONE), read=paths, **given)
