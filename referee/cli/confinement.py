"""The options that confine bots, shared by the commands that start some; it starts nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from lastcard.referee.cli.bad_usage import BadUsage
from lastcard.referee.cli.values import whole_number
from lastcard.referee.sandbox.levels import LIMIT_RANGES, Level, Sandbox

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT = Sandbox()


def limit(name: str, metavar: str, what: str) -> Callable[[F], F]:
    """The option of one limit."""
    return click.option(
        f"--{name.replace('_', '-')}",
        type=whole_number(*LIMIT_RANGES[name]),
        metavar=metavar,
        help=f"{what} [default: {getattr(DEFAULT, name)}]",
    )


OPTIONS = (
    click.option(
        "--sandbox",
        "level",
        type=click.Choice([level.value for level in Level]),
        help="How bots are confined; see `lastcard doctor`. [default: none]",
    ),
    limit("memory_mb", "MB", "Memory of a confined bot."),
    limit("processes", "N", "Its processes and threads."),
    limit("file_mb", "MB", "The largest file that it may write."),
    limit("cpu_s", "S", "CPU seconds of one process."),
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
