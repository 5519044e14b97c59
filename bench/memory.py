"""Memory: what a process holds after many short matches, compared with what it held after a few.

Each case runs in a process of its own, started as `python -m bench.memory CASE EARLY LATE`, which prints its
resident kilobytes after EARLY and after LATE matches.
"""

import gc
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

from bench.adapter import play_matches
from bench.engine import play_match
from bench.harness import Row, Spread
from bench.pingpong import INSTANT_BOT
from lastcard.engine import Match, Rules

EARLY, LATE = 2_000, 10_000
MOST_GROWTH = 2.0  # MB
EDITION = "mario-kart"
SHORT = {"rounds": 1}
SEATS = 2


def resident_kilobytes() -> int:
    """What this process has in memory now (not its peak)."""
    gc.collect()
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except FileNotFoundError:  # macOS
        command = ["ps", "-o", "rss=", "-p", str(os.getpid())]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def engine_alone(matches: int, after_match: Callable[[int], None]) -> None:
    source = random.Random(1)
    rules = Rules.of(EDITION, SHORT)
    for number in range(1, matches + 1):
        play_match(Match(rules, seats=SEATS, seed=f"memory-{number}"), source)
        after_match(number)


def with_referee(matches: int, after_match: Callable[[int], None]) -> None:
    """Real processes that stay alive throughout; the logs are thrown away now and then, to spare the disk."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def and_sweep(number: int) -> None:
            after_match(number)
            if number % 500 == 0:
                for entry in folder.iterdir():
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

        commands = [INSTANT_BOT] * SEATS
        rules = Rules.of(EDITION, SHORT)
        trio.run(partial(play_matches, commands, rules, matches, folder, after_match=and_sweep))


CASES: dict[str, Callable[[int, Callable[[int], None]], None]] = {
    "engine": engine_alone,
    "referee": with_referee,
}


def main(case: str, early: int, late: int) -> None:
    def look(number: int) -> None:
        if number in (early, late):
            print(resident_kilobytes(), flush=True)

    CASES[case](late, look)


def grown(case: str, early: int, late: int) -> Row:
    """One process, one figure: there is no spread to speak of, so low and high are the figure itself."""
    command = [sys.executable, "-m", "bench.memory", case, str(early), str(late)]
    shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    before, after = (int(kilobytes) / 1024 for kilobytes in shown)
    growth = after - before
    what = f"{case}: after {late:,} matches over after {early:,}"
    note = f"{before:.1f} MB, then {after:.1f} MB"
    return Row(what, "MB more", Spread(growth, growth, growth), MOST_GROWTH, at_most=True, note=note)


def measure(early: int, late: int) -> list[Row]:
    return [grown(case, early, late) for case in CASES]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
