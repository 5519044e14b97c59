"""`lastcard demo`: a small tournament among the sample bots on real processes, with nothing to configure."""

import shlex
import sys
from itertools import count
from pathlib import Path

import click

from lastcard.referee.bot_command import BotCommandError, missing_for, parse_bot, sample_bots
from lastcard.referee.cli.bad_usage import BadUsage
from lastcard.referee.cli.terminal import say
from lastcard.referee.cli.values import reason, whole_number
from lastcard.referee.exit_codes import DONE, FAILED
from lastcard.referee.hardening import harden
from lastcard.referee.log_reader import LogError, read_log
from lastcard.referee.replay import verify
from lastcard.referee.seating import ProcessSeating
from lastcard.referee.tournament import run, status

SEATS = 3
BLOCKS = 500
"""Some fifteen seconds on two cores, and intervals narrow enough for a table that says something."""

CONFIG = """\
[tournament]
name = "demo"
edition = "mario-kart"
seats = {seats}
format = "round-robin"
blocks = {blocks}
rounds = 1
outcome = "win"
seed = "demo"

[limits]
move_ms = 1000
bank_ms = 10000
start_ms = 30000
strikes = 3
"""


@click.command(epilog="\b\nExample:\n  lastcard demo\n")
@click.option(
    "--dir", "home", type=click.Path(path_type=Path), metavar="DIR", help="Its folder. [default: ./lastcard-demo]"
)
@click.option(
    "--blocks", type=whole_number(1, 10_000), metavar="N", help=f"Deals, each played in all seats. [default: {BLOCKS}]"
)
@click.option("--plain", is_flag=True, help="Plain lines in place of a progress bar.")
def demo(home: Path | None, blocks: int | None, plain: bool) -> None:
    """Play a small tournament among the sample bots on real processes.

    Table, logs and report come into a folder of their own; with --dir a demo that was stopped goes on. Nothing has to
    be configured. It takes less than a minute.
    """
    harden()
    home = home or free_folder(Path("lastcard-demo"))
    config = configured(home, blocks)
    results = home / "results"
    code = run(config, results, None, plain, player=ProcessSeating())
    if code != DONE:
        sys.exit(code)
    report = results / "report.txt"
    report.write_text(status(results) + "\n", "utf-8")
    logs = sorted((results / "logs").glob("*.jsonl"))
    wrong = [log for log in logs if not is_right(log)]
    say("")
    say(f"logs:   {results / 'logs'} ({len(logs)}, {len(logs) - len(wrong)} of them proved)")
    say(f"report: {report}")
    say(f"status: lastcard tournament status {shlex.quote(str(home))}")
    say(f"look:   lastcard replay {shlex.quote(str((wrong or logs)[0]))}")
    sys.exit(FAILED if wrong else DONE)


def free_folder(wanted: Path) -> Path:
    """The folder, or the first of its name with a number that does not exist yet."""
    names = (wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}") for number in count(1))
    return next(name for name in names if not name.exists())


def configured(home: Path, blocks: int | None) -> Path:
    """The demo's tournament file: a new one, or that of an earlier demo in this folder, which goes on."""
    config = home / "demo.toml"
    try:
        if config.is_file():
            if blocks is not None:
                raise BadUsage(f"--blocks {blocks}: expected none, since the demo in {home} goes on as it was begun")
            say(f"the demo in {home} goes on")
            return config
        if home.exists() and (not home.is_dir() or any(home.iterdir())):
            raise BadUsage(f"--dir {home}: expected a new or empty folder, or that of an earlier demo")
        home.mkdir(parents=True, exist_ok=True)
        bots = present_bots()
        entries = "".join(f'\n[[bot]]\nname = "{name}"\ncommand = "{name}"\n' for name in bots)
        config.write_text(CONFIG.format(seats=min(SEATS, len(bots)), blocks=blocks or BLOCKS) + entries, "utf-8")
    except OSError as error:
        raise BadUsage(f"--dir {home}: {reason(error)}, expected a folder that can be written") from error
    return config


def present_bots() -> list[str]:
    """The sample bots that can run here; says which are left out, and why."""
    present: list[str] = []
    for name in sample_bots():
        why = why_left_out(name)
        if why is None:
            present.append(name)
        else:
            say(f"left out: {name} {why}")
    say(f"bots: {', '.join(present)}")
    return present


def why_left_out(name: str) -> str | None:
    """What this machine lacks for the bot, or None. A bot in C is compiled here."""
    missing = missing_for(name)
    if missing:
        return f"needs {missing}, which is not installed here"
    try:
        parse_bot(name)
    except BotCommandError as error:
        return f"cannot be started here: {error}"
    return None


def is_right(path: Path) -> bool:
    """Whether the log is whole and comes out the same when the match is rebuilt."""
    try:
        verdict = verify(read_log(path))
    except LogError:
        return False
    return verdict.difference is None and not verdict.incomplete
