"""Whether the machine was short of cores while a match was played; thinking times are not exact then.

Two signs, both counted anyway: the referee's own lateness, decision by decision, and the kernel's count of the time
in which something was ready to run and had no core ("pressure", for the whole machine). Read twice a match. Knows
no bot, no clock of a bot and no rule.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

PRESSURE: Final = Path("/proc/pressure/cpu")

SHARE: Final = 0.75
"""Of a match's time; with more of it spent waiting for cores it is noisy.

A bot and its referee take turns, so matches that are played side by side, one for each core, wait for each other a
little: a fifth of the time (median of 1500 matches on two cores). Eight processes that spin there make it all of it.
"""

LEAST_STALL_MS: Final = 50.0
"""Less than this in a whole match cannot have moved any decision by more than the usual margin."""

BUSY: Final = 2.0
"""Where pressure is not counted: the system's load for each core from which on a match is noisy.

So many are ready to run, on the average of a minute: for each that runs one waits.
"""


class Noise(Struct, frozen=True, kw_only=True):
    """What was seen during one match."""

    lag_ms: float
    """The longest that an answer lay there before the referee read it."""
    late: int
    """Decisions in which that was longer than the margin."""
    stall_ms: float | None
    """For how long something waited for a core; None where the system does not count it."""
    wall_ms: float
    """From the last bot's greeting to the end of the match."""
    noisy: bool


class NoiseMeter:
    """Sees one match from `begin` to `read`."""

    def __init__(self) -> None:
        self.lag_ms = 0.0
        self.late = 0
        self._stall: float | None = None
        self._begun = 0.0

    def begin(self) -> None:
        """The bots are there; how long they took to start is no matter of thinking time."""
        self._stall, self._begun = stall_seconds(), time.perf_counter()

    def heard(self, lag_ms: float, margin_ms: float) -> None:
        """An answer was read so late."""
        if lag_ms > self.lag_ms:
            self.lag_ms = lag_ms
        if lag_ms > margin_ms:
            self.late += 1

    def read(self) -> Noise:
        """What was seen so far."""
        wall_ms = (time.perf_counter() - self._begun) * 1000
        stall, stall_ms = stall_seconds(), None
        if stall is not None and self._stall is not None:
            stall_ms = (stall - self._stall) * 1000
        return Noise(
            lag_ms=round(self.lag_ms, 3),
            late=self.late,
            stall_ms=None if stall_ms is None else round(stall_ms, 3),
            wall_ms=round(wall_ms, 3),
            noisy=self.late > 0 or is_short(stall_ms, wall_ms),
        )


def is_short(stall_ms: float | None, wall_ms: float) -> bool:
    """Whether so much waiting in so much time means that there were not enough cores."""
    if stall_ms is None:
        return load() > BUSY * cores()
    return stall_ms > LEAST_STALL_MS and stall_ms > SHARE * wall_ms


def stall_seconds() -> float | None:
    """For how long something has waited for a core since the system was started; None where it does not say."""
    with suppress(OSError, ValueError, IndexError):  # old kernels, other systems, switched off
        line = PRESSURE.read_text("ascii").split("\n")[0]
        if line.startswith("some "):
            return int(line.rpartition("total=")[2]) / 1e6
    return None


def load() -> float:
    """How many processes were ready to run or ran, on the average of the last minute; 0 where nobody counts."""
    with suppress(OSError, AttributeError):
        return os.getloadavg()[0]
    return 0.0


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
