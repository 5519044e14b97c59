"""A channel to a bot that is a task of the same trio run, for tests on a mock clock; it knows no system.

It behaves as `fd_channel` does on pipes of 64 KiB (a bot that does not read makes a send stall, one that
floods blocks itself), but its clock is trio's own, so that an autojump clock plays hours of time-outs in an
instant.
"""

from collections.abc import AsyncIterator
from math import inf

import trio

from lastcard.referee.channel import MAX_READ, Sent

CAPACITY = 65536


class Pipe:
    """Bytes on their way in one direction, as many as a pipe of the system holds."""

    def __init__(self) -> None:
        self.held = bytearray()
        self.closed = False
        self._changed = trio.Event()

    def put(self, data: bytes) -> int:
        """Take what there is room for, and say how much that was."""
        taken = data[: CAPACITY - len(self.held)]
        self.held += taken
        self.change()
        return len(taken)

    def take(self, most: int) -> bytes:
        """Give out at most so many bytes."""
        data = bytes(self.held[:most])
        del self.held[:most]
        self.change()
        return data

    def close(self) -> None:
        """No more goes in; what is held may still be read."""
        self.closed = True
        self.change()

    def change(self) -> None:
        """Wake all who wait for room, bytes or the end."""
        self._changed.set()
        self._changed = trio.Event()

    async def changed(self, deadline: float) -> None:
        """Wait for the next change, until the deadline at the latest."""
        with trio.move_on_at(deadline):
            await self._changed.wait()


class MemoryChannel:
    """The referee's end; see `channel.Channel`."""

    def __init__(self, to_bot: Pipe, from_bot: Pipe) -> None:
        self._to_bot = to_bot
        self._from_bot = from_bot
        self._unsent = b""
        self._open = True
        self.sent_at = self.read_at = self.clock()
        self.lag = 0.0

    def clock(self) -> float:
        """Trio's own time: in a test, the mock clock's."""
        return trio.current_time()

    def write_now(self, data: bytes) -> bool:
        """Write without waiting; what does not fit is queued."""
        data = self._unsent + data
        self.sent_at = self.clock()
        if self._to_bot.closed:
            self._unsent = b""
            return False
        self._unsent = data[self._to_bot.put(data) :]
        return not self._unsent

    async def send(self, data: bytes, deadline: float) -> Sent:
        """Write all of it by the deadline."""
        self.lag = 0.0
        late = False
        while not self.write_now(data):
            if self._to_bot.closed:
                return Sent.CLOSED
            if late:
                return Sent.STALLED
            await self._to_bot.changed(deadline)
            late = self.clock() >= deadline
            data = b""
        return Sent.TAKEN

    def read_now(self) -> bytes | None:
        """One look."""
        self.read_at = self.clock()
        if self._open and self._from_bot.held:
            return self._from_bot.take(MAX_READ)
        return b"" if self._from_bot.closed else None

    async def wait_readable(self, deadline: float) -> bool:
        """Wait until there is something to read. False if the deadline came first."""
        while not self._from_bot.held and not self._from_bot.closed and self.clock() < deadline:
            await self._from_bot.changed(deadline)
        return self.clock() < deadline

    async def receive(self, deadline: float) -> bytes | None:
        """The next bytes; None if there are none by the deadline."""
        data = self.read_now()
        if data is None:
            await self.wait_readable(deadline)
            data = self.read_now()
        self.lag = 0.0
        return data

    def close_write(self) -> None:
        """End the bot's input."""
        self._unsent = b""
        self._to_bot.close()

    def close(self) -> None:
        """End both directions."""
        self._open = False
        self.close_write()
        self._from_bot.close()


class MemoryBot:
    """The scripted bot's end: it reads lines and writes whatever bytes its test wants written."""

    def __init__(self, from_referee: Pipe, to_referee: Pipe) -> None:
        self._input = from_referee
        self._output = to_referee
        self._buffer = b""

    async def read_line(self) -> bytes | None:
        """The next line without its LF; None at the end of the input."""
        while b"\n" not in self._buffer:
            if self._input.held:
                self._buffer += self._input.take(MAX_READ)
            elif self._input.closed:
                return None
            else:
                await self._input.changed(inf)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    async def lines(self) -> AsyncIterator[bytes]:
        """All lines until the input ends."""
        while (line := await self.read_line()) is not None:
            yield line

    async def write(self, data: bytes) -> None:
        """Write all of it, waiting for room as a blocking write does. Into a closed pipe it goes unheard."""
        while not self._output.closed:
            data = data[self._output.put(data) :]
            if not data:
                return
            await self._output.changed(inf)

    def close_input(self) -> None:
        """Read no more: what the referee sends next finds a closed pipe."""
        self._input.close()

    def close(self) -> None:
        """The bot's process is gone: both directions end."""
        self._input.close()
        self._output.close()


def memory_channel() -> tuple[MemoryChannel, MemoryBot]:
    """The two ends of a connection inside this process."""
    to_bot, from_bot = Pipe(), Pipe()
    return MemoryChannel(to_bot, from_bot), MemoryBot(to_bot, from_bot)
