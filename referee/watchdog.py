"""Wakes whoever waited for a bot past a deadline, and knows how late the loop is; it knows nothing of bots.

A cancel scope for every wait costs more than all else in a round trip (measured: 42-51 us against 21-30 us).
So the waits of all channels share one task, the watchdog. It sleeps until the earliest deadline that
it has been told of, and then wakes the late ones as if their descriptor were about to be closed.
Deadlines mostly move forward, so it wakes seldom; with nobody waiting it sleeps for ever.

While somebody waits it wakes five times a second, to notice that we ourselves were stopped meanwhile (SIGSTOP, a frozen
container): that time is no bot's.
"""

import os
import time
from contextlib import suppress
from math import inf

import trio

PASS_BUDGET = 0.002
"""Seconds of work without yielding in one pass over all live channels, shared among them.

Per channel instead of shared, a silent bot's time-out came 66 ms late beside 64 busy ones (measured).
"""

LONGEST_NAP_ERROR = 0.001
"""Deadlines closer together than this are served in one go."""


LONG_SLEEP = 0.002
"""After a sleep so long it is worth finding out for how much of it we could have run, had there been a core."""


BEAT = 0.2
"""Seconds that the loop sleeps at the most while a bot's clock runs."""

OVERSLEPT = 0.1
"""Who wakes so much later than planned, and did not wait for a core, was stopped."""


class CoreWait:
    """How long this thread has been ready to run and had no core, by the kernel's count; 0 where it keeps none."""

    def __init__(self) -> None:
        self._fd: int | None = None
        with suppress(OSError):
            self._fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def seconds(self) -> float:
        """In all, until now."""
        if self._fd is None:
            return 0.0
        with suppress(OSError, IndexError, ValueError):
            return int(os.pread(self._fd, 96, 0).split()[1]) / 1e9
        return 0.0

    def close(self) -> None:
        """Counts no more."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class LoopClock(trio.abc.Instrument):
    """When trio last looked for events, and when it got them: the bounds of the referee's own lateness."""

    def __init__(self) -> None:
        self.core_wait = CoreWait()
        self.asked_at = 0.0
        self.returned_at = 0.0
        self.idle_until = 0.0
        """An event that this pass delivers cannot have been ready before this moment."""
        self.stopped = 0.0
        """Seconds in all for which the referee itself was stopped, and at most a `BEAT` before each time."""
        self._waited = 0.0

    def before_io_wait(self, timeout: float) -> None:
        """The loop has run every task and is about to look for events."""
        if timeout > LONG_SLEEP:
            self._waited = self.core_wait.seconds()
        self.asked_at = time.perf_counter()

    def after_io_wait(self, timeout: float) -> None:
        """The loop has its events. Were they fresh, or had they come while tasks ran?

        A loop that looked for longer than it had worked before was asleep. In doubt they were not fresh: the
        doubt is the bot's, and is no longer than twice the work. Who is woken does not run yet: where cores are
        short, it first waits for one, and that too is our lateness.
        """
        now = time.perf_counter()
        slept = now - self.asked_at > self.asked_at - self.returned_at
        woken = now
        if slept and timeout > LONG_SLEEP and now - self.asked_at > LONG_SLEEP:
            woken = max(self.asked_at, now - (self.core_wait.seconds() - self._waited))
        if woken - self.asked_at > timeout + OVERSLEPT:
            self.stopped += woken - self.asked_at
        self.idle_until = woken if slept else self.returned_at
        self.returned_at = now


class Wait:
    """One direction of one channel: the descriptor, and until when somebody waits for it."""

    __slots__ = ("deadline", "fd")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.deadline = inf


class Watchdog:
    """One for each trio run: `this_watchdog()`."""

    def __init__(self) -> None:
        self.loop = LoopClock()
        self.live = 0
        """Open channels: each may work `PASS_BUDGET / live` before it has to yield."""
        self.yielding = 0
        """Channels that stepped back in favour of others and have not run again yet."""
        self.yielded_at = 0.0
        """When the task that runs now began to run, as far as channels know."""
        self._waits: set[Wait] = set()
        self._nap: trio.CancelScope | None = None
        self._wakes_at = inf

    @property
    def quiet(self) -> bool:
        """No channel waits or has stepped back: the one that asks has the loop to itself."""
        return not self._waits and not self.yielding

    def add(self, wait: Wait) -> None:
        """Promise to wake this wait at its deadline, should nothing happen before."""
        self._waits.add(wait)
        if wait.deadline < self._wakes_at and self._nap is not None:
            self._wake_at(self._nap, min(wait.deadline, time.perf_counter() + BEAT))

    def remove(self, wait: Wait) -> None:
        """The wait is over, and its task runs."""
        self._waits.discard(wait)
        self.yielded_at = time.perf_counter()

    def overspent(self, now: float) -> bool:
        """The running task has had its share of this pass."""
        return (now - self.yielded_at) * self.live > PASS_BUDGET

    async def step_back(self) -> None:
        """Let every other task run once."""
        self.yielding += 1
        try:
            await trio.lowlevel.checkpoint()
        finally:
            self.yielding -= 1
            self.yielded_at = time.perf_counter()

    def _wake_at(self, nap: trio.CancelScope, moment: float) -> None:
        self._wakes_at = moment
        nap.deadline = trio.current_time() + (moment - time.perf_counter())

    async def run(self) -> None:
        """The task itself; ends only by cancellation."""
        trio.lowlevel.add_instrument(self.loop)
        try:
            while True:
                with trio.CancelScope() as self._nap:
                    now = time.perf_counter()
                    earliest = min((wait.deadline for wait in self._waits), default=inf)
                    beat = inf if earliest == inf else now + BEAT
                    self._wake_at(self._nap, min(beat, max(earliest, now + LONGEST_NAP_ERROR)))
                    await trio.sleep_forever()
                self._wake_the_late(time.perf_counter())
        finally:
            self._nap = None
            trio.lowlevel.remove_instrument(self.loop)
            self.loop.core_wait.close()

    def _wake_the_late(self, now: float) -> None:
        for wait in self._waits:
            if wait.deadline <= now:
                # This closes nothing: it makes trio raise ClosedResourceError out of the wait.
                trio.lowlevel.notify_closing(wait.fd)


_WATCHDOG: trio.lowlevel.RunVar[Watchdog] = trio.lowlevel.RunVar("watchdog")


def this_watchdog() -> Watchdog:
    """The watchdog of this trio run, started when it is first asked for."""
    try:
        return _WATCHDOG.get()
    except LookupError:
        watchdog = Watchdog()
        _WATCHDOG.set(watchdog)
        # A system task: it serves every nursery of the run, and ends after the last of them.
        trio.lowlevel.spawn_system_task(watchdog.run)
        return watchdog
