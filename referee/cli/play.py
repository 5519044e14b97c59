"""`lastcard play`: one match between programs, shown as it goes."""

import re
import secrets
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import click
import msgspec
import trio

from lastcard.engine import LEAST_SEATS, MOST_SEATS, Event, LastcardError, Match, Rules, from_setup
from lastcard.referee.bot_command import BotCommand, parse_bots
from lastcard.referee.cli.bad_usage import BadUsage
from lastcard.referee.describe import describe, describe_fault
from lastcard.referee.escape import escaped
from lastcard.referee.limits import Limits
from lastcard.referee.match_log import MatchLog
from lastcard.referee.seating import part_all, player_of
from lastcard.referee.table import MatchFailed, Opening, Outcome, Table, fault_line

FAILED, RESUMES = 1, 3

EPILOG = """\b
A BOT is a sample bot (greedy, random, ...), a path (with a '/'), or a quoted command with arguments.

\b
Examples:
  lastcard play greedy random
  lastcard play ./mybot.py greedy random --rounds 3 --seed abc --log match.jsonl
  lastcard play greedy random --edition classic --set stacking=same
"""


class PaceType(click.ParamType[float]):
    """A duration: 500, 500ms, 2s."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        match = re.fullmatch(r"(\d{1,6})(ms|s)?", str(value))
        if match is None:
            self.fail(f"{value!r} is not a duration, expected as 500ms or 2s", param, ctx)
        return int(match[1]) * (1.0 if match[2] == "s" else 0.001)


def positive(least: int) -> click.IntRange:
    """A whole number from `least`."""
    return click.IntRange(least, 1_000_000_000)


@click.command(epilog=EPILOG)
@click.argument("bots", nargs=-1, metavar="BOT BOT ...")
@click.option("--edition", help="The edition to play; see `lastcard editions`. [default: mario-kart]")
@click.option("--set", "settings", multiple=True, metavar="OPTION=VALUE", help="An option of the edition.")
@click.option("--seed", help="All chance comes from it; drawn and shown if not given.")
@click.option("--rounds", type=positive(1), help="Play so many rounds.")
@click.option("--target", type=positive(1), help="Play until a score reaches this.")
@click.option("--log", "log_path", type=click.Path(path_type=Path, dir_okay=False), help="Write the log here.")
@click.option(
    "--position",
    "position_path",
    metavar="FILE",
    help="Begin in a position: a vector's file, FILE#ID for one of several.",
)
@click.option("--move-ms", type=positive(1), default=1000, show_default=True, help="Time for a decision.")
@click.option("--bank-ms", type=positive(0), default=10_000, show_default=True, help="Extra time for the match.")
@click.option("--start-ms", type=positive(1), default=30_000, show_default=True, help="Time to start up.")
@click.option("--strikes", type=positive(1), default=3, show_default=True, help="Faults that cost the match.")
@click.option("--restarts", type=positive(0), default=0, show_default=True, help="New processes for a bot that dies.")
@click.option("--sandbox", type=click.Choice(["none"]), default="none", help="How bots are confined.")
@click.option("--pace", type=PaceType(), default="0", help="Slow the display down: so long for each step.")
@click.option("--no-limits", is_flag=True, help="For debugging: nothing is ever late; marks the log.")
@click.option("--strict", is_flag=True, help="Exit with 1 if any bot had a fault.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def play(
    bots: tuple[str, ...],
    edition: str | None,
    settings: tuple[str, ...],
    seed: str | None,
    rounds: int | None,
    target: int | None,
    log_path: Path | None,
    position_path: str | None,
    move_ms: int,
    bank_ms: int,
    start_ms: int,
    strikes: int,
    restarts: int,
    sandbox: str,
    pace: float,
    no_limits: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Play one match between BOTs, 2 to 10 of them."""
    commands = parse_bots(bots)
    seed = seed or secrets.token_hex(16)
    given = options_of(settings) | {
        name: value for name, value in (("rounds", rounds), ("target", target)) if value is not None
    }
    if position_path is not None:
        opening = opening_of(position_path, edition, given)
        rules, seed = opening.match.rules, opening.match.seed
        if len(commands) != opening.match.seats:
            raise BadUsage(f"the position has {opening.match.seats} seats, {len(commands)} bots were named")
    else:
        opening = None
        rules = Rules.of(edition or "mario-kart", given)
        if not LEAST_SEATS <= len(commands) <= MOST_SEATS:
            raise BadUsage(f"a match has {LEAST_SEATS} to {MOST_SEATS} bots, {len(commands)} were named")
        Match(rules, len(commands), seed)  # a bad seed is said before anything starts
    limits = Limits(
        move_ms=move_ms, bank_ms=bank_ms, start_ms=start_ms, strikes=strikes, restarts=restarts,
        enforced=not no_limits,
    )  # fmt: skip
    try:
        log = MatchLog(log_path)
    except OSError as error:
        raise BadUsage(f"--log {log_path}: {error.strerror}") from error
    show = Show([command.name for command in commands], quiet=as_json)
    show.begin(rules, seed)
    game = OneMatch(commands, rules, seed, log, limits, opening, show, pace)
    outcome = game.run()
    if outcome is None:
        again = shlex.join(["lastcard", *sys.argv[1:], *([] if "--seed" in sys.argv else ["--seed", seed])])
        click.echo(f"lastcard: {game.stopped}; to play it again: {again}", err=True)
        sys.exit(RESUMES)
    if as_json:
        click.echo(result_json(commands, seed, outcome))
    else:
        show.result(outcome, log_path)
    if strict and any(fault.costs_strike or fault.kind != "stale" for fault in outcome.faults):
        sys.exit(FAILED)


