"""The one entry point: the group of commands, and the promise that no traceback reaches a user."""

import os
import sys
import traceback

import click

from lastcard.engine import LastcardError
from lastcard.referee.bot_command import BotCommandError
from lastcard.referee.cli.demo import demo
from lastcard.referee.cli.play import play
from lastcard.referee.cli.reference import editions, schema, vectors
from lastcard.referee.cli.replay import replay
from lastcard.referee.cli.tournament import tournament
from lastcard.referee.hardening import harden
from lastcard.referee.log_reader import LogError
from lastcard.referee.version import VERSION

BAD_USAGE = 2
DEBUG = "LASTCARD_DEBUG"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="lastcard")
def commands() -> None:
    """A referee for bots that play UNO-family card games.

    \b
    Example:
      lastcard play greedy random
    """


for command in (demo, play, tournament, replay, editions, schema, vectors):
    commands.add_command(command)


def main() -> None:
    """Runs the command line and exits."""
    harden()
    try:
        commands(prog_name="lastcard")
    except (LastcardError, BotCommandError, LogError) as error:
        click.echo(f"lastcard: {error}", err=True)
        sys.exit(BAD_USAGE)
    except BrokenPipeError:  # `lastcard replay LOG | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}:{where.lineno}"
        click.echo(
            f"lastcard: a fault of ours ({type(error).__name__} at {place}: {error}); {DEBUG}=1 shows where",
            err=True,
        )
        sys.exit(1)
