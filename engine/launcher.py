"""The launcher of the Attack editions: how many cards a press ejects. Knows no pile, no hand and no card.

`rules.md` 4 has the measurements behind the models. Each press reads its own stream, `launcher|R|P`, so that a press
more or less shifts no other chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lastcard.engine.chance import Stream

HAZARD = ((58, 323), (132, 265), (78, 133), (30, 55), (1, 1))
"""The chance that press number s since the last ejection ejects, as measured: numerator, denominator."""

SIZES = (0, 1, 3, 6, 9, 10, 9, 6, 3, 1)
"""Weights of 0, 1, 2, ... cards at an ejection on one of the first four presses."""

LATE_SIZES = (0, 1, 4, 10, 19, 29, 38, 43, 43, 38, 29, 19, 10, 4, 1)
"""The same on the fifth press."""

IID_SIZES = (5966, 79, 237, 476, 718, 807, 739, 512, 279, 119, 31, 21, 11, 4, 1)
"""The same data without memory: weights of 0, 1, 2, ... cards, of 10,000."""

SEQUENCE = (
    2, 6, 9, 13, 17, 21, 24, 26, 27, 29, 32, 36, 37, 41, 44, 47, 48, 51, 54, 57, 58, 62, 66, 69, 72, 73, 77, 81, 84,
    85, 88, 92, 93, 96,
)  # fmt: skip
"""The presses of 96 on which a machine is claimed to eject (rules.md 4a, 2); it begins anew after a reload."""

CYCLE = 96


def by_weight(weights: tuple[int, ...]) -> tuple[int, ...]:
    """Entry v is the number that `below(sum of the weights)` = v stands for: v against the running sums."""
    return tuple(number for number, weight in enumerate(weights) for _ in range(weight))


EARLY, LATE, ANY = by_weight(SIZES), by_weight(LATE_SIZES), by_weight(IID_SIZES)


def hazard5(stream: Stream, since: int, pressed: int) -> int:
    """Whether it ejects depends on the presses since the last ejection; the fifth always does."""
    step = min(since, len(HAZARD) - 1)
    numerator, denominator = HAZARD[step]
    if stream.below(denominator) >= numerator:
        return 0
    sizes = LATE if step == len(HAZARD) - 1 else EARLY
    return sizes[stream.below(len(sizes))]


def iid(stream: Stream, since: int, pressed: int) -> int:
    """Every press is like every other."""
    return ANY[stream.below(len(ANY))]


def fixed_sequence(stream: Stream, since: int, pressed: int) -> int:
    """The claimed sequence; how many cards come is chance."""
    return EARLY[stream.below(len(EARLY))] if pressed % CYCLE + 1 in SEQUENCE else 0


MODELS: dict[str, Callable[[Stream, int, int], int]] = {
    "hazard5": hazard5,
    "iid": iid,
    "fixed_sequence": fixed_sequence,
}
"""(stream of the press, presses since the last ejection, presses since the last reload) -> cards, by the option
`launcher`.
"""

SCRIPTED = "scripted"
"""The value of the option for presses that are given with a position."""
