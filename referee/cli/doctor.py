"""`lastcard doctor`: what this machine can sandbox, found out by a probe bot inside each level."""

import shlex
import signal
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from types import FrameType

import click
import msgspec
import trio

from lastcard.referee.bot_command import BotCommand, parse_words
from lastcard.referee.cli.terminal import say_if_read, say_json
from lastcard.referee.doctor.costs import costs
from lastcard.referee.doctor.machine import machine
from lastcard.referee.doctor.own_bot import comes_up
from lastcard.referee.doctor.report import (
    BotReport,
    bot_lines,
    cost_lines,
    machine_lines,
    matrix_lines,
    report_of,
    verdict,
)
from lastcard.referee.doctor.trial import column_of
from lastcard.referee.exit_codes import DONE, FAILED
from lastcard.referee.hardening import harden
from lastcard.referee.sandbox.levels import Level

EPILOG = """\b
Exit code 1 if a level does not keep what it promises, or if the level of --level is not available; with CMD,
if the bot does not come up at a level.

\b
Examples:
  lastcard doctor
  lastcard doctor --level strict
  lastcard doctor -- node mybot.js
"""


@click.command(epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[-- CMD ...]")
@click.option(
    "--level", type=click.Choice([level.value for level in Level]), help="This level only. [default: all of them]"
)
@click.option("--json", "as_json", is_flag=True, help="Print nothing but one JSON object.")
def doctor(words: tuple[str, ...], level: str | None, as_json: bool) -> None:
    """Show what this machine can sandbox: a probe bot tries to break out of each level.

    With CMD, show instead whether that bot starts at each level under the usual limits, how fast, and with how
    much memory.
    """
    levels = [*Level] if level is None else [Level(level)]
    command = parse_words(words) if words else None
    harden()
    for number in (signal.SIGTERM, signal.SIGHUP):  # they end it as a Ctrl-C does: nothing is left behind
        signal.signal(number, as_interrupt)
    if command is not None:
        ok = examine_bot(command, levels, by_name=level is not None, as_json=as_json)
    else:
        ok = examine(levels, by_name=level is not None, as_json=as_json)
    sys.exit(DONE if ok else FAILED)


def as_interrupt(_number: int, _frame: FrameType | None) -> None:
    """Another signal, taken for a Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def examine(levels: Sequence[Level], *, by_name: bool, as_json: bool) -> bool:
    """Machine, matrix and costs; whether all promises are kept."""
    found = machine()
    if not as_json:
        say_all([*machine_lines(found), ""])
    columns = [trio.run(column_of, level) for level in levels]
    there = {Level.NONE, *(column.level for column in columns if not column.unavailable and not column.fault)}
    cost = trio.run(costs, [level for level in Level if level in there])
    report = report_of(found, columns, cost, by_name=by_name)
    if as_json:
        say_json(msgspec.json.encode(report).decode())
    else:
        say_all([*matrix_lines(columns), "", *cost_lines(cost), "", verdict(report)])
    return report.ok


def examine_bot(command: BotCommand, levels: Sequence[Level], *, by_name: bool, as_json: bool) -> bool:
    """Whether somebody's bot comes up at each level that there is."""
    found = trio.run(partial(comes_up, command, levels))
    ok = not any(each.fault or (by_name and each.unavailable) for each in found)
    report = BotReport(bot=command.name, argv=command.argv, levels=found, ok=ok)
    if as_json:
        say_json(msgspec.json.encode(report).decode())
    else:
        say_all([f"{report.bot}: {shlex.join(report.argv)}", *bot_lines(report)])
    return ok


def say_all(lines: Iterable[str]) -> None:
    """Each line, escaped."""
    for line in lines:
        say_if_read(line)
