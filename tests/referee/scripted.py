"""Bots that are tasks of the test: scripts over a memory channel, and tables where they play on a mock clock.

A script is told as a function of its `Bot`. It ends like a program: by returning (exit status 0), or by `Exit`.
Knows the words on the wire as a bot's author does: as JSON.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec

import trio
from trio.testing import MockClock

from lastcard.engine import Rules
from lastcard.referee.faults import Fault
from lastcard.referee.limits import Limits
from lastcard.referee.log_reader import read_log
from lastcard.referee.match_log import MatchLog
from lastcard.referee.memory_channel import CAPACITY, MemoryBot, MemoryChannel, memory_channel
from lastcard.referee.player import Player
from lastcard.referee.processes import StartError
from lastcard.referee.replay import verify
from lastcard.referee.table import Opening, Outcome, Table

Line = dict[str, Any]
P = ParamSpec("P")

ONE_ROUND = Rules.of("mario-kart", {"rounds": 1})
LIMITS = Limits(move_ms=1000, bank_ms=2000, start_ms=5000)
MOVE = 1.0
BANK = 2.0
MARGIN = 0.05


def mock_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Runs a test in a time that jumps over every wait."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        trio.run(partial(test, *args, **kwargs), clock=MockClock(autojump_threshold=0))

    return run


class Exit(Exception):
    """The program ends; the text says how, as the referee tells it."""


class Bot:
    """What a script speaks through."""

    def __init__(self, pipes: MemoryBot, stderr: "Stderr") -> None:
        self.pipes = pipes
        self.stderr = stderr
        self.heard: list[Line] = []
        """Every line of the referee, decoded."""

    async def read(self) -> Line:
        """The next line. At the end of the input the program ends, as a good one does."""
        line: bytes | None = b""
        while line == b"":
            line = await self.pipes.read_line()
        if line is None:
            raise Exit("exit status 0")
        self.heard.append(json.loads(line))
        return self.heard[-1]

    async def say(self, line: object) -> None:
        """One message, or bytes as they are."""
        await self.pipes.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")

    async def until(self, kind: str) -> Line:
        """Reads up to a line of this type."""
        while (line := await self.read())["type"] != kind:
            pass
        return line

    async def act(self, ask: Line, action: str | None = None) -> None:
        """Answers; if it is not said how, with the first legal action and the call that is due."""
        await self.say({"type": "act", "id": ask["id"], "action": action or choice(ask)})

    async def sleep(self, seconds: float) -> None:
        """As the program would think."""
        await trio.sleep(seconds)

    def fill_input(self) -> None:
        """Its input becomes a pipe that is full, as that of a bot that has not read for long."""
        self.pipes._input.put(b"\n" * CAPACITY)

    def close_output(self) -> None:
        """It will say nothing more, and goes on living."""
        self.pipes._output.close()

    def told(self, kind: str) -> list[Line]:
        """The lines of this type."""
        return [line for line in self.heard if line["type"] == kind]

    @property
    def events(self) -> list[Line]:
        """All events it was told, in order."""
        return [event for line in self.heard for event in line.get("events", [])]


def choice(ask: Line) -> str:
    """The first legal action, with the call if it is due."""
    action: str = ask["legal"][0]
    return f"{action} uno" if action.startswith("play") and len(ask["state"]["hand"]) == 2 else action


Script = Callable[[Bot], Awaitable[None]]
Turn = Callable[[Bot, Line], Awaitable[None]]
"""What a script does in place of a plain answer."""


def honest(
    at: Mapping[int, Turn] | None = None,
    *,
    features: Sequence[str] = (),
    each: Turn | None = None,
    on: Mapping[str, Turn] | None = None,
) -> Script:
    """A good bot that plays its first legal action, but does `at[id]` at the ask of that id, `each` at all others,
    and `on[type]` at lines of other types.
    """
    at, on = at or {}, on or {}

    async def usual(bot: Bot, line: Line) -> None:
        if line["type"] == "start" and "ready" in features:
            await bot.say({"type": "ready"})
        if line["type"] == "ping":
            await bot.say({"type": "pong"})

    async def script(bot: Bot) -> None:
        while True:
            line = await bot.read()
            match line["type"]:
                case "hello":
                    await bot.say({"type": "hello", "protocol": 1, "features": list(features)})
                case "ask":
                    turn = at.get(line["id"], each)
                    await (bot.act(line) if turn is None else turn(bot, line))
                case other:
                    await on.get(other, usual)(bot, line)

    return script


def says(*lines: object) -> Turn:
    """Writes these in place of an answer; `{id}` in bytes is the id of the ask, ANSWER the right answer."""

    async def turn(bot: Bot, ask: Line) -> None:
        for line in lines:
            if line is ANSWER:
                await bot.act(ask)
            elif isinstance(line, bytes):
                await bot.say(line.replace(b"{id}", str(ask.get("id", 0)).encode()))
            else:
                await bot.say(line)

    return turn


ANSWER = object()


def waits(seconds: float, then: Turn | None = None) -> Turn:
    """Thinks for so long, then answers."""

    async def turn(bot: Bot, ask: Line) -> None:
        await bot.sleep(seconds)
        await (bot.act(ask) if then is None else then(bot, ask))

    return turn


def exits(how: str = "exit status 1") -> Turn:
    """Ends the program."""

    async def turn(bot: Bot, ask: Line) -> None:
        raise Exit(how)

    return turn


async def silent(bot: Bot, ask: Line) -> None:
    """Says nothing, and reads on."""


class Stderr:
    """What a script writes to standard error."""

    def __init__(self) -> None:
        self.kept = b""

    def catch_up(self) -> None:
        """All of it is kept at once."""

    def new_match(self) -> None:
        """What the script said before belongs to another match."""
        self.kept = b""


class ScriptedConnection:
    """A script that runs: `player.Connection`."""

    channel: MemoryChannel

    def __init__(self, nursery: trio.Nursery, script: Script) -> None:
        self.channel, pipes = memory_channel()
        self.stderr = Stderr()
        self.bot = Bot(pipes, self.stderr)
        self.closed = False
        self.description = "none"
        self.never_began = False
        self.frozen = False
        self.freezes: list[bool] = []
        """Every freeze (True) and thaw of it."""
        self._status: str | None = None
        self._gone = trio.Event()
        self._scope = trio.CancelScope()
        nursery.start_soon(self._run, script)

    async def _run(self, script: Script) -> None:
        try:
            with self._scope:
                await script(self.bot)
                self._status = "exit status 0"
        except Exit as how:
            self._status = str(how)
        finally:
            self._status = self._status or "killed by SIGKILL"
            self.bot.pipes.close()
            self._gone.set()

    def freeze(self) -> None:
        """A script that waits for nothing but lines stands still by itself: a note is enough."""
        self._note(frozen=True)

    def thaw(self) -> None:
        """It may go on."""
        self._note(frozen=False)

    def _note(self, *, frozen: bool) -> None:
        assert self.frozen is not frozen, "frozen or thawed twice"
        self.frozen = frozen
        self.freezes.append(frozen)

    async def exit_status(self, patience: float = 0.2) -> str | None:
        """How the script ended."""
        with trio.move_on_after(patience):
            await self._gone.wait()
        return self._status if self._gone.is_set() else None

    async def close(self, grace: float = 2.0) -> None:
        """Ends it as a process is ended."""
        self.closed = True
        self.channel.close_write()
        await self.exit_status(grace)
        self._scope.cancel()
        with trio.CancelScope(shield=True):
            await self._gone.wait()
        self.channel.close()


@dataclass
class Game:
    """A match that was played: how it ended, its log, and what each bot heard, over all its processes."""

    outcome: Outcome
    path: Path
    bots: list[list[Bot]]
    lines: list[Line] = field(default_factory=list)

    def logged(self, kind: str) -> list[Line]:
        """The lines of the log of this type."""
        return [line for line in self.lines if line["type"] == kind]

    def fault_kinds(self) -> list[tuple[int, str]]:
        """Seat and kind of every fault, in order."""
        return [(fault.seat, str(fault.kind)) for fault in self.outcome.faults]

    def decisions(self, seat: int, how: str = "fallback") -> list[Line]:
        """A seat's decisions that were taken so."""
        return [line for line in self.logged("decision") if line["seat"] == seat and line["how"] == how]

    @property
    def fault(self) -> Fault:
        """The only fault of the match."""
        (fault,) = self.outcome.faults
        return fault


