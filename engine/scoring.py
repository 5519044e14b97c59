"""What the hands left at the end of a round do to the scores. Pure functions of numbers."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


def winner_collects(winner: int, worth: Sequence[int]) -> list[int]:
    """MK-52, AT-44, CL-22: the winner scores the cards in all other hands."""
    return [sum(worth) - worth[winner] if seat == winner else 0 for seat in range(len(worth))]


def plus_minus(winner: int, worth: Sequence[int]) -> list[int]:
    """MK-52 (004): and every loser writes down the own hand as a minus."""
    return [sum(worth) - worth[winner] if seat == winner else -hand for seat, hand in enumerate(worth)]


def penalty_lowest(winner: int, worth: Sequence[int]) -> list[int]:
    """CL-22 (option): everybody but the winner scores the own hand; the lowest total is the best."""
    return [0 if seat == winner else hand for seat, hand in enumerate(worth)]


class Scoring(NamedTuple):
    """One way to score."""

    points: Callable[[int, Sequence[int]], list[int]]
    """(winner, worth of each hand) -> what each score changes by."""
    sign: int
    """1 where the highest score is the best, -1 where the lowest is."""
    untied: bool
    """Whether a tie for the first place is played off by further rounds (AMB-48)."""


SCORING: dict[str, Scoring] = {
    "winner_collects": Scoring(winner_collects, 1, untied=False),
    "plus_minus": Scoring(plus_minus, 1, untied=True),
    "penalty_lowest": Scoring(penalty_lowest, -1, untied=True),
}


def ranks(keys: Sequence[tuple[bool, int]]) -> list[int]:
    """Competition ranks (1, 2, 2, 4) of keys (has it forfeited, points against it), the smallest first."""
    return [1 + sum(other < key for other in keys) for key in keys]
