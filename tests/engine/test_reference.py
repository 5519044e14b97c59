"""The engine against a second one, event by event: whoever of the two is wrong, they differ."""

import json
from random import Random
from typing import Any

import pytest

from lastcard.engine import EDITIONS, Match
from tests.engine.plain import DECKS
from tests.engine.play import GAMES, Game
from tests.engine.reference import DEAL, Ask, Leave, Reference, Reply


def question(match: Match) -> tuple[str, dict[int, list[str]], Any]:
    decision = match.decision
    if decision is None:
        return DEAL, {}, None
    return decision.kind, {seat: list(match.legal(seat)) for seat in decision.seats}, decision.about


def asked(ask: Ask) -> tuple[str, dict[int, list[str]], Any]:
    return ask.kind, ask.legal, ask.about


class Leaving:
    """Who leaves, and when: seldom, by lot, and in half of the games nobody."""

    def __init__(self, number: int) -> None:
        self.lot = Random(f"leaving {number}")
        self.often = self.lot.choice((0.0, 0.0, 0.01, 0.05))

    def now(self, match: Match) -> Leave | None:
        staying = [seat for seat in range(match.seats) if seat not in match.out]
        return Leave(self.lot.choice(staying), "crash") if self.lot.random() < self.often else None


def reply_to(game: Game, leaving: Leaving) -> tuple[Reply, list[Any]]:
    """What is answered by lot, and the events that the engine makes of it."""
    match, leaver = game.match, leaving.now(game.match)
    if leaver is not None:
        return leaver, match.forfeit(leaver.seat, leaver.why)
    if match.decision is None:
        return {}, match.deal()
    answers = game.mood.answers(match, game.lot)
    return answers, match.act(answers)


def compare(name: str, seats: int, number: int) -> None:
    game = Game.by_lot(name, seats, number)
    match, leaving = game.match, Leaving(number)
    reference = Reference(name, dict(match.rules.options), seats, match.seed)
    where = f"{name}, {seats} seats, game {number}, {match.rules.options}"
    course = reference.match()
    ask: Ask | None = next(course)
    while ask is not None:
        assert question(match) == asked(ask), where
        reply, events = reply_to(game, leaving)
        try:
            ask = course.send(reply)
        except StopIteration:
            ask = None
        told, reference.told = reference.told, []
        assert json.dumps(events) == json.dumps(told), f"{where}: after {reply}"
        if ask is not None and ask.kind != DEAL:
            about = {"about": ask.about} if ask.about is not None else {}
            for seat in range(seats):
                mine = about if seat in ask.legal else {}
                assert match.view(seat) == reference.view(seat) | mine, where
    assert match.over


def test_the_reference_knows_every_edition() -> None:
    assert set(DECKS) == set(EDITIONS)


@pytest.mark.parametrize(("name", "seats"), GAMES)
def test_engine_tells_what_the_reference_tells(name: str, seats: int) -> None:
    for number in range(8):
        compare(name, seats, number)


@pytest.mark.soak
@pytest.mark.parametrize(("name", "seats"), GAMES)
def test_engine_tells_what_the_reference_tells_in_many_games(name: str, seats: int) -> None:
    for number in range(1000, 1500):
        compare(name, seats, number)
