"""`lastcard play`: one match between programs, shown as it goes."""

import secrets
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import msgspec

from lastcard.engine import LEAST_SEATS, MOST_SEATS, Match, Rules
from lastcard.referee.bot_command import BotCommand, parse_bots
from lastcard.referee.cli.bad_usage import BadUsage, complain
from lastcard.referee.cli.confinement import sandbox_of, sandbox_options
from lastcard.referee.cli.one_match import OneMatch
from lastcard.referee.cli.position_file import opening_of
from lastcard.referee.cli.terminal import say_if_read, say_json
from lastcard.referee.cli.values import duration, reason, whole_number
from lastcard.referee.exit_codes import DONE, FAILED, RESUMES
from lastcard.referee.hardening import harden
from lastcard.referee.limits import DEFAULT_CLOCK, Idle, Limits
from lastcard.referee.match_log import PACKED, MatchLog
from lastcard.referee.process_players import Keeping
from lastcard.referee.sandbox.launch import problem
from lastcard.referee.table import Opening, Outcome, fault_line

EPILOG = """\b
A BOT is a sample bot (greedy, random, ...), a path (with a '/'), or a quoted command with arguments.

\b
Examples:
  lastcard play greedy random
  lastcard play ./mybot.py greedy random --rounds 3 --seed abc --log match.jsonl
  lastcard play "python3 mybot.py --deep" greedy --edition classic --set stacking=same
"""


