"""Scripted processes of the simulation, and an exact record of all that passes between one and the referee.

The record is kept where bytes change hands, in the order in which they do: a line of a bot counts when the pipe has
taken its LF, an ask when the pipe has taken its last byte. It judges nothing; `judge` does.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from math import inf
from typing import Any

import msgspec
import trio

from lastcard.referee.channel import Sent
from lastcard.referee.memory_channel import CAPACITY, MemoryBot, MemoryChannel, Pipe

Line = dict[str, Any]
decode = msgspec.json.Decoder(Line).decode

MAX_LINE, HUGE_LINE = 65_536, 1_048_576
"""Restated from the specification, not imported."""


class Exit(Exception):
    """The program ends; the text says how, as the referee tells it."""


class Happening(msgspec.Struct, frozen=True):
    """One thing that happened between a player and the referee."""

    time: float
    what: str
    """begin, over: of a match. launch, no launch, let go: of a process, by the referee. told: a line of the referee.
    looked: it read what lay there. taken, stalled, refused: how a line ended that it waited for. said: a line of the
    bot. input closed, output closed, input full, ended: what the bot did.
    """
    text: str = ""
    """The type of the line that was told, what the line means that was said, or how it ended."""
    id: int = 0
    line: Line = {}

    def __str__(self) -> str:
        shown = {
            name: value for name, value in self.line.items() if name in ("id", "action", "kind", "bank_ms", "detail")
        }
        return f"{self.time:12.6f}  {self.what} {self.text} {shown or ''}".rstrip()


class Trace:
    """All that happened to one player, over its processes and matches."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.happenings: list[Happening] = []
        self.deeds: list[str] = []
        """What its bots did that a good bot would not do."""

    def add(self, what: str, text: str = "", number: int = 0, line: Line | None = None) -> None:
        """It happens now."""
        self.happenings.append(Happening(trio.current_time(), what, text, number, line or {}))


class SpeakingPipe(Pipe):
    """The bot's output: notes each line when its last byte is taken."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace
        self._taken = self.promised = 0
        self._coming: deque[tuple[int, str, int, Line]] = deque()

    def promise(self, size: int, meaning: str, number: int = 0, line: Line | None = None) -> None:
        """After so many more bytes than were promised until now, this will have been said."""
        self._coming.append((self.promised + size, meaning, number, line or {}))

    def put(self, data: bytes) -> int:
        """Take what there is room for."""
        taken = super().put(data)
        self._taken += taken
        while self._coming and self._coming[0][0] <= self._taken:
            _, meaning, number, line = self._coming.popleft()
            self._trace.add("said", meaning, number, line)
        return taken


class HearingChannel(MemoryChannel):
    """The referee's end: notes what the referee says and how it ended."""

    def __init__(self, to_bot: Pipe, from_bot: Pipe, trace: Trace) -> None:
        super().__init__(to_bot, from_bot)
        self._trace = trace
        self._receiving = False

    def write_now(self, data: bytes) -> bool:
        """Write without waiting."""
        if data:
            line = decode(data)
            self._trace.add("told", line["type"], line.get("id", 0), line)
        return super().write_now(data)

    def read_now(self) -> bytes | None:
        """One look; those that belong to a wait are of no interest."""
        if not self._receiving:
            self._trace.add("looked")
        return super().read_now()

    async def receive(self, deadline: float) -> bytes | None:
        """The next bytes."""
        self._receiving = True
        try:
            return await super().receive(deadline)
        finally:
            self._receiving = False

    async def send(self, data: bytes, deadline: float) -> Sent:
        """Write all of it by the deadline."""
        sent = await super().send(data, deadline)
        line = decode(data)
        how = {Sent.TAKEN: "taken", Sent.STALLED: "stalled", Sent.CLOSED: "refused"}[sent]
        self._trace.add(how, line["type"], line.get("id", 0), line)
        return sent


class Stderr:
    """What a script writes to standard error."""

    def __init__(self) -> None:
        self.kept = b""

    def catch_up(self) -> None:
        """All of it is kept at once."""

    def new_match(self) -> None:
        """What was said before belongs to another match."""
        self.kept = b""


