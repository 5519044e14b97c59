"""What each level costs on this machine: the start of a process, and round trips. It knows no promise.

The levels take turns, so that a busy moment of the machine hits all of them. The figures are noisy all the same.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from lastcard.referee.doctor.trial import LIMITS, ProbeBot, ProbeError, probe_command, probing
from lastcard.referee.sandbox.levels import Level
from lastcard.referee.start_error import StartError

STARTS = 5
SLICES = 15
TRIPS = 400
MOST_SECONDS = 4.0
"""No new turn is begun after it: a slow machine gets fewer samples."""
LINE = b'{"type":"ask","id":17,"legal":["play R7","draw"]}\n'


class Cost(Struct, frozen=True):
    """The medians of one level."""

    start_ms: float
    """From the start of the process to the first line of a small Python program in it."""
    trips_per_s: float
    relative: float
    """Round trips a second over those of level none."""


async def costs(levels: Sequence[Level]) -> dict[Level, Cost]:
    """What the levels cost; none, which is the measure, must be among them. Empty where a probe fails."""
    try:
        starts, trips = await starts_of(levels), await trips_of(levels)
    except (StartError, ProbeError):
        return {}
    relative = {
        level: median(mine / base for mine, base in zip(trips[level], trips[Level.NONE], strict=True))
        for level in levels
    }
    return {
        level: Cost(round(1000 * median(starts[level]), 1), round(median(trips[level])), round(relative[level], 3))
        for level in levels
    }


async def starts_of(levels: Sequence[Level]) -> dict[Level, list[float]]:
    """Seconds of each start."""
    found: dict[Level, list[float]] = {level: [] for level in levels}
    until = time.perf_counter() + MOST_SECONDS / 2
    while len(found[Level.NONE]) < STARTS and (not found[Level.NONE] or time.perf_counter() < until):
        for level in levels:
            begun = time.perf_counter()
            async with echoing(level):
                found[level].append(time.perf_counter() - begun)
    return found


async def trips_of(levels: Sequence[Level]) -> dict[Level, list[float]]:
    """Round trips a second, slice by slice."""
    found: dict[Level, list[float]] = {level: [] for level in levels}
    until = time.perf_counter() + MOST_SECONDS / 2
    async with AsyncExitStack() as stack:
        bots = {level: await stack.enter_async_context(echoing(level)) for level in levels}
        while len(found[Level.NONE]) < SLICES and (not found[Level.NONE] or time.perf_counter() < until):
            for level, bot in bots.items():
                begun = time.perf_counter()
                for _ in range(TRIPS):
                    await trip(bot)
                found[level].append(TRIPS / (time.perf_counter() - begun))
    return found


async def trip(probe: ProbeBot) -> None:
    """A line there and back."""
    channel = probe.bot.channel
    channel.write_now(LINE)
    size = 0
    while size < len(LINE):
        data = await channel.receive(channel.sent_at + 1)
        if not data:
            raise ProbeError("the probe does not answer")
        size += len(data)


@asynccontextmanager
async def echoing(level: Level) -> AsyncGenerator[ProbeBot, None]:
    """A probe that sends every line back. Its CPU limit is the usual one: it is not what is measured."""
    async with probing(probe_command(), replace(LIMITS, level=level, cpu_s=60)) as probe:
        await probe.begin(do="echo")
        yield probe
