"""What the command line asks of tournaments: run one, show where one stands. Knows no process and no click.

Exit codes: 0 done, 2 the files cannot be meant like this, 3 stopped in a state that resumes.
"""

import os
import resource
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

import trio

from lastcard.referee.escape import escaped
from lastcard.referee.exit_codes import BAD_USAGE
from lastcard.referee.exit_codes import DONE as DONE  # who calls `run` finds them here
from lastcard.referee.exit_codes import RESUMES as RESUMES
from lastcard.referee.noise import cores
from lastcard.referee.sandbox.levels import Level
from lastcard.referee.tournament.config import Config, ConfigFile, load_config
from lastcard.referee.tournament.errors import ConfigError, TournamentError
from lastcard.referee.tournament.folder import Folder, base_folder, check_usable, locked, open_tournament
from lastcard.referee.tournament.ledger import Ledger, open_ledger
from lastcard.referee.tournament.plan import Plan
from lastcard.referee.tournament.ports import Bot, MatchPlayer
from lastcard.referee.tournament.progress import Reporter, choose_progress
from lastcard.referee.tournament.runner import Ending, Run
from lastcard.referee.tournament.standings import Standings, compute
from lastcard.referee.tournament.stored import check_ledger, checked_config, known_seed
from lastcard.referee.tournament.tables import table
from lastcard.referee.version import VERSION

DESCRIPTORS_A_SEAT = 8
DESCRIPTORS_BESIDE = 64

FEW_NOISY = 0.05
"""Of the matches: so many are noisy by chance."""


class Said(NamedTuple):
    """How the user has asked for it, as far as it is not the tournament's: for the line that says how to go on."""

    command: tuple[str, ...] = ("tournament", "run")
    options: tuple[str, ...] = ()


class Errand(NamedTuple):
    """What a run was asked to do, checked."""

    file: ConfigFile
    folder: Folder
    jobs: int
    bots: list[Bot]
    resume: str
    """The command that goes on with it."""


def run(
    config_path: Path,
    folder_path: Path | None,
    jobs: int | None,
    plain: bool,
    *,
    player: MatchPlayer,
    stream: TextIO | None = None,
    said: Said | None = None,
) -> int:
    """Play a tournament, or what is missing of it, and print the table; the exit code."""
    output: TextIO = stream or sys.stdout
    errand: Errand | None = None
    try:
        errand = prepare(config_path, folder_path, jobs, plain, player, said or Said())
        return carry_out(errand, player, choose_progress(output, plain=plain, dumb=is_dumb()), output)
    except TournamentError as error:
        print_error(str(error))
        return BAD_USAGE
    except KeyboardInterrupt:
        print(f"stopped; to go on:\n{errand.resume}" if errand else "stopped before anything was begun", file=output)
        return RESUMES


def prepare(
    config_path: Path, folder_path: Path | None, jobs: int | None, plain: bool, player: MatchPlayer, said: Said
) -> Errand:
    """Check all that can be checked before anything starts. Raises TournamentError."""
    file = load_config(config_path)
    folder = Folder(folder_path or default_folder(file))
    check_usable(folder, config_path)
    jobs = jobs if jobs is not None else cores()
    bots = startable_bots(file, folder, player)
    check_jobs(jobs, file.config.tournament.seats)
    if crowded := crowding(jobs):
        print_error(crowded)
    return Errand(file, folder, jobs, bots, resume_command(said, file.path, folder.path, jobs, plain))


def carry_out(errand: Errand, player: MatchPlayer, reporter: Reporter, stream: TextIO) -> int:
    """Play what the folder's ledger does not have, and print the table; the exit code."""
    with locked(errand.folder):
        ledger, seed = open_tournament(errand.folder, errand.file)
        with ledger:
            check_ledger(ledger, errand.file.config, plan_of(errand.file.config, seed))
            note_other_software(ledger, stream)
            a_run = Run(
                plan=plan_of(errand.file.config, seed),
                rules=errand.file.config.rules(),
                bots=errand.bots,
                player=player,
                ledger=ledger,
                folder=errand.folder,
                reporter=reporter,
                jobs=errand.jobs,
            )
            ending = trio.run(conduct, a_run, player, reporter)
            return conclude(ending, a_run, ledger, errand, stream)


