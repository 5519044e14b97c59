"""`lastcard replay`: a log step by step, and the proof that it is right."""

import sys
from pathlib import Path
from typing import cast

import click

from lastcard.engine import Event, Rules, seen_by
from lastcard.referee.cli.bad_usage import BadUsage, complain
from lastcard.referee.cli.terminal import say, say_if_read
from lastcard.referee.cli.values import whole_number
from lastcard.referee.describe import describe, describe_fault
from lastcard.referee.exit_codes import BAD_USAGE, DONE, FAILED, RESUMES
from lastcard.referee.log_reader import Line, Log, LogError, read_log
from lastcard.referee.replay import Parted, RanOut, Rebuilding, Step, Verdict, verify

RIGHT, DIFFERENT, INCOMPLETE = DONE, FAILED, RESUMES
GRAVEST_FIRST = (DIFFERENT, BAD_USAGE, INCOMPLETE, RIGHT)

EPILOG = """\b
Examples:
  lastcard replay match.jsonl
  lastcard replay match.jsonl --seat 1 --legal
  lastcard replay logs/*.jsonl --verify
"""


@click.command(epilog=EPILOG)
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG ...")
@click.option("--verify", "only_verify", is_flag=True, help="Rebuild the match and compare every event.")
@click.option("--seat", type=whole_number(0, 9), metavar="N", help="Show only what this seat could know.")
@click.option("--legal", is_flag=True, help="Show also what each decision was chosen from.")
def replay(logs: tuple[Path, ...], only_verify: bool, seat: int | None, legal: bool) -> None:
    """Show a match step by step, or prove its log.

    Exit code 0 if the log is right, 1 if it differs from the rules, 3 if it is incomplete but right so far, 2 if a
    file is no log.
    """
    if only_verify and (seat is not None or legal):
        raise BadUsage("--verify shows no steps: expected it without --seat and --legal")
    codes: list[int] = []
    for path in logs:
        try:
            log = read_log(path)
            if len(logs) > 1 and not only_verify:
                say(f"== {path}")
            codes.append(verified(log) if only_verify else shown(log, seat, legal))
        except LogError as error:
            hint = "" if "expected" in str(error) else ", expected the log of a match"
            complain(f"{error}{hint}")
            codes.append(BAD_USAGE)
    if only_verify and len(codes) > 1:
        kinds = ((RIGHT, "right"), (DIFFERENT, "different"), (INCOMPLETE, "incomplete"), (BAD_USAGE, "no log"))
        counts = [f"{codes.count(code)} {kind}" for code, kind in kinds if code in codes]
        say_if_read(f"{len(codes)} logs: {', '.join(counts)}")
    sys.exit(next(code for code in GRAVEST_FIRST if code in codes))


def verified(log: Log) -> int:
    """Verify one log and say what was found; the exit code."""
    verdict = verify(log)
    if verdict.difference is None:
        return right(log.path, verdict)
    say_if_read(f"{log.path}: DIFFERENT at line {verdict.difference.line}: {verdict.difference.what}")
    say_if_read(f"  logged:   {verdict.difference.logged}")
    say_if_read(f"  rebuilt:  {verdict.difference.rebuilt}")
    say_if_read(f"  position: {verdict.difference.position}")
    return DIFFERENT


def right(path: Path, verdict: Verdict) -> int:
    """Nothing differs, as far as the log goes."""
    if verdict.incomplete:
        say_if_read(f"{path}: incomplete ({verdict.incomplete}), right so far: {verdict.steps} steps")
        return INCOMPLETE
    say_if_read(f"{path}: right, {verdict.steps} steps, digest {verdict.digest}")
    return RIGHT


def shown(log: Log, seat: int | None, legal: bool) -> int:
    """Show the match step by step; the exit code."""
    if not log.lines:
        complain(f"{log.path}: incomplete: {log.problem}")
        return INCOMPLETE
    rebuilding = Rebuilding(log)
    names = names_of(log, rebuilding.match.seats)
    if seat is not None and seat >= len(names):
        raise LogError(f"{log.path}: there is no seat {seat}, expected 0 to {len(names) - 1}")
    say(heading(log, names, seat))
    try:
        for step in rebuilding.steps():
            show_step(step, names, seat, legal)
    except Parted as parted:
        place = rebuilding.place if parted.place is None else parted.place
        complain(f"{log.path}: differs from the rules at line {place + 1}: {parted}; see --verify")
        return DIFFERENT
    except RanOut:
        complain(f"{log.path}: incomplete: {log.problem or 'the match is not over'}")
        return INCOMPLETE
    return RIGHT


def heading(log: Log, names: list[str], seat: int | None) -> str:
    """The match in one line. Who knows the seed knows all hands, so no seat is shown it."""
    edition = cast("str", log.header["edition"])
    usual = Rules.of(edition).options
    options = cast("dict[str, object]", log.header["options"])
    changed = [f"{name}={value}" for name, value in options.items() if usual.get(name) != value]
    parts = [edition, *changed, *([] if seat is not None else [f"seed {log.header['seed']}"])]
    if any(unlimited(bot) for bot in bots_of(log)):
        parts.append("no limits")
    return f"{', '.join(parts)}: {', '.join(names)}"


def show_step(step: Step, names: list[str], seat: int | None, legal: bool) -> None:
    """Print one step: faults, who decided what, and what happened.

    Of the others a seat learns neither faults nor whether they had anything to decide: the count of all decisions
    would tell, so it is left out too.
    """
    for fault in step.faults:
        if seat is None or fault.get("seat") == seat:
            say(describe_fault(fault, names))
    for decision in step.decisions:
        if seat is None or decision["seat"] == seat:
            say(decision_in_words(decision, names, numbered=seat is None, legal=legal))
    for event in step.events:
        seen = event if seat is None else cast("Line", seen_by(cast("Event", event), seat))
        say("  " + describe(seen, names))


def decision_in_words(decision: Line, names: list[str], *, numbered: bool, legal: bool) -> str:
    """A decision: its number in the match, who took it, how, and the bot's note."""
    number = f"[{decision['n']}] " if numbered else ""
    how = decision.get("how")
    comment = "" if how == "asked" else f" ({how})"
    choice = f"  of: {', '.join(cast('list[str]', decision['legal']))}" if legal and how != "forced" else ""
    t = decision.get("t")
    note = cast("Line", t).get("note") if isinstance(t, dict) else None
    remark = f"  # {note}" if note else ""
    name = names[cast("int", decision["seat"])]
    return f"{number}{name} {decision['kind']}: {decision['action']}{comment}{choice}{remark}"


def bots_of(log: Log) -> list[Line]:
    """What the log says of the bots."""
    t = log.header.get("t")
    bots = cast("Line", t).get("bots") if isinstance(t, dict) else None
    return [cast("Line", bot) for bot in cast("list[object]", bots) if isinstance(bot, dict)] if bots else []


def names_of(log: Log, seats: int) -> list[str]:
    """The bots' names, or seat numbers where the log has none."""
    names = [str(bot.get("name")) for bot in bots_of(log)]
    return names if len(names) == seats else [f"seat {seat}" for seat in range(seats)]


def unlimited(bot: Line) -> bool:
    """Whether the bot was never late whatever it did."""
    limits = bot.get("limits")
    return isinstance(limits, dict) and cast("Line", limits).get("enforced") is False
