"""Means with honest intervals: ratios of sums over blocks, standard errors clustered by block. Knows no game.

Sums are kept in whole numbers, so that neither the order of the rows nor the machine changes a digit.
"""

from fractions import Fraction
from functools import cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist
from typing import NamedTuple

EXACT_DEGREES = 200
"""Up to here the distribution of t is summed up exactly; beyond, the expansion is good to ten digits."""


class Estimate(NamedTuple):
    """A mean, and the ends of its 95 % interval where there are two blocks or more, not all alike."""

    value: Fraction
    error: float | None
    low: float | None
    high: float | None


class BlockSums:
    """Sums over blocks of what a bot got, y, and out of how many, x. The mean is all y over all x."""

    __slots__ = ("blocks", "x", "xx", "xy", "y", "yy")

    def __init__(self) -> None:
        self.blocks = self.x = self.y = self.xx = self.xy = self.yy = 0

    def add(self, y: int, x: int) -> None:
        """Add one block. A block in which nothing could be got is no block."""
        if x:
            self.blocks += 1
            self.x += x
            self.y += y
            self.xx += x * x
            self.xy += x * y
            self.yy += y * y

    def estimate(self, scale: int = 1) -> Estimate | None:
        """The mean of y / scale, or None with nothing to take it of.

        The error is the cluster sandwich of the ratio: with r = y/x, sum over blocks of (y_b - r x_b)^2 times
        B/(B - 1) over x^2 (statistics.md 3.3), and Student's t with B - 1 degrees, since blocks may be few.
        Blocks that are all alike (0 of 24) show no spread; an interval of no width would claim to know all.
        """
        if not self.x:
            return None
        ratio = Fraction(self.y, self.x)
        value = ratio / scale
        if self.blocks < 2:
            return Estimate(value, None, None, None)
        residuals = self.yy - 2 * ratio * self.xy + ratio * ratio * self.xx
        variance = residuals * self.blocks / ((self.blocks - 1) * self.x**2 * scale**2)
        if not variance:
            return Estimate(value, 0.0, None, None)
        error = sqrt(variance)
        reach = t_quantile(0.975, self.blocks - 1) * error
        return Estimate(value, error, float(value) - reach, float(value) + reach)


def t_within(t: float, degrees: int) -> float:
    """The probability that |T| <= t, summed up for whole degrees (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    angle = atan(t / sqrt(degrees))
    square = cos(angle) ** 2
    odd = degrees % 2
    term = total = cos(angle) if odd else 1.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= square * (k - 1) / k
        total += term
    if not odd:
        return sin(angle) * total
    return 2 / pi * (angle + (sin(angle) * total if degrees > 1 else 0.0))


@cache
def t_quantile(probability: float, degrees: int) -> float:
    """Student's t: the point that T does not exceed with this probability, from a half to one."""
    z = NormalDist().inv_cdf(probability)
    if degrees > EXACT_DEGREES:
        return expanded(z, degrees)
    low, high = 0.0, 1.0
    wanted = 2 * probability - 1
    while t_within(high, degrees) < wanted:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_within(middle, degrees) < wanted else (low, middle)
    return (low + high) / 2


def expanded(z: float, degrees: int) -> float:
    """The quantile of t from that of the normal (Abramowitz and Stegun 26.7.5)."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / float(degrees) ** power for power, term in enumerate(terms, 1))