def options_of(settings: Sequence[str]) -> dict[str, object]:
    """The options in `--set OPTION=VALUE`."""
    options: dict[str, object] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise BadUsage(f"--set {setting!r}: expected OPTION=VALUE")
        options[name.strip()] = value.strip()
    return options


def opening_of(name: str, edition: str | None, given: Mapping[str, object]) -> Opening:
    """The position in a file: a vector, or one of a file of vectors named after a `#`."""
    path, _, wanted = name.partition("#")
    try:
        data = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise BadUsage(f"--position {path}: {error.strerror}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadUsage(f"--position {path}: not JSON: {error}") from error
    vector = one_vector(path, data, wanted)
    options = vector.get("options", {})
    setup = vector["setup"]
    if not isinstance(options, dict) or not isinstance(setup, dict):
        raise BadUsage(f"--position {path}: options and setup have to be objects")
    source = edition or vector.get("edition") or "mario-kart"
    try:
        rules = Rules.of(str(source), {**cast("dict[str, object]", options), **given})
        match, events = from_setup(rules, cast("dict[str, object]", setup))
    except LastcardError as error:
        raise BadUsage(f"--position {path}: {error}") from error
    return Opening(cast("dict[str, object]", setup), match, events)


def one_vector(path: str, data: object, wanted: str) -> Mapping[str, object]:
    """The vector that is meant, with a `setup`."""
    vectors = cast("list[object]", data) if isinstance(data, list) else [data]
    found = [cast("dict[str, object]", vector) for vector in vectors if isinstance(vector, dict) and "setup" in vector]
    if wanted:
        found = [vector for vector in found if vector.get("id") == wanted]
    if len(found) != 1:
        ids = ", ".join(str(vector.get("id")) for vector in found[:8])
        what = f"it has {len(found)}: name one as {path}#ID ({ids})" if found else "there is none"
        raise BadUsage(f"--position {path}: expected one object with a 'setup'; {what}")
    return found[0]


class OneMatch:
    """One match of real processes, ended in good order whatever happens."""

    def __init__(
        self,
        commands: Sequence[BotCommand],
        rules: Rules,
        seed: str,
        log: MatchLog,
        limits: Limits,
        opening: Opening | None,
        show: "Show",
        pace: float,
    ) -> None:
        match_id = secrets.token_hex(4)
        self.players = [player_of(command, limits, seat=seat, match=match_id) for seat, command in enumerate(commands)]
        self.log = log
        self.table = Table(
            self.players, rules, seed, log, match_id=match_id, opening=opening, watcher=show.events, pace=pace
        )
        self.stopped = ""

    def run(self) -> Outcome | None:
        """Play it; None if it was stopped, and then `stopped` says by what."""
        try:
            return trio.run(self._play)
        finally:
            self.log.close()

    async def _play(self) -> Outcome | None:
        outcome = None
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._obey, signals, nursery.cancel_scope)
                try:
                    outcome = await self.table.play()
                except MatchFailed as failure:
                    self.stopped = f"the match is void: {failure}"
                finally:
                    with trio.CancelScope(shield=True):
                        await part_all(self.players, "the match is over")
                nursery.cancel_scope.cancel()
        return outcome

    async def _obey(self, signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
        async for number in signals:
            self.stopped = f"stopped by {signal.Signals(number).name}"
            scope.cancel()


class Show:
    """What a match looks like in a terminal."""

    def __init__(self, names: Sequence[str], *, quiet: bool) -> None:
        self.names = names
        self.quiet = quiet

    def begin(self, rules: Rules, seed: str) -> None:
        """The first line."""
        if not self.quiet:
            click.echo(f"{rules.edition.title}: {', '.join(self.names)} (seed {seed})")

    def events(self, match: Match, events: Sequence[Event]) -> None:
        """One step."""
        if not self.quiet:
            for event in events:
                click.echo(escaped(describe(cast("dict[str, object]", event), self.names)))

    def result(self, outcome: Outcome, log_path: Path | None) -> None:
        """Faults, and where the log is."""
        for fault in outcome.faults:
            click.echo(escaped(describe_fault(fault_line(fault), self.names)))
        if log_path is not None:
            click.echo(f"log: {log_path}")


def result_json(commands: Sequence[BotCommand], seed: str, outcome: Outcome) -> str:
    """The result for scripts."""
    result = {
        "bots": [command.name for command in commands],
        "seed": seed,
        "places": outcome.places,
        "scores": outcome.scores,
        "reason": outcome.reason,
        "rounds": outcome.rounds,
        "forfeited": outcome.forfeited,
        "faults": [fault_line(fault) for fault in outcome.faults],
        "asked": outcome.asked,
        "digest": outcome.digest,
    }
    return msgspec.json.encode(result).decode()