def print_error(text: str) -> None:
    """An error on standard error; a difference of configurations has several lines, none of them forged."""
    print("lastcard: " + "\n".join(map(escaped, text.split("\n"))), file=sys.stderr)


def status(folder_path: Path) -> str:
    """Where the tournament in a folder stands. Raises TournamentError."""
    folder = tournament_folder(folder_path)
    with open_ledger(folder.ledger, "ro") as ledger:
        config = checked_config(ledger)
        seed = known_seed(ledger, folder, config)
        check_ledger(ledger, config, plan_of(config, seed) if seed is not None else None)
        tournament = config.tournament
        planned, played = tournament.blocks * tournament.seats, ledger.count()
        end: list[str] = []
        if played < planned:
            remote = any(bot.remote for bot in config.bots)
            command = ("serve",) if remote else Said().command
            words = ["lastcard", *command, str(folder.config), "--dir", str(folder.path)]
            end = ["", f"to go on: {shlex.join(words)}"]
        return report(ledger, folder, config, [f"{played} of {planned} matches played"], end)


def tournament_folder(path: Path) -> Folder:
    """The folder, or the one inside that the demo plays in."""
    inside = Folder(path / "results")
    return inside if inside.ledger.is_file() and not Folder(path).ledger.exists() else Folder(path)


def report(ledger: Ledger, folder: Folder, config: Config, progress: Sequence[str], end: Sequence[str]) -> str:
    """Heading, remarks and table, the same wherever they are shown; what comes from files cannot forge a line."""
    beginning = [heading(config), *progress, *remarks(ledger, folder, config), ""]
    rows = table(standings_of(ledger, config)).split("\n")
    return "\n".join(map(escaped, [*beginning, *rows, *end]))


def conclude(ending: Ending, a_run: Run, ledger: Ledger, errand: Errand, stream: TextIO) -> int:
    """Print the table, and how to go on with an unfinished one; the exit code."""
    if a_run.broken is not None:
        print_error(str(a_run.broken))
        print(f"{ending.value}; to go on:\n{errand.resume}", file=sys.stderr)
        return RESUMES
    end = [] if ending is Ending.DONE else ["", f"{ending.value}; to go on:", errand.resume]
    print(report(ledger, errand.folder, errand.file.config, [], end), file=stream, flush=True)
    return DONE if ending is Ending.DONE else RESUMES


