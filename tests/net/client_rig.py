"""A client between a bot and a referee that are both in the test's hands: memory for sockets and for pipes.

Time is the mock clock's, and nothing runs but the client itself.
"""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from trio.testing import MemoryReceiveStream, MemorySendStream, memory_stream_pair

from lastcard.protocol import RefereeHello
from lastcard.referee.net.client import Client
from lastcard.referee.net.client_call import CallFailed
from lastcard.referee.net.client_calls import PATIENCE, Calls
from lastcard.referee.net.client_link import Link
from lastcard.referee.net.client_session import Ending
from tests.net.plain_referee import TOKEN

REFEREE_HELLO = b'{"type":"hello","protocol":1,"referee":"rig","start_ms":20000,"max_line":65536}'
BOT_HELLO = b'{"type":"hello","protocol":1,"name":"mine","color":"blue"}\n'
WITH_TOKEN = b'{"type":"hello","protocol":1,"name":"mine","token":"%s"}\n' % TOKEN.encode()

DAY = 86_400
"""Nothing here takes so long, and the mock clock gets there at once."""


class Far:
    """The other end of a stream: lines and bytes as the test wants them."""

    def __init__(self, stream: "trio.StapledStream[MemorySendStream, MemoryReceiveStream]") -> None:
        self._stream = stream
        self._held = b""

    async def say(self, data: bytes) -> None:
        await self._stream.send_all(data)

    async def line(self) -> bytes:
        """The next line that came, with its LF; what is there without one at the end."""
        while b"\n" not in self._held:
            data = await self._stream.receive_some()
            if not data:
                break
            self._held += data
        line, feed, self._held = self._held.partition(b"\n")
        return line + feed

    async def some(self) -> bytes:
        """Whatever came since, in one piece; b"" at the end."""
        data, self._held = self._held, b""
        return data or bytes(await self._stream.receive_some())

    async def nothing(self, seconds: float = 1.0) -> bool:
        """Whether nothing comes for so long."""
        with trio.move_on_after(seconds):
            self._held += await self._stream.receive_some()
        return not self._held

    def stop_reading(self) -> None:
        """Whatever is said to this end from now on fails; what it says itself arrives."""
        self._stream.receive_stream.close()

    async def hang_up(self) -> None:
        await self._stream.aclose()


class FakeBot:
    """See `client_bot.Bot`. `far` is the bot's own view of its pipes."""

    def __init__(self) -> None:
        self._near, far = memory_stream_pair()
        self.far = Far(far)
        self.closed_at: float | None = None
        self.killed = False
        self._status: str | None = None
        self._gone = trio.Event()

    async def receive(self) -> bytes:
        return bytes(await self._near.receive_some())

    async def send(self, data: bytes) -> None:
        await self._near.send_all(data)

    def close_input(self) -> None:
        self._near.send_stream.close()

    async def gone(self) -> None:
        await self._gone.wait()

    def exit_status(self) -> str | None:
        return self._status

    async def close(self, grace: float) -> None:
        self.close_input()
        try:
            with trio.move_on_after(grace):
                await self._gone.wait()
        finally:
            self.killed = not self._gone.is_set()
            self.closed_at = trio.current_time()

    async def leave_after_bye(self) -> list[bytes]:
        """Read to the end of the input, and leave as a bot should; what it read."""
        lines: list[bytes] = []
        while line := await self.far.line():
            lines.append(line)
        assert b'"bye"' in lines[-1]
        await self.leave()
        return lines

    async def leave(self, status: str = "exit status 0") -> None:
        """The bot's process ends."""
        self._status = status
        self._gone.set()
        await self.far.hang_up()


class Rig:
    """Runs the client; `calls` are the times at which it called, `said` is what it told its user."""

    def __init__(self, *, patience: float = PATIENCE) -> None:
        self.calls: list[float] = []
        self.said: list[str] = []
        self.bots: list[FakeBot] = []
        self.failures: deque[CallFailed] = deque()
        self.ending: Ending | None = None
        self._answered, self._answers = trio.open_memory_channel[Far](100)
        self._started, self._starts = trio.open_memory_channel[FakeBot](100)
        self.client = Client(self._start, Calls("rig:1", self._call, self.said.append, patience=patience), TOKEN,
                             self.said.append)  # fmt: skip

    def _start(self) -> FakeBot:
        self.bots.append(FakeBot())
        self._started.send_nowait(self.bots[-1])
        return self.bots[-1]

    async def _call(self) -> Link:
        self.calls.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        if self.failures:
            raise self.failures.popleft()
        near, far = memory_stream_pair()
        link = Link(near, near)
        link.greeted(REFEREE_HELLO, RefereeHello(1, "rig", 20_000, 65536))
        self._answered.send_nowait(Far(far))
        return link

    async def referee(self) -> Far:
        """The referee's end of the next connection."""
        return await self._answers.receive()

    async def bot(self) -> FakeBot:
        """The next bot that is started."""
        return await self._starts.receive()

    async def logged_in(self) -> tuple[Far, FakeBot]:
        """Both ends after the first hellos."""
        referee, bot = await self.referee(), await self.bot()
        assert await bot.far.line() == REFEREE_HELLO + b"\n"
        await bot.far.say(BOT_HELLO)
        assert await referee.line() == WITH_TOKEN
        return referee, bot

    async def run(self) -> Ending:
        """The client to its end."""
        self.ending = await self.client.run()
        return self.ending


@asynccontextmanager
async def running(rig: Rig) -> AsyncIterator[Rig]:
    """The client at work; the block has to bring it to its end, on whatever clock."""
    with trio.fail_after(DAY):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rig.run)
            yield rig
