"""`lastcard replay`: a log step by step, and the proof that it is right."""

import sys
from pathlib import Path
from typing import cast

import click

from lastcard.engine import Event, seen_by
from lastcard.referee.describe import describe, describe_fault
from lastcard.referee.escape import escaped
from lastcard.referee.log_reader import Line, Log, LogError, read_log
from lastcard.referee.replay import Parted, RanOut, Rebuilding, Step, Verdict, verify

DIFFERENT, INCOMPLETE = 1, 3

EPILOG = """\b
Examples:
  lastcard replay match.jsonl
  lastcard replay match.jsonl --seat 1
  lastcard replay logs/*.jsonl --verify
"""


@click.command(epilog=EPILOG)
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG ...")
@click.option("--verify", "only_verify", is_flag=True, help="Rebuild the match and compare every event.")
@click.option("--seat", type=click.IntRange(0, 9), help="Show only what this seat could know.")
def replay(logs: tuple[Path, ...], only_verify: bool, seat: int | None) -> None:
    """Show a match step by step, or prove its log.

    With --verify: exit 0 if the log is right, 1 if it differs, 3 if it is incomplete but right so far.
    """
    if only_verify:
        codes = [verified(path) for path in logs]
        if len(codes) > 1:
            click.echo(
                f"{len(codes)} logs: {codes.count(0)} right, {codes.count(1)} different, {codes.count(3)} incomplete"
            )
        sys.exit(1 if DIFFERENT in codes else max(codes))
    for path in logs:
        show(read_log(path), seat)


def verified(path: Path) -> int:
    """Verify one log and say what was found; the exit code."""
    log = read_log(path)
    verdict = verify(log)
    name = escaped(str(path))
    if verdict.difference is not None:
        click.echo(f"{name}: DIFFERENT at line {verdict.difference.line}: {escaped(verdict.difference.what)}")
        click.echo(f"  logged:   {escaped(verdict.difference.logged)}")
        click.echo(f"  rebuilt:  {escaped(verdict.difference.rebuilt)}")
        click.echo(f"  position: {escaped(verdict.difference.position)}")
        return DIFFERENT
    return right(name, verdict)


def right(name: str, verdict: Verdict) -> int:
    """Nothing differs, as far as the log goes."""
    if verdict.incomplete:
        click.echo(f"{name}: incomplete ({verdict.incomplete}), right so far: {verdict.steps} steps")
        return INCOMPLETE
    click.echo(f"{name}: right, {verdict.steps} steps, digest {verdict.digest}")
    return 0


def show(log: Log, seat: int | None) -> None:
    """Print the match step by step."""
    rebuilding = Rebuilding(log)
    names = names_of(log, rebuilding.match.seats)
    if seat is not None and seat >= len(names):
        raise LogError(f"{log.path}: there is no seat {seat}, the match has seats 0 to {len(names) - 1}")
    click.echo(f"{log.header['edition']}, seed {log.header['seed']}: {', '.join(names)}")
    try:
        for step in rebuilding.steps():
            show_step(step, names, seat)
    except Parted as parted:
        click.echo(f"the log differs from the rules at line {rebuilding.place + 1}: {parted}; see --verify", err=True)
        sys.exit(DIFFERENT)
    except RanOut:
        click.echo(f"the log is incomplete: {log.problem or 'the match is not over'}", err=True)
        sys.exit(INCOMPLETE)


def show_step(step: Step, names: list[str], seat: int | None) -> None:
    """Print one step: who decided what, faults, and what happened."""
    for fault in step.faults:
        click.echo(escaped(describe_fault(fault, names)))
    for decision in step.decisions:
        how = "" if decision["how"] == "asked" else f" ({decision['how']})"
        if seat is None or decision["seat"] == seat:
            name = names[cast("int", decision["seat"])]
            note = note_of(decision)
            click.echo(escaped(f"[{decision['n']}] {name} {decision['kind']}: {decision['action']}{how}{note}"))
    for event in step.events:
        seen = event if seat is None else cast("Line", seen_by(cast("Event", event), seat))
        click.echo("  " + escaped(describe(seen, names)))


def note_of(decision: Line) -> str:
    """The bot's note to a decision."""
    t = decision.get("t")
    note = cast("Line", t).get("note") if isinstance(t, dict) else None
    return f"  # {note}" if note else ""


def names_of(log: Log, seats: int) -> list[str]:
    """The bots' names, or seat numbers where the log has none."""
    t = log.header.get("t")
    bots = cast("Line", t).get("bots") if isinstance(t, dict) else None
    names = [str(cast("Line", bot).get("name")) for bot in cast("list[object]", bots)] if isinstance(bots, list) else []
    return names if len(names) == seats else [f"seat {seat}" for seat in range(seats)]