class Hall:
    """Players that sit together for some matches."""

    def __init__(
        self, nursery: trio.Nursery, scripts: Sequence[Script | Sequence[Script | StartError]], limits: Sequence[Limits]
    ) -> None:
        self.connections: list[list[ScriptedConnection]] = [[] for _ in scripts]
        self.players = [
            Player(f"bot{seat}", ("bot", str(seat)), limits[seat], self._launcher(nursery, seat, script))
            for seat, script in enumerate(scripts)
        ]

    def _launcher(
        self, nursery: trio.Nursery, seat: int, scripts: Script | Sequence[Script | StartError]
    ) -> Callable[[], ScriptedConnection]:
        waiting = list(scripts) if isinstance(scripts, Sequence) else None

        def launch() -> ScriptedConnection:
            script = scripts if waiting is None else waiting.pop(0)
            if isinstance(script, StartError):
                raise script
            assert not isinstance(script, Sequence)
            connection = ScriptedConnection(nursery, script)
            self.connections[seat].append(connection)
            return connection

        return launch

    def bot(self, seat: int, process: int = -1) -> Bot:
        """The last bot that was started for a seat."""
        return self.connections[seat][process].bot

    async def play(
        self,
        path: Path,
        *,
        rules: Rules = ONE_ROUND,
        seed: str = "s",
        match_id: str = "m",
        opening: Opening | None = None,
    ) -> Game:
        """One match; its log is proved."""
        log = MatchLog(path)
        try:
            table = Table(self.players, rules, seed, log, match_id=match_id, opening=opening)
            outcome = await table.play()
        finally:
            log.close()
        bots = [[connection.bot for connection in started] for started in self.connections]
        game = Game(outcome, path, bots)
        read = read_log(path)
        game.lines = read.lines
        verdict = verify(read)
        assert verdict.difference is None, verdict
        assert not verdict.incomplete
        assert verdict.digest == outcome.digest
        return game


@asynccontextmanager
async def seated(
    *scripts: Script | Sequence[Script | StartError], limits: Limits | Sequence[Limits] = LIMITS
) -> AsyncIterator[Hall]:
    """Players with these scripts; in place of one script, those of the processes that are started in turn."""
    each = [limits] * len(scripts) if isinstance(limits, Limits) else limits
    async with trio.open_nursery() as nursery:
        hall = Hall(nursery, scripts, each)
        try:
            yield hall
        finally:
            with trio.CancelScope(shield=True):
                for player in hall.players:
                    await player.part("the test is over")
        nursery.cancel_scope.cancel()


async def play(
    path: Path,
    *scripts: Script | Sequence[Script | StartError],
    limits: Limits | Sequence[Limits] = LIMITS,
    rules: Rules = ONE_ROUND,
    seed: str = "s",
) -> Game:
    """One match between these scripts."""
    async with seated(*scripts, limits=limits) as hall:
        return await hall.play(path, rules=rules, seed=seed)
