"""Perft: the published numbers of sequences, from the engine and, as far as it is quick enough, from the second one."""

import json
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest

from lastcard.engine import EDITIONS, Match, Rules, from_setup
from lastcard.engine.perft import divide, perft
from tests.engine.reference import DEAL, Ask, Reference

FILE = Path(__file__).resolve().parents[2] / "vectors" / "perft" / "counts.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["cases"]
DEALT = [case for case in CASES if "deal" in case["setup"]]

QUICK = 5_000
"""Sequences up to which a depth is counted in every run of the tests; the soak counts all."""


def of_case(case: dict[str, Any]) -> str:
    return str(case["id"])


def called(action: str) -> str:
    return f"{action} uno" if action.startswith("play ") else action


def opened(case: dict[str, Any]) -> Match:
    """The match of a case where the counting begins."""
    match, _ = from_setup(Rules.of(case["edition"], case["options"]), case["setup"], play_on=True)
    for _ in range(case.get("after", 0)):
        assert match.decision is not None, case["id"]
        match.act({seat: called(match.legal(seat)[0]) for seat in match.decision.seats})
    return match


def depths(case: dict[str, Any], most: int) -> int:
    """How many of the published depths have no more sequences than that."""
    return sum(count <= most for count in case["counts"])


@pytest.mark.parametrize("case", CASES, ids=of_case)
def test_the_engine_counts_what_is_published(case: dict[str, Any]) -> None:
    match, deep = opened(case), depths(case, QUICK)
    assert deep, "the first depth at least is quick"
    before = json.dumps([match.view(seat) for seat in range(match.seats)])
    assert [perft(match, depth + 1) for depth in range(deep)] == case["counts"][:deep]
    assert json.dumps([match.view(seat) for seat in range(match.seats)]) == before


@pytest.mark.soak
@pytest.mark.parametrize("case", CASES, ids=of_case)
def test_the_engine_counts_what_is_published_to_the_last_depth(case: dict[str, Any]) -> None:
    match = opened(case)
    assert [perft(match, depth + 1) for depth in range(len(case["counts"]))] == case["counts"]


# the second engine: it cannot be cloned, so every sequence is played from the deal


class Replayed:
    """A round of the second engine, opened anew for every sequence."""

    def __init__(self, case: dict[str, Any]) -> None:
        deal = case["setup"]["deal"]
        options = dict(Rules.of(case["edition"], case["options"]).options)
        self.table = case["edition"], options, deal["seats"], deal["seed"]
        self.opening: list[dict[int, str]] = [{}]  # the deal is answered by nobody
        for _ in range(case.get("after", 0)):
            self.opening.append({seat: called(legal[0]) for seat, legal in self.ask([]).legal.items()})

    def ask(self, answers: list[dict[int, str]]) -> Ask:
        """What is asked after these answers; a deal if the round or the match is over."""
        course = Reference(*self.table).match()
        asked = next(course)
        try:
            for step in [*self.opening, *answers]:
                asked = course.send(step)
        except StopIteration:
            return Ask(DEAL, {}, None)
        return asked

    def perft(self, depth: int, before: list[dict[int, str]]) -> int:
        ask = self.ask(before)
        if ask.kind == DEAL or depth == 0:
            return 1
        if depth == 1:
            return prod(len(legal) for legal in ask.legal.values())
        return sum(
            self.perft(depth - 1, [*before, dict(zip(ask.legal, actions, strict=True))])
            for actions in product(*ask.legal.values())
        )


@pytest.mark.parametrize("case", [case for case in DEALT if not case.get("after")], ids=of_case)
def test_the_second_engine_counts_the_same(case: dict[str, Any]) -> None:
    replayed, deep = Replayed(case), depths(case, 100)
    assert [replayed.perft(depth + 1, []) for depth in range(deep)] == case["counts"][:deep]


@pytest.mark.soak
@pytest.mark.parametrize("case", DEALT, ids=of_case)
def test_the_second_engine_counts_the_same_deeper_and_later_in_the_round(case: dict[str, Any]) -> None:
    replayed, deep = Replayed(case), depths(case, 1_500)
    assert [replayed.perft(depth + 1, []) for depth in range(deep)] == case["counts"][:deep]


# what is counted


def position(hands: list[list[str]], **more: Any) -> Match:
    setup = {"hands": hands, "draw_pile": ["G1", "G2", "G3", "G4"], "discard_pile": ["R7"], **more}
    return from_setup(Rules.of("classic"), setup)[0]


def test_depth_nothing_is_one_sequence() -> None:
    assert perft(position([["R1"], ["B1"]]), 0) == 1


def test_a_round_that_ends_is_one_sequence_whatever_depth_is_left() -> None:
    match = position([["R1"], ["B1", "B2"]])
    match.act({0: "play R1"})
    assert [perft(match, depth) for depth in (0, 1, 9)] == [1, 1, 1]
    assert divide(match, 3) == {}


def test_seats_that_are_asked_at_once_count_as_a_product() -> None:
    match = position([["R1", "B9"], ["B1", "B2"], ["Y1", "Y2"]])
    match.act({0: "play R1"})
    assert perft(match, 1) == 4
    assert list(divide(match, 1)) == ["1 catch, 2 catch", "1 catch, 2 wait", "1 wait, 2 catch", "1 wait, 2 wait"]


def test_equal_cards_are_one_action_and_each_color_of_a_wild_is_one() -> None:
    assert perft(position([["R1", "R1", "W"], ["B1", "B2"]]), 1) == 6


def test_divide_adds_up() -> None:
    match = opened(CASES[0])
    parts = divide(match, 4)
    assert match.decision is not None
    assert list(parts) == [f"{seat} {action}" for seat in match.decision.seats for action in match.legal(seat)]
    assert sum(parts.values()) == perft(match, 4) == CASES[0]["counts"][3]


# the file


def test_every_edition_is_counted_with_two_three_and_ten_seats_early_and_late() -> None:
    plain = [case for case in DEALT if not case["options"]]
    found = {(case["edition"], case["setup"]["deal"]["seats"], "after" in case) for case in plain}
    assert found >= set(product(EDITIONS, (2, 3, 10), (False, True)))


def test_ids_differ_and_counts_are_there() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert all(len(case["counts"]) >= 4 for case in CASES)
