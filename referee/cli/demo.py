"""`lastcard demo`: a small tournament among the sample bots on real processes, with nothing to configure."""

import sys
from itertools import count
from pathlib import Path

import click

from lastcard.referee.bot_command import missing_for, sample_bots
from lastcard.referee.log_reader import read_log
from lastcard.referee.replay import verify
from lastcard.referee.seating import ProcessSeating
from lastcard.referee.tournament import run, status

SEATS = 3
BLOCKS = 40

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
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="Where to put it. [default: ./lastcard-demo]")
@click.option("--plain", is_flag=True, help="Plain lines in place of a progress bar.")
def demo(folder: Path | None, plain: bool) -> None:
    """Play a small tournament among the sample bots: table, logs and report in a folder."""
    home = folder or free_folder(Path("lastcard-demo"))
    bots = present_bots()
    home.mkdir(parents=True, exist_ok=True)
    config = home / "demo.toml"
    entries = "".join(f'\n[[bot]]\nname = "{name}"\ncommand = "{name}"\n' for name in bots)
    config.write_text(CONFIG.format(seats=min(SEATS, len(bots)), blocks=BLOCKS) + entries)
    code = run(config, home / "results", None, plain, player=ProcessSeating())
    if code != 0:
        sys.exit(code)
    results = home / "results"
    report = results / "report.txt"
    report.write_text(status(results) + "\n")
    logs = sorted((results / "logs").iterdir())
    wrong = [log for log in logs if (verdict := verify(read_log(log))).difference or verdict.incomplete]
    click.echo(f"\nlogs:   {results / 'logs'} ({len(logs)}, {len(logs) - len(wrong)} of them proved)")
    click.echo(f"report: {report}")
    click.echo(f"look:   lastcard replay {logs[0]}")
    sys.exit(1 if wrong else 0)


def present_bots() -> list[str]:
    """The sample bots that can run here; says which are left out."""
    present: list[str] = []
    for name in sample_bots():
        missing = missing_for(name)
        if missing:
            click.echo(f"left out: {name} needs {missing}, which is not installed here")
        else:
            present.append(name)
    click.echo(f"bots: {', '.join(present)}")
    return present


def free_folder(wanted: Path) -> Path:
    """The folder, or the first of its name with a number that does not exist yet."""
    names = (wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}") for number in count(1))
    return next(name for name in names if not name.exists())
