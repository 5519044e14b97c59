"""Perft: in how many ways a round can go on for so many steps, for comparing engines. Counts; knows no rule.

A step is one answer of every asked seat, each out of its `legal` list, so without calls of UNO; forced decisions are
steps too, and seats that are asked at once (`catch`) count as the product of their lists. A sequence has as many
steps as the depth says, or fewer if the round ends before: that is one sequence too, whatever depth was left.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lastcard.engine.match import Match


def perft(match: Match, depth: int) -> int:
    """The number of sequences from here; the match stays as it is."""
    decision = match.decision
    if decision is None or depth == 0:
        return 1
    if depth == 1:
        return prod(len(match.legal(seat)) for seat in decision.seats)
    return sum(perft(after(match, answers), depth - 1) for answers in steps(match))


def divide(match: Match, depth: int) -> dict[str, int]:
    """`perft` by the first step: where two engines differ, go on from the line that differs."""
    return {
        ", ".join(f"{seat} {action}" for seat, action in answers.items()): perft(after(match, answers), depth - 1)
        for answers in steps(match)
    }


def steps(match: Match) -> Iterator[dict[int, str]]:
    """Every step from here, in the order of the lists; none when the round is over."""
    seats = () if match.decision is None else match.decision.seats
    if seats:
        for actions in product(*(match.legal(seat) for seat in seats)):
            yield dict(zip(seats, actions, strict=True))


def after(match: Match, answers: dict[int, str]) -> Match:
    """A match of its own, one step on."""
    twin = match.clone()
    twin.act(answers)
    return twin