async def conduct(a_run: Run, player: MatchPlayer, reporter: Reporter) -> Ending:
    """Play, and obey signals: the first SIGINT drains, the second stops; SIGTERM and SIGHUP stop."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(obey, a_run, signals)
            async with player.opened(reporter.say):
                ending = await a_run.play()
            nursery.cancel_scope.cancel()
    return ending


async def obey(a_run: Run, signals: AsyncIterator[int]) -> None:
    async for number in signals:
        if number == signal.SIGINT:
            a_run.interrupt()
        else:
            a_run.stop()


def is_dumb() -> bool:
    """Whether the terminal cannot move its cursor."""
    return os.environ.get("TERM") in ("dumb", "unknown")


def startable_bots(file: ConfigFile, folder: Folder, player: MatchPlayer) -> list[Bot]:
    """The bots. Raises ConfigError for one that cannot be started."""
    base = base_folder(folder, file)
    hidden = (folder.path.absolute(), file.path.absolute())  # deals, ledger, logs; and the seed in the file
    bots = [entry.bot(base, file.config.tournament.idle, hidden) for entry in file.config.bots]
    for bot in bots:
        problem = player.problem(bot)
        if problem is not None:
            raise ConfigError(f"{file.path.name}: [[bot]] {bot.name}: {problem}")
    return bots


def check_jobs(jobs: int, seats: int) -> None:
    """Raise ConfigError for a number of jobs that can never have the open files that it needs."""
    if jobs < 1:
        raise ConfigError(f"--jobs: expected a whole number from 1, got {jobs}")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most == resource.RLIM_INFINITY or jobs * seats * DESCRIPTORS_A_SEAT + DESCRIPTORS_BESIDE <= most:
        return
    possible = max(1, (most - DESCRIPTORS_BESIDE) // (seats * DESCRIPTORS_A_SEAT))
    raise ConfigError(f"--jobs: {jobs} need more than the {most} open files allowed here; use at most {possible}")


def crowding(jobs: int) -> str | None:
    """A warning where more matches are played at a time than there are cores."""
    present = cores()
    if jobs <= present:
        return None
    return (
        f"--jobs {jobs}: there are only {present} cores, so bots will wait for each other and thinking times are not"
        ' exact; give them more move_ms, idle = "freeze", or fewer jobs'
    )


def default_folder(file: ConfigFile) -> Path:
    """The folder of a configuration that stands beside its ledger, else one named after the tournament."""
    own = Folder(file.path.parent)
    if own.config.name == file.path.name and own.ledger.exists():
        return own.path
    return Path(file.config.tournament.name)


def resume_command(said: Said, config: Path, folder: Path, jobs: int, plain: bool) -> str:
    words = ["lastcard", *said.command, str(config), "--dir", str(folder), "--jobs", str(jobs), *said.options]
    return shlex.join([*words, "--plain"] if plain else words)


def plan_of(config: Config, seed: str) -> Plan:
    tournament = config.tournament
    remote = [number for number, bot in enumerate(config.bots) if bot.remote]
    return Plan(bots=len(config.bots), seats=tournament.seats, blocks=tournament.blocks, seed=seed, remote=remote)


def standings_of(ledger: Ledger, config: Config) -> Standings:
    return compute(
        ledger.rows(),
        [bot.name for bot in config.bots],
        seats=config.tournament.seats,
        blocks=config.tournament.blocks,
        outcome=config.tournament.outcome,
    )


def heading(config: Config) -> str:
    tournament = config.tournament
    blocks = "1 block" if tournament.blocks == 1 else f"{tournament.blocks} blocks"
    return (
        f"{tournament.name}: {tournament.edition}, {len(config.bots)} bots, {tournament.seats} seats,"
        f" {blocks} of {tournament.seats} matches"
    )


def remarks(ledger: Ledger, folder: Folder, config: Config) -> list[str]:
    """What a reader of the table has to know beside it."""
    lines = [f"{bot} is suspended: {reason}" for bot, reason in ledger.suspended().items()]
    voids = ledger.count("voids")
    if voids:
        lines.append(f"void attempts, played again: {voids}")
    named = ledger.logs()
    missing = len(set(named) - folder.log_names())
    if missing:
        lines.append(f"logs that are missing: {missing} of {len(named)}")
    return [*lines, *noise_remarks(ledger), *confinement_remarks(config)]


def noise_remarks(ledger: Ledger) -> list[str]:
    """Whether the machine had too few cores, where that was in more than a few matches.

    A match that is played while other bots start is noisy too, and on a quiet machine one in a hundred is.
    """
    seen = [row.noise for row in ledger.rows() if row.noise is not None]
    noisy = sum(noise.noisy for noise in seen)
    if noisy <= FEW_NOISY * len(seen):
        return []
    lags = sorted(noise.lag_ms for noise in seen)
    p99 = lags[min(len(lags) - 1, len(lags) * 99 // 100)]
    return [
        f"noisy: in {noisy} of {len(seen)} matches the machine was short of cores (p99 of the referee's lag"
        f" {p99:.0f} ms); thinking times there are not exact"
    ]


def confinement_remarks(config: Config) -> list[str]:
    """Which bots may keep what they have seen in files, and so know a deal before they play it in another seat."""
    local = [bot for bot in config.bots if not bot.remote]  # the others never meet a deal twice
    loose = [bot.name for bot in local if bot.sandbox.level is not Level.STRICT]
    if not loose:
        return []
    who = "all bots" if len(loose) == len(config.bots) else ", ".join(loose)
    return [f"no strict sandbox for {who}: hidden information is not protected from bots that keep files"]


def note_other_software(ledger: Ledger, stream: TextIO) -> None:
    begun_with = ledger.first_record().software
    if begun_with != VERSION:
        print(escaped(f"begun with lastcard {begun_with}, going on with {VERSION}"), file=stream)
