"""The engine against a second one, event by event: whoever of the two is wrong, they differ."""

import json
from typing import Any

import pytest

from lastcard.engine import Match
from tests.engine.play import GAMES, Game
from tests.engine.reference import DEAL, Ask, Reference

KNOWN = {"mario-kart", "classic"}
"""What the reference was written for. An edition to come that it does not know is tested by its vectors."""

TABLES = [(name, seats) for name, seats in GAMES if name in KNOWN]


def question(match: Match) -> tuple[str, dict[int, list[str]], Any]:
    decision = match.decision
    if decision is None:
        return DEAL, {}, None
    return decision.kind, {seat: list(match.legal(seat)) for seat in decision.seats}, decision.about


def asked(ask: Ask) -> tuple[str, dict[int, list[str]], Any]:
    return ask.kind, ask.legal, ask.about


def compare(name: str, seats: int, number: int) -> None:
    game = Game.by_lot(name, seats, number)
    match, lot, mood = game.match, game.lot, game.mood
    reference = Reference(name, dict(match.rules.options), seats, match.seed)
    where = f"{name}, {seats} seats, game {number}, {match.rules.options}"
    course = reference.match()
    ask: Ask | None = next(course)
    while ask is not None:
        assert question(match) == asked(ask), where
        if ask.kind == DEAL:
            answers: dict[int, str] = {}
            events = match.deal()
        else:
            answers = mood.answers(match, lot)
            events = match.act(answers)
        try:
            ask = course.send(answers)
        except StopIteration:
            ask = None
        told, reference.told = reference.told, []
        assert json.dumps(events) == json.dumps(told), f"{where}: after {answers}"
        if ask is not None and ask.kind != DEAL:
            about = {"about": ask.about} if ask.about is not None else {}
            for seat in range(seats):
                mine = about if seat in ask.legal else {}
                assert match.view(seat) == reference.view(seat) | mine, where
    assert match.over


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_engine_tells_what_the_reference_tells(name: str, seats: int) -> None:
    for number in range(12):
        compare(name, seats, number)


@pytest.mark.soak
@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_engine_tells_what_the_reference_tells_in_many_games(name: str, seats: int) -> None:
    for number in range(1000, 1500):
        compare(name, seats, number)
