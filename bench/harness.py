"""How a figure is measured: samples taken in turn, medians, ratios and their noise. Knows nothing of cards.

An absolute time says more about the machine than about the program, so everything here ends as a ratio of two
things that were measured in the same run. The contenders of one comparison are sampled in rounds, in a
shuffled order within each round; a ratio is taken within a round, where the machine was in the same mood for
both, and the median over the rounds is the figure.
"""

import gc
import random
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

ROUNDS = 15


@dataclass(frozen=True)
class Sample:
    """One timed slice: how much was done, in how many seconds (the part says of what kind)."""

    count: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.count / self.seconds


@dataclass(frozen=True)
class Spread:
    """A median and how far the samples around it lie."""

    median: float
    low: float
    high: float

    def scaled(self, factor: float) -> "Spread":
        return Spread(self.median * factor, self.low * factor, self.high * factor)

    @staticmethod
    def of(values: list[float]) -> "Spread":
        """Median and quartiles; with fewer than four values the extremes stand in for the quartiles."""
        if len(values) < 4:
            return Spread(statistics.median(values), min(values), max(values))
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
        return Spread(middle, low, high)


@dataclass(frozen=True)
class Row:
    """One line of the table. A target is a least value, unless `at_most` says that it is a greatest."""

    what: str
    unit: str
    spread: Spread | None
    target: float | None = None
    at_most: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.spread is None:
            return "left out"
        if self.target is None:
            return ""
        value = self.spread.median
        return "pass" if (value <= self.target if self.at_most else value >= self.target) else "SHORT"


def interleaved(contenders: Mapping[str, Callable[[int], Sample]], rounds: int) -> dict[str, list[Sample]]:
    """Samples of all contenders, `rounds` of each, every round in an order of its own.

    A contender is called with the number of the round: what it leaves to chance should differ between rounds,
    or a cache would remember games that nobody plays twice.
    """
    order = random.Random(rounds)
    taken: dict[str, list[Sample]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds):
        order.shuffle(names)
        for name in names:
            gc.collect()
            taken[name].append(contenders[name](number))
    return taken


def rates(samples: list[Sample]) -> Spread:
    return Spread.of([sample.rate for sample in samples])


def ratios(ours: list[Sample], yardstick: list[Sample]) -> Spread:
    """How many times the yardstick's rate ours is, round by round."""
    return Spread.of([mine.rate / theirs.rate for mine, theirs in zip(ours, yardstick, strict=True)])
