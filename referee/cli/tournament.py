"""`lastcard tournament`: run one, and see where one stands."""

import sys
from pathlib import Path

import click

from lastcard.referee.cli.bad_usage import BadUsage
from lastcard.referee.seating import ProcessSeating
from lastcard.referee.tournament import TournamentError, run, status

FILE = click.Path(path_type=Path)


@click.group()
def tournament() -> None:
    """Play tournaments between bots.

    \b
    Example:
      lastcard tournament run cup.toml
    """


@tournament.command(
    "run",
    epilog="""\b
Examples:
  lastcard tournament run cup.toml
  lastcard tournament run cup.toml --dir results --jobs 2 --plain
""",
)
@click.argument("file", type=FILE, metavar="FILE.toml")
@click.option("--dir", "folder", type=FILE, help="The tournament's folder. [default: named after the tournament]")
@click.option("--jobs", type=int, help="Matches at a time. [default: the number of cores]")
@click.option("--plain", is_flag=True, help="Plain lines in place of a progress bar.")
def run_command(file: Path, folder: Path | None, jobs: int | None, plain: bool) -> None:
    """Play the tournament in FILE.toml; on an unfinished folder, what is missing of it."""
    sys.exit(run(file, folder, jobs, plain, player=ProcessSeating()))


@tournament.command("status", epilog="\b\nExample:\n  lastcard tournament status cup\n")
@click.argument("folder", type=FILE, metavar="DIR")
def status_command(folder: Path) -> None:
    """Show where the tournament in DIR stands."""
    try:
        click.echo(status(folder))
    except TournamentError as error:
        raise BadUsage(str(error)) from error
