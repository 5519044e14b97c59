"""`lastcard connect`: runs a bot of this machine against a referee somewhere else."""

import os
import signal
import ssl
import sys
import time
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_address
from pathlib import Path

import click
import trio

from lastcard.referee.bot_command import BotCommand, parse_words
from lastcard.referee.cli.bad_usage import BadUsage, complain
from lastcard.referee.cli.terminal import nobody_reads
from lastcard.referee.cli.values import mode_open_to_others, whole_number
from lastcard.referee.hardening import harden
from lastcard.referee.net.client import Client
from lastcard.referee.net.client_bot import start_own_bot
from lastcard.referee.net.client_call import Address, call, parse_address
from lastcard.referee.net.client_calls import PATIENCE, Calls, Say
from lastcard.referee.net.client_session import STOPPED, Ending
from lastcard.referee.net.tls import TlsError, client_context
from lastcard.referee.net.tokens import TOKEN, read_token

VARIABLE = "LASTCARD_TOKEN"
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATH = click.Path(path_type=Path)

EPILOG = """\b
CMD is a sample bot (greedy, random, ...), a path (with a '/'), or a program with its arguments.

\b
Examples:
  lastcard connect example.org:4000 --tls --token-file bot.token -- ./mybot.py
  lastcard connect 127.0.0.1:4000 --token-file bot.token -- python3 mybot.py --deep
"""


@click.command(epilog=EPILOG)
@click.argument("address", metavar="HOST:PORT")
@click.argument("words", nargs=-1, metavar="-- CMD ...")
@click.option("--tls", is_flag=True, help="Speak TLS, and believe the authorities of this system.")
@click.option("--ca", type=PATH, metavar="FILE", help="Speak TLS, and believe these certificates only.")
@click.option("--token-file", type=PATH, metavar="FILE", help=f"The bot's token. [default: the variable {VARIABLE}]")
@click.option(
    "--patience",
    type=whole_number(0),
    default=PATIENCE,
    metavar="SECONDS",
    help=f"Give up after so long without a connection. [default: {PATIENCE}]",
)
def connect(
    address: str, words: tuple[str, ...], tls: bool, ca: Path | None, token_file: Path | None, patience: int
) -> None:
    """Run the bot CMD against the referee at HOST:PORT, and come back when the connection is lost.

    Exit code 0 when the referee has ended it, 1 when the bot was not let in or ended by itself, 3 when the referee
    could not be reached or the command was stopped: the same command goes on.
    """
    given = os.environ.pop(VARIABLE, None)  # first of all: no compiler and no bot gets it
    ends = [number for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN]  # of `nohup`, say
    harden()
    where = parsed(address)
    command = own_bot(words)
    context = context_of(ca, tls=tls)
    token = token_of(token_file, given)
    say = saying(token)
    calls = Calls(where, lambda: call(where, context), say, patience=patience)
    client = Client(lambda: start_own_bot(command, VARIABLE), calls, token, say)
    warn_of_listeners(where, secured=context is not None)
    ending = run(client, ends)
    tell(ending.words, token)
    sys.exit(ending.code)


def parsed(address: str) -> Address:
    """Where the referee listens."""
    try:
        return parse_address(address)
    except ValueError as error:
        raise BadUsage(str(error)) from error


def own_bot(words: Sequence[str]) -> BotCommand:
    """How the bot is started: one word as in `lastcard play`, several as a program with arguments."""
    if not words:
        raise BadUsage("no bot, expected -- CMD ... after the address; see: lastcard connect --help")
    return parse_words(words)


def context_of(ca: Path | None, *, tls: bool) -> ssl.SSLContext | None:
    """Whom we believe, if TLS is spoken."""
    if not tls and ca is None:
        return None
    try:
        return client_context(ca)
    except TlsError as error:
        raise BadUsage(f"--ca {error}") from error


def token_of(file: Path | None, given: str | None) -> str:
    """The token, from its file or else from the environment."""
    if file is None and given is None:
        raise BadUsage(f"no token, expected --token-file FILE or the variable {VARIABLE}")
    if file is None:
        if not TOKEN.fullmatch(given or ""):
            raise BadUsage(f"{VARIABLE}: expected a token that `lastcard token` made, and nothing else")
        return given or ""
    token = read_token(file)
    warn_of_readers(file)
    return token


def warn_of_readers(file: Path) -> None:
    """Say so if others may read a token; of a pipe (`<(pass lastcard)`) they cannot."""
    if mode := mode_open_to_others(file):
        complain(f"--token-file {file}: others may read it (mode {mode}); chmod 600 makes it yours")


def warn_of_listeners(where: Address, *, secured: bool) -> None:
    """Say so if others may read the token on its way."""
    try:
        near = ip_address(where.host).is_loopback
    except ValueError:
        near = where.host == "localhost"
    if not near and not secured:
        complain(f"without --tls, whoever is between here and {where} can read the token and the cards")


def saying(token: str) -> Say:
    """Tells what happens, with the time, and never the token."""

    return lambda text: tell(f"{time.strftime('%H:%M:%S')} {text}", token)


def tell(text: str, token: str) -> None:
    """One line on standard error. If nobody reads it any more, the bot plays on."""
    try:
        complain(text.replace(token, "[token]"))
    except OSError:
        nobody_reads(sys.stderr)


def run(client: Client, ends: Sequence[signal.Signals]) -> Ending:
    """Run it until its end, or until one of these signals ends it."""
    try:
        return trio.run(attended, client, ends)
    except KeyboardInterrupt:  # before signals are received, or after
        return Ending(STOPPED, "stopped by SIGINT; the same command goes on")


async def attended(client: Client, ends: Sequence[signal.Signals]) -> Ending:
    """The client, and an ear for signals."""
    with trio.open_signal_receiver(*ends) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(obey, client, signals)
            ending = await client.run()
            nursery.cancel_scope.cancel()
    return ending


async def obey(client: Client, signals: AsyncIterator[int]) -> None:
    """The first signal ends it in good order, the second does not wait for the bot to leave."""
    async for number in signals:
        client.stop(signal.Signals(number).name)