@click.command(epilog=EPILOG)
@click.argument("bots", nargs=-1, metavar="BOT BOT ...")
@click.option("--edition", metavar="NAME", help="The edition; see `lastcard editions`. [default: mario-kart]")
@click.option("--set", "settings", multiple=True, metavar="OPTION=VALUE", help="An option of the edition.")
@click.option("--seed", metavar="TEXT", help="All chance comes from it; drawn and shown if not given.")
@click.option("--rounds", type=whole_number(1), metavar="N", help="Play so many rounds.")
@click.option("--target", type=whole_number(1), metavar="N", help="Play until a score reaches this.")
@click.option(
    "--log", "log_path", type=click.Path(path_type=Path), metavar="FILE", help="Write the log here; FILE.gz is packed."
)
@click.option(
    "--position", metavar="FILE[#ID]", help="Begin in the position of a vector's file; with #ID of one in a list."
)
@click.option(
    "--move-ms",
    type=whole_number(1),
    metavar="MS",
    help="Time for a decision. [default: 1000; none where only --bank-ms is given]",
)
@click.option(
    "--bank-ms",
    type=whole_number(0),
    metavar="MS",
    help="Time beyond, for the match. [default: 10000; none where only --move-ms is given]",
)
@click.option("--start-ms", type=whole_number(1), default=30_000, metavar="MS", help="Time to start. [default: 30000]")
@click.option("--strikes", type=whole_number(1), default=3, metavar="N", help="Faults that forfeit. [default: 3]")
@click.option(
    "--restarts", type=whole_number(0), default=0, metavar="N", help="New processes for a bot that dies. [default: 0]"
)
@click.option(
    "--idle",
    type=click.Choice([idle.value for idle in Idle]),
    default=Idle.RUN.value,
    help="What a bot does while it owes no answer: freeze stops all its processes. [default: run]",
)
@sandbox_options
@click.option("--pace", type=duration, default="0", metavar="TIME", help="Slow the display: 500ms, 2s a step.")
@click.option("--no-limits", is_flag=True, help="For debugging: nothing is ever late; marks the log.")
@click.option("--strict", is_flag=True, help="Exit with 1 if any bot had a fault (stale lines apart).")
@click.option("--json", "as_json", is_flag=True, help="Print nothing but the result, one JSON object.")
def play(
    bots: tuple[str, ...],
    edition: str | None,
    settings: tuple[str, ...],
    seed: str | None,
    rounds: int | None,
    target: int | None,
    log_path: Path | None,
    position: str | None,
    move_ms: int | None,
    bank_ms: int | None,
    start_ms: int,
    strikes: int,
    restarts: int,
    idle: str,
    level: str | None,
    memory_mb: int | None,
    processes: int | None,
    file_mb: int | None,
    cpu_s: int | None,
    read: tuple[Path, ...],
    pace: float,
    no_limits: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Play one match between BOTs, 2 to 10 of them, and show it as it goes."""
    harden()
    options = options_of(settings, rounds, target)
    opening = opening_of(position, edition, options, seed) if position is not None else None
    rules = opening.match.rules if opening else Rules.of(edition or "mario-kart", options)
    seed = opening.match.seed if opening else seed if seed is not None else secrets.token_hex(16)
    commands = checked_bots(bots, rules, seed, opening)
    limits = Limits(
        **clock_of(move_ms, bank_ms), start_ms=start_ms, strikes=strikes, restarts=restarts, enforced=not no_limits
    )
    sandbox = sandbox_of(level, read, memory_mb=memory_mb, processes=processes, file_mb=file_mb, cpu_s=cpu_s)
    keeping = Keeping(sandbox, hidden_files(log_path, position), Idle(idle))
    check_confined(commands, keeping)
    title = "" if as_json else title_of(rules, commands, seed, no_limits=no_limits)
    log = opened_log(log_path)
    game = OneMatch(commands, rules, seed, log, log_path, limits, keeping, opening=opening, title=title, pace=pace)
    sys.exit(end_of(game, game.run(), seed, strict=strict, as_json=as_json))


def options_of(settings: Sequence[str], rounds: int | None, target: int | None) -> dict[str, object]:
    """The options in `--set OPTION=VALUE`, `--rounds` and `--target`, each given once."""
    options: dict[str, object] = {}
    given: list[tuple[str, object]] = []
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not name:
            raise BadUsage(f"--set {setting!r}: expected OPTION=VALUE, as stacking=same")
        given.append((name, text))
    given += [(name, number) for name, number in (("rounds", rounds), ("target", target)) if number is not None]
    for name, value in given:
        if name in options:
            raise BadUsage(f"option {name}: given twice, expected one value")
        options[name] = value
    return options


def checked_bots(words: Sequence[str], rules: Rules, seed: str, opening: Opening | None) -> list[BotCommand]:
    """The bots' commands, if there are as many as the match has seats, and the seed is one."""
    if opening is not None and len(words) != opening.match.seats:
        raise BadUsage(f"the position has {opening.match.seats} seats, expected as many bots, got {len(words)}")
    if not LEAST_SEATS <= len(words) <= MOST_SEATS:
        raise BadUsage(f"expected {LEAST_SEATS} to {MOST_SEATS} bots, got {len(words)}; see: lastcard play --help")
    Match(rules, len(words), seed)  # a bad seed is said before anything starts
    return parse_bots(words)


def clock_of(move_ms: int | None, bank_ms: int | None) -> dict[str, int]:
    """The clock that is given; the usual one where nothing of it is."""
    given = {name: value for name, value in (("move_ms", move_ms), ("bank_ms", bank_ms)) if value is not None}
    return given or DEFAULT_CLOCK


def hidden_files(log: Path | None, position: str | None) -> tuple[Path, ...]:
    """What no bot may see, although it lay in its own folder: the deal stands in it."""
    logs = [] if log is None else [log, log.with_suffix("")] if log.suffix == PACKED else [log]
    positions = [] if position is None else [Path(position.partition("#")[0])]
    return tuple(path.absolute() for path in (*logs, *positions))


def check_confined(commands: Sequence[BotCommand], keeping: Keeping) -> None:
    """Raise BadUsage for the first bot that this machine cannot confine like this."""
    for command in commands:
        why_not = problem(command, keeping.sandbox, keeping.hidden)
        if why_not is not None:
            raise BadUsage(f"bot {command.word!r}: {why_not}")


def opened_log(path: Path | None) -> MatchLog:
    """The log, empty; the last thing that can be wrong before bots are started."""
    try:
        return MatchLog(path)
    except OSError as error:
        raise BadUsage(f"--log {path}: {reason(error)}, expected a file that can be written") from error


def title_of(rules: Rules, commands: Sequence[BotCommand], seed: str, *, no_limits: bool) -> str:
    """The first line that is shown."""
    unlimited = "; no limits: nothing is ever late" if no_limits else ""
    return f"{rules.edition.title}: {', '.join(command.name for command in commands)} (seed {seed}{unlimited})"


def end_of(game: OneMatch, outcome: Outcome | None, seed: str, *, strict: bool, as_json: bool) -> int:
    """Says how the match ended; the exit code."""
    if outcome is None:
        if game.unread and not game.stopped:
            return DONE
        complain(f"{game.stopped}; to play it again: {again(seed)}")
        return RESUMES
    game.show_rest()
    if as_json:
        say_json(result_json(game, seed, outcome))
    elif game.log_path is not None:
        say_if_read(f"log: {game.log_path}")
    return FAILED if strict and any(fault.kind != "stale" for fault in outcome.faults) else DONE


def again(seed: str) -> str:
    """The command line as it was given, with the seed in it."""
    words = sys.argv[2:]
    has_seed = any(word == "--seed" or word.startswith("--seed=") for word in words)
    return shlex.join(["lastcard", "play", *([] if has_seed else ["--seed", seed]), *words])


def result_json(game: OneMatch, seed: str, outcome: Outcome) -> str:
    """The result for scripts."""
    result: Mapping[str, object] = {
        "edition": game.table.match.rules.edition.name,
        "bots": game.names,
        "seed": seed,
        "places": outcome.places,
        "scores": outcome.scores,
        "reason": outcome.reason,
        "rounds": outcome.rounds,
        "forfeited": outcome.forfeited,
        "faults": [fault_line(fault) for fault in outcome.faults],
        "asked": outcome.asked,
        "digest": outcome.digest,
        "log": None if game.log_path is None else str(game.log_path),
    }
    return msgspec.json.encode(result).decode()
