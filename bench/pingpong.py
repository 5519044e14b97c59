"""The referee's yardstick: recorded asks sent to bots with blocking os.write and os.read, and no more.

It is what a referee would cost that had no rules, no clock, no checks and no log. It must not import the
referee.
"""

import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from bench.harness import Sample

HERE = Path(__file__).parent
INSTANT_BOT = (sys.executable, "-S", "-E", str(HERE / "instant_bot.py"))
"""Without the search for installed packages, which takes longer than all else of its start."""
RECORDING_BOT = (sys.executable, "-m", "bench.recording_bot")


class Ask(NamedTuple):
    seat: int
    line: bytes


class Pipes(NamedTuple):
    """The parent's two ends."""

    to_bot: int
    from_bot: int


def read_recordings(paths: Sequence[Path]) -> list[Ask]:
    """The asks of one match in the order in which they were sent, from the files its recording bots left."""
    stamped: list[tuple[int, Ask]] = []
    for seat, path in enumerate(paths):
        for line in path.read_bytes().splitlines(keepends=True):
            stamp, _, ask = line.partition(b"\t")
            stamped.append((int(stamp), Ask(seat, ask)))
    return [ask for _, ask in sorted(stamped, key=lambda pair: pair[0])]


@contextmanager
def started_bots(seats: int) -> Generator[list[Pipes], None, None]:
    """Instant bots that inherit the caller's present affinity and have answered hello; they end with their input."""
    bots = [
        subprocess.Popen(INSTANT_BOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) for _ in range(seats)
    ]
    try:
        yield [greeted(bot) for bot in bots]
    finally:
        for bot in bots:
            bot.communicate()


def greeted(bot: "subprocess.Popen[bytes]") -> Pipes:
    """The bot's pipes, after it has answered hello."""
    assert bot.stdin is not None, "it was started with a pipe"
    assert bot.stdout is not None, "it was started with a pipe"
    pipes = Pipes(bot.stdin.fileno(), bot.stdout.fileno())
    ping_pong([pipes], [Ask(0, b'{"type":"hello"}\n')], 1)
    return pipes


def ping_pong(bots: Sequence[Pipes], asks: Sequence[Ask], count: int) -> Sample:
    """`count` asks, from the first on and over again; wall-clock seconds."""
    write, read = os.write, os.read
    script = [(*bots[seat], line) for seat, line in islice(cycle(asks), count)]
    begun = time.perf_counter()
    for to_bot, from_bot, line in script:
        write(to_bot, line)
        reply = read(from_bot, 65536)
        while reply[-1:] != b"\n":
            more = read(from_bot, 65536)
            if not more:
                raise RuntimeError("an instant bot closed its output")
            reply += more
    return Sample(count, time.perf_counter() - begun)
