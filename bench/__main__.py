"""`python -m bench`: runs the parts and prints one table of ratios, each beside its target and its noise."""

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence

from bench import engine, memory, referee, sandbox, tcp
from bench.harness import ROUNDS, Row

PARTS: dict[str, Callable[[int, bool], list[Row]]] = {
    # each with samples of a quarter of a second or so, or with tiny ones
    "engine": lambda rounds, tiny: engine.measure(rounds, 200 if tiny else 10_000, 1 if tiny else 5),
    "referee": lambda rounds, tiny: referee.measure("mario-kart", rounds, 1 if tiny else 4),
    "sandbox": lambda rounds, tiny: sandbox.measure("mario-kart", rounds, *((20, 1, 10) if tiny else (900, 3, 300))),
    "tcp": lambda rounds, tiny: tcp.measure("mario-kart", rounds, 1 if tiny else 4, 1 if tiny else 3),
    "memory": lambda _, tiny: memory.measure(*((4, 8) if tiny else (memory.EARLY, memory.LATE))),
}


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run.sh", description="Ratios against yardsticks of the same run.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="samples of each contender (default: %(default)s)")
    parser.add_argument("--tiny", action="store_true", help="samples too short to mean anything, to see that all runs")
    asked = parser.parse_args(words)
    for part in asked.parts:
        if part not in PARTS:
            parser.error(f"no part is called {part!r}: expected any of {', '.join(PARTS)}")
    return asked


def printed(row: Row) -> str:
    if row.spread is None:
        figure, noise = "-", ""
    else:
        figure = f"{row.spread.median:.2f}"
        noise = f"{row.spread.low:.2f} .. {row.spread.high:.2f}"
    target = "" if row.target is None else f"{'<=' if row.at_most else '>='} {row.target:g}"
    return f"{row.what:<52}{figure:>9}  {noise:<20}{row.unit:<15}{target:<8}{row.verdict:<9}{row.note}"


def main(words: Sequence[str] | None = None) -> None:
    asked = arguments(words)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} {platform.machine()}"
    print(f"{python}, {machine}; medians of {asked.rounds} samples taken in turn, quartiles beside them")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the run: other work on them blurs the figures")
    print(f"{'':<52}{'median':>9}  {'quartiles':<20}{'unit':<15}{'target':<8}", flush=True)
    for part in asked.parts or PARTS:
        print(f"-- {part}", file=sys.stderr, flush=True)
        for row in PARTS[part](asked.rounds, asked.tiny):
            print(printed(row), flush=True)


if __name__ == "__main__":
    main()
