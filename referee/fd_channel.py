"""A channel over the two pipes of a child; it knows no process, no line and no message.

Read first, wait after: in most round trips with a quick bot the answer is there at once, and trio is not
entered at all. A wait that is entered has no cancel scope of its own, the watchdog ends it. Only our own
ends are made non-blocking; the bot's ends are other open files, and stay as a bot expects them.
"""

import os
import select
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import trio

from lastcard.referee.channel import MAX_READ, Sent
from lastcard.referee.watchdog import Wait, this_watchdog

QUICK_ANSWER = 0.004
"""For so many seconds the whole loop may stand still for one bot, if no other channel has anything to do.

Most bots answer within it, and a blocking poll costs half of a wait through trio's scheduler (measured: 5.1
against 10.3 us of CPU). A shorter time is dearer: it is earlier than the kernel's own next tick, so its
timer must be set.
"""


class FdChannel:
    """See `channel.Channel`. Owns both descriptors, and closes them."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._open = True
        self._write_open = True
        self._hung_up = False
        self._unsent = b""
        self._reading = Wait(read_fd)
        self._writing = Wait(write_fd)
        self._poll = select.poll()
        self._poll.register(read_fd, select.POLLIN)
        self._watchdog = this_watchdog()
        self._watchdog.live += 1
        self.sent_at = self.read_at = self._seen_empty_at = self.clock()
        self.lag = 0.0
        self._stopped = 0.0
        """For how long the referee itself has been stopped since it began to send: its deadlines move by so much."""

    def clock(self) -> float:
        """Seconds of the monotonic clock that the watchdog goes by."""
        return time.perf_counter()

    # ---- sending

    def write_now(self, data: bytes) -> bool:
        """Write without waiting; what is not taken is queued, so that the bot's input is never cut in two."""
        if self._unsent:
            data = self._unsent + data
        taken = 0
        try:
            if self._write_open:
                taken = os.write(self._write_fd, data)
        except BlockingIOError:
            pass
        except OSError:  # EPIPE, or whatever a network says: nobody is left to read
            self.close_write()
        self.sent_at = self._seen_empty_at = time.perf_counter()
        if taken == len(data):
            self._unsent = b""
            return self._write_open
        self._unsent = data[taken:] if self._write_open else b""
        return False

    async def send(self, data: bytes, deadline: float) -> Sent:
        """Write all of it by the deadline. Other tasks get their turn before it, while no clock runs."""
        watchdog = self._watchdog
        self.lag = self._stopped = 0.0
        now = time.perf_counter()
        if watchdog.overspent(now):
            await watchdog.step_back()
            self.lag = time.perf_counter() - now
            deadline += self.lag
        late = False
        while not self.write_now(data):
            if late or not self._write_open:
                return Sent.STALLED if self._write_open else Sent.CLOSED
            begun = time.perf_counter()
            await self._wait(self._writing, deadline, trio.lowlevel.wait_writable)
            now = time.perf_counter()
            self.lag += now - max(begun, watchdog.loop.idle_until)
            late = now >= deadline
            data = b""
        return Sent.TAKEN

    def close_write(self) -> None:
        """End the bot's input; what is queued is dropped."""
        if self._write_open:
            self._write_open = False
            self._unsent = b""
            trio.lowlevel.notify_closing(self._write_fd)
            self._end_output()

    def _end_output(self) -> None:
        os.close(self._write_fd)

    # ---- receiving

    def read_now(self) -> bytes | None:
        """One look. After a hang-up, what is still in the pipe comes first and then the end."""
        # Asking costs a third of a read that finds nothing, which is what this look mostly finds.
        if self._open and not self._hung_up and not self._poll.poll(0):
            self.read_at = self._seen_empty_at = time.perf_counter()
            return None
        return self._look()

    def _look(self) -> bytes | None:
        data: bytes | None = b""
        try:
            if self._open:
                data = self._take()
        except BlockingIOError:
            data = b"" if self._hung_up else None
        except OSError:  # a network's way to say that it is over
            pass
        self.read_at = time.perf_counter()
        self.lag = self.read_at - self._seen_empty_at
        self._seen_empty_at = self.read_at
        return data

    def _take(self) -> bytes:
        """One read. Raises BlockingIOError if nothing is there."""
        return os.read(self._read_fd, MAX_READ)

    async def wait_readable(self, deadline: float) -> bool:
        """Wait until a look is worth while. False if the deadline came first."""
        if self._open and not self._hung_up:
            loop = self._watchdog.loop
            before = loop.stopped
            await self._wait(self._reading, deadline + self._stopped, trio.lowlevel.wait_readable)
            self._stopped += loop.stopped - before
            self._seen_empty_at = max(self._seen_empty_at, loop.idle_until)
        return self.clock() < deadline + self._stopped

    async def receive(self, deadline: float) -> bytes | None:
        """The next bytes. A None comes from a look that was made after the deadline."""
        if self._watchdog.quiet:
            self._stand_still(deadline)
        data = self._look()
        in_time = True
        while data is None and in_time:
            in_time = await self.wait_readable(deadline)
            data = self._look()
        if data is None:
            self.lag = max(0.0, self.read_at - deadline)
        else:
            self.lag += self._stopped
        return data

    def _stand_still(self, deadline: float) -> None:
        begun = time.perf_counter()
        if begun + QUICK_ANSWER < deadline:
            self._poll.poll(QUICK_ANSWER * 1000)
            ended = time.perf_counter()
            if ended - begun > begun - self._seen_empty_at:  # as in `LoopClock`: it slept, so this is fresh,
                self._seen_empty_at = min(ended, begun + QUICK_ANSWER)  # but for what it waited for a core

    def hang_up(self) -> None:
        """The bot's process is gone: whatever its children hold open, nothing more is waited for."""
        if self._open:
            self._hung_up = True
            trio.lowlevel.notify_closing(self._read_fd)
            self.close_write()

    # ---- both

    async def _wait(self, wait: Wait, deadline: float, fn: Callable[[int], Awaitable[None]]) -> None:
        """Until the descriptor is ready, the deadline has passed, or this channel is closed meanwhile."""
        if self.clock() >= deadline:
            return
        wait.deadline = deadline
        self._watchdog.add(wait)
        try:
            with suppress(trio.ClosedResourceError):
                await fn(wait.fd)
        finally:
            self._watchdog.remove(wait)

    def close(self) -> None:
        """End both directions and wake whoever waits; a second call does nothing."""
        if self._open:
            self._open = False
            self._watchdog.live -= 1
            self.close_write()
            trio.lowlevel.notify_closing(self._read_fd)
            self._let_go()

    def _let_go(self) -> None:
        os.close(self._read_fd)