Script = Callable[["Process"], Awaitable[None]]


class Process:
    """A script that runs: `player.Connection` for the referee, and what the script speaks through."""

    channel: HearingChannel

    def __init__(self, nursery: trio.Nursery, script: Script, trace: Trace, *, life: float = inf) -> None:
        self.trace = trace
        self._input, self._output = Pipe(), SpeakingPipe(trace)
        self.channel = HearingChannel(self._input, self._output, trace)
        self._pipes = MemoryBot(self._input, self._output)
        self.stderr = Stderr()
        self.description = "none"
        self.never_began = False
        self.closed = False
        self._thawed: trio.Event | None = None
        self._status: str | None = None
        self._gone = trio.Event()
        self._scope = trio.CancelScope(deadline=trio.current_time() + life)
        trace.add("launch")
        nursery.start_soon(self._run, script)

    async def _run(self, script: Script) -> None:
        status = "killed by SIGKILL"
        try:
            with self._scope:
                await script(self)
                status = "exit status 0"
        except Exit as how:
            status = str(how)
        finally:
            self._status = status
            self.trace.add("ended", status)
            self._pipes.close()
            self._gone.set()

    # ---- the referee's side

    def freeze(self) -> None:
        """Its script stands still from its next step on."""
        assert self._thawed is None, "frozen twice"
        self._thawed = trio.Event()

    def thaw(self) -> None:
        """It goes on."""
        assert self._thawed is not None, "thawed, but not frozen"
        self._thawed.set()
        self._thawed = None

    async def exit_status(self, patience: float = 0.2) -> str | None:
        """How the script ended."""
        with trio.move_on_after(patience):
            await self._gone.wait()
        return self._status

    async def close(self, grace: float = 2.0) -> None:
        """Ends it as a process is ended."""
        self.trace.add("let go")
        self.channel.close_write()
        try:
            await self.exit_status(grace)
        finally:
            self._scope.cancel()
            with trio.CancelScope(shield=True):
                await self._gone.wait()
            self.channel.close()
            self.closed = True

    # ---- the bot's side

    async def awake(self) -> None:
        """Waits while it is frozen."""
        while self._thawed is not None:
            await self._thawed.wait()

    async def sleep(self, seconds: float) -> None:
        """As the program would think. No time at all is no moment in which something else could happen."""
        if seconds:
            await trio.sleep(seconds)
            await self.awake()

    async def read(self) -> Line:
        """The next line. At the end of the input the program ends, as a good one does."""
        line: bytes | None = b""
        while line is not None and not line.strip():
            line = await self._pipes.read_line()
            await self.awake()
        if line is None:
            raise Exit("exit status 0")
        return decode(line)

    async def say(
        self, text: bytes, meaning: str, number: int = 0, line: Line | None = None, *, pause: float = 0
    ) -> None:
        """A whole line with its LF, which means this to the referee; with a pause it is written in two parts."""
        if len(text) <= MAX_LINE + 1:
            self._output.promise(len(text), meaning, number, line)
        else:
            self._output.promise(MAX_LINE + 1, "oversize")
        if len(text) > HUGE_LINE + 1:
            self._output.promise(HUGE_LINE + 1, "huge")
        self._output.promised += len(text)
        half = len(text) // 2 if pause else 0
        if pause:
            await self._pipes.write(text[:half])
            await self.sleep(pause)
        await self._pipes.write(text[half:])

    async def mumble(self, text: bytes) -> None:
        """The beginning of a line that will never end."""
        self._output.promised += len(text)
        await self._pipes.write(text)

    def close_output(self) -> None:
        """It will say nothing more, and goes on living."""
        self.trace.add("output closed")
        self._output.close()

    def close_input(self) -> None:
        """It reads no more."""
        self.trace.add("input closed")
        self._pipes.close_input()

    def fill_input(self) -> None:
        """Its input becomes a pipe that is full, as that of a bot that has not read for long."""
        self.trace.add("input full")
        self._input.put(b" " * (CAPACITY - 1) + b"\n")
