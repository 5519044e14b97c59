"""Where the benchmarks touch the referee for bots over TCP: a door, a lobby, and the instant bots that come in.

Every bot is a process of its own. What it measures begins when all have come in.
"""

import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import trio

from bench.adapter import Hall, Played
from bench.kept import LIMITS, greeted
from lastcard.engine import Rules
from lastcard.referee.limits import Limits
from lastcard.referee.match_log import MatchLog
from lastcard.referee.net.door import Door
from lastcard.referee.net.lobby import Lobby
from lastcard.referee.net.remote import RemotePlayer
from lastcard.referee.net.sockets import listen
from lastcard.referee.net.tls import server_context
from lastcard.referee.net.tokens import hash_of, new_token
from lastcard.referee.table import Table

SOCKET_BOT = (sys.executable, "-m", "bench.socket_bot")
HOST = "127.0.0.1"
PATIENCE = 60.0
"""Seconds for all bots to come in."""


class Certificate(NamedTuple):
    """A certificate that vouches for itself, and its key."""

    cert: Path
    key: Path


def server_side(certificate: Certificate | None) -> ssl.SSLContext | None:
    """What the referee shows."""
    return server_context(certificate.cert, certificate.key) if certificate else None


@contextmanager
def calling(
    port: int, tokens: Sequence[str], certificate: Certificate | None
) -> Generator[list["subprocess.Popen[bytes]"], None, None]:
    """A bot for each token that calls this port; they end when their connections do."""
    believed = [str(certificate.cert)] if certificate else []
    bots = [subprocess.Popen([*SOCKET_BOT, str(port), token, *believed]) for token in tokens]
    try:
        yield bots
    finally:
        for bot in bots:
            try:
                bot.wait(PATIENCE)
            finally:
                bot.kill()


@asynccontextmanager
async def at_tables(
    tables: int, seats: int, certificate: Certificate | None = None, limits: Limits = LIMITS
) -> AsyncGenerator[list[list[RemotePlayer]]]:
    """Remote bots that have come in, by table; all are told bye in the end."""
    names = [f"{table}-{seat}" for table in range(tables) for seat in range(seats)]
    tokens = {name: new_token() for name in names}
    expected = {name: hash_of(token) for name, token in tokens.items()}
    lobby = Lobby(names, lambda _: None)
    (listener,) = listen(HOST, 0)
    context = server_side(certificate)
    door = Door(expected, lobby.let_in, start_ms=limits.start_ms, context=context)
    with calling(listener.getsockname()[1], list(tokens.values()), certificate), listener:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(door.serve, listener)
            try:
                if missing := await lobby.gather(PATIENCE):
                    raise RuntimeError(f"{len(missing)} instant bots have not come in within {PATIENCE:g} s")
                players = [RemotePlayer(lobby.places[name], limits) for name in names]
                for one in players:
                    await greeted(one)
                yield [players[at : at + seats] for at in range(0, len(players), seats)]
            finally:
                with trio.CancelScope(shield=True):
                    await lobby.part(PATIENCE)
                nursery.cancel_scope.cancel()


async def play_remote_matches(
    rules: Rules, matches: int, log_folder: Path, *, seats: int, seed: str, certificate: Certificate | None = None
) -> Played:
    """One table with so many remote bots, as `adapter.play_matches` has it for bots of this machine."""
    async with at_tables(1, seats, certificate) as seated:
        return await Hall(rules, matches, log_folder, seed, lambda _: None).play(seated)


class Crowded(NamedTuple):
    """What came of many tables at once."""

    asked: int
    faults: int
    logs: list[Path]


async def play_everywhere(rules: Rules, tables: int, seats: int, matches: int, folder: Path, limits: Limits) -> Crowded:
    """So many matches at each of the tables, all to their end."""
    asked = faults = 0
    logs: list[Path] = []

    async def sit(table: int, players: Sequence[RemotePlayer]) -> None:
        nonlocal asked, faults
        for number in range(matches):
            name = f"{table}-{number}"
            logs.append(folder / f"{name}.jsonl")
            log = MatchLog(logs[-1])
            match = Table(players, rules, name, log, match_id=name)
            try:
                outcome = await match.play()
            finally:
                log.close()
            asked += match.asked
            faults += len(outcome.faults)

    async with at_tables(tables, seats, limits=limits) as seated, trio.open_nursery() as nursery:
        for table, players in enumerate(seated):
            nursery.start_soon(sit, table, players)
    return Crowded(asked, faults, logs)
