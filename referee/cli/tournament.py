"""`lastcard tournament`: run one, look at its plan, and see where one stands."""

import sys
from pathlib import Path

import click

from lastcard.referee.cli.dry_run import planned
from lastcard.referee.cli.terminal import say_lines
from lastcard.referee.cli.values import text_of, whole_number
from lastcard.referee.hardening import harden
from lastcard.referee.seating import ProcessSeating
from lastcard.referee.tournament import run, status

PATH = click.Path(path_type=Path)


@click.group(epilog="\b\nExample:\n  lastcard tournament run cup.toml\n")
def tournament() -> None:
    """Play tournaments between bots, and see where one stands."""


@tournament.command(
    "run",
    epilog="""\b
Examples:
  lastcard tournament run cup.toml
  lastcard tournament run cup.toml --dir results --jobs 2 --plain
  lastcard tournament run cup.toml --dry-run
""",
)
@click.argument("file", type=PATH, metavar="FILE.toml")
@click.option("--dir", "folder", type=PATH, metavar="DIR", help="Its folder. [default: named after the tournament]")
@click.option(
    "--jobs", type=whole_number(1), metavar="N", help="So many matches at a time. [default: the number of cores]"
)
@click.option("--plain", is_flag=True, help="Plain lines in place of a progress bar.")
@click.option("--dry-run", is_flag=True, help="Check everything, print the plan, and start nothing.")
def run_command(file: Path, folder: Path | None, jobs: int | None, plain: bool, dry_run: bool) -> None:
    """Play the tournament in FILE.toml; on an unfinished folder, what is missing of it.

    Exit code 0 when it is finished, 3 when it was stopped: the same command goes on.
    """
    harden()
    text_of(file, "a tournament file")  # one that cannot be read is said in the same words everywhere
    if dry_run:
        say_lines(planned(file, folder, jobs, ProcessSeating()))
        return
    sys.exit(run(file, folder, jobs, plain, player=ProcessSeating()))


@tournament.command("status", epilog="\b\nExample:\n  lastcard tournament status cup\n")
@click.argument("folder", type=PATH, metavar="DIR")
def status_command(folder: Path) -> None:
    """Show where the tournament in the folder DIR stands."""
    say_lines(status(folder))
