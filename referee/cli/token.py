"""`lastcard token`: makes the secret by which a remote bot is known, or shows the hash that its referee keeps."""

from pathlib import Path

import click

from lastcard.referee.cli.bad_usage import BadUsage
from lastcard.referee.cli.terminal import say
from lastcard.referee.escape import escaped
from lastcard.referee.net.tokens import read_hash, write_token

PATH = click.Path(path_type=Path)

EPILOG = """\b
Examples:
  lastcard token mybot.token
  lastcard token --hash mybot.token
"""

WHO_GETS_WHAT = """\
{file}: the token, for whoever runs the bot: lastcard connect HOST:PORT --token-file {file} -- CMD
the line sha256:... : its hash, for the organiser: in the file that his token_file names\
"""


@click.command(epilog=EPILOG)
@click.argument("new", type=PATH, required=False, metavar="NEW")
@click.option("--hash", "old", type=PATH, metavar="FILE", help="Print the hash of the token in FILE; make nothing.")
def token(new: Path | None, old: Path | None) -> None:
    """Make a token for a bot that plays over the network, in the file NEW, and print its hash."""
    if (new is None) == (old is None):
        raise BadUsage("expected either NEW, the name of a file to make, or --hash FILE; see: lastcard token --help")
    if old is not None:
        say(read_hash(old))
    elif new is not None:
        say(write_token(new))
        for line in WHO_GETS_WHAT.format(file=new).split("\n"):
            click.echo(escaped(line), err=True)
