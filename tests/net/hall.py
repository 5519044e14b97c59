"""Matches between bots that come to the real door: `NetSeating` on a port of this machine, without a tournament."""

import os
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from lastcard.engine import Rules
from lastcard.referee.limits import Limits
from lastcard.referee.log_reader import read_log
from lastcard.referee.net.lobby import Lobby
from lastcard.referee.net.seating import NetSeating
from lastcard.referee.net.sockets import listen
from lastcard.referee.net.tokens import hash_of
from lastcard.referee.replay import verify
from lastcard.referee.seating import SeatedTable
from lastcard.referee.tournament import Bot, MatchCall, MatchRecord
from tests.net.caller import Caller, Line, Running, Script

RULES = Rules.of("classic", {"rounds": 1})
LIMITS = Limits(move_ms=2000, bank_ms=8000, start_ms=5000)


def token(name: str) -> str:
    """The token of the bot of that name."""
    return f"{name}-".ljust(22, "x")


class Hall:
    """A room with a door. Remote bots are named by the callers."""

    def __init__(self, seating: NetSeating, port: int, limits: Limits, tls: ssl.SSLContext | None) -> None:
        self.seating = seating
        self.port = port
        self.limits = limits
        self.said: list[str] = []
        self._tls = tls
        self._runs: list[Running] = []

    @property
    def lobby(self) -> Lobby:
        return self.seating._lobby

    def caller(self, name: str, *, source: str = "") -> Caller:
        """A bot of that name that has not called yet."""
        return Caller(self.port, token(name), source=source, tls=self._tls)

    def run(self, name: str, script: Script, *, source: str = "") -> Running:
        """A bot of that name at work; the room waits for its end."""
        return self.run_as(self.caller(name, source=source), script)

    def run_as(self, caller: Caller, script: Script) -> Running:
        """The same with a caller of the test's."""
        self._runs.append(Running(caller, script))
        return self._runs[-1]

    async def joined(self, run: Running) -> Caller:
        """Wait for one bot's end."""
        return await trio.to_thread.run_sync(run.join)

    async def join_all(self) -> None:
        for run in self._runs:
            await self.joined(run)

    def bot(self, name: str, **changes: int) -> Bot:
        """As the tournament names it; a name without a token is a sample bot of this machine."""
        limits = Limits(**{**{f: getattr(self.limits, f) for f in self.limits.__struct_fields__}, **changes})
        remote = name in self.seating._expected
        command = f"tcp:{name}" if remote else name
        return Bot(name=name, command=command, limits=limits, env={}, cwd=Path.cwd(), tcp=remote)

    @asynccontextmanager
    async def table(self, *names: str) -> AsyncIterator[SeatedTable]:
        """These bots at one table."""
        async with self.seating.open_table([self.bot(name) for name in names]) as table:
            yield table

    async def play(self, path: Path, *names: str, seed: str = "s", rules: Rules = RULES) -> "Game":
        """One match between these bots at a table of their own; its log is proved."""
        async with self.table(*names) as table:
            return await play_at(table, path, len(names), seed=seed, rules=rules)


class Game:
    """A match that was played."""

    def __init__(self, record: MatchRecord, path: Path) -> None:
        self.record = record
        read = read_log(path)
        self.lines: list[Line] = read.lines
        verdict = verify(read)
        assert verdict.difference is None, verdict
        assert not verdict.incomplete
        assert verdict.digest == record.digest

    @property
    def faults(self) -> list[tuple[int, str]]:
        """Seat and kind of every fault."""
        return [(fault.seat, fault.kind) for fault in self.record.faults]

    def logged(self, kind: str) -> list[Line]:
        return [line for line in self.lines if line["type"] == kind]


def descriptors() -> int:
    """How many files and sockets this process has open."""
    return len(os.listdir("/proc/self/fd"))


async def play_at(
    table: SeatedTable, path: Path, seats: int, *, seed: str = "s", rules: Rules = RULES, order: Sequence[int] = ()
) -> Game:
    """One match at a table."""
    call = MatchCall(match_id="m", rules=rules, seed=seed, bots=tuple(order or range(seats)), log_path=path)
    record = await table.play(call)
    assert not record.void, record.void_reason
    return Game(record, path)


@asynccontextmanager
async def opened(
    *names: str,
    limits: Limits = LIMITS,
    patience: float = 0.0,
    server: ssl.SSLContext | None = None,
    client: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
) -> AsyncIterator[Hall]:
    """A room that waits for bots of these names. In the end the bots are told bye, and have to be gone."""
    (listener,) = listen(host, 0)
    expected = {name: hash_of(token(name)) for name in names}
    seating = NetSeating(expected, [listener], start_ms=limits.start_ms, patience=patience, context=server)
    hall = Hall(seating, listener.getsockname()[1], limits, client)
    async with seating.opened(hall.said.append):
        with trio.fail_after(120):
            yield hall
    await hall.join_all()
