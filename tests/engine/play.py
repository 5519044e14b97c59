"""Random play for the tests of the engine: options, answers by lot, a full picture of a match; expects nothing."""

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from lastcard.engine import EDITIONS, OPTIONS, Event, Match, Rules
from lastcard.engine.cards import COLORS, ORDER
from lastcard.engine.launcher import SCRIPTED
from lastcard.engine.options import Choice

NUMBERS: dict[str, tuple[int, ...]] = {
    "uno_penalty": (0, 2, 2, 5),
    "false_call_penalty": (0, 0, 1, 3),
    "target": (1, 60, 150, 500),
    "turn_cap": (3, 40, 300, 300),
    "void_limit": (1, 3),
    "max_rounds": (1, 4),
    "custom_count": (0, 3),
}
"""Values that end matches soon. An option that is missing here keeps its edition's value."""


def options_by_lot(name: str, lot: Random) -> dict[str, Any]:
    """A value for about half of the options that the edition knows."""
    edition = EDITIONS[name]
    chosen: dict[str, Any] = {"turn_cap": 300, "max_rounds": 4}
    for option in edition.options:
        kind = OPTIONS[option]
        if isinstance(kind, Choice):
            values: tuple[Any, ...] = edition.fixed.get(option, kind.values)
            values = tuple(value for value in values if value != SCRIPTED)  # which is for positions alone
        else:
            values = NUMBERS.get(option, ())
        if values and lot.random() < 0.5:
            chosen[option] = lot.choice(values)
    if lot.random() < 0.5:
        chosen.pop("target", None)
        chosen["rounds"] = lot.choice((1, 1, 2, 3))
    return chosen


class Mood(NamedTuple):
    """How the answers of a match are chosen, so that some matches hoard cards and others are over soon."""

    plays: float
    """How often a card is laid where one can be."""
    calls: float
    """How often a play carries a call, whether due or not."""
    wilds: float
    """How often a wild is preferred."""

    @classmethod
    def by_lot(cls, lot: Random) -> "Mood":
        return cls(lot.choice((0.3, 0.8, 1.0)), lot.choice((0.1, 0.5, 0.9)), lot.choice((0.0, 0.3, 1.0)))

    def answer(self, legal: "list[str] | tuple[str, ...]", lot: Random) -> str:
        plays = [action for action in legal if action.startswith("play ")]
        others = [action for action in legal if not action.startswith("play ")]
        if others and not (plays and lot.random() < self.plays):
            return lot.choice(others)
        wilds = [action for action in plays if action.startswith("play W")]
        action = lot.choice(wilds if wilds and lot.random() < self.wilds else plays)
        return action + " uno" * (lot.random() < self.calls)

    def answers(self, match: Match, lot: Random) -> dict[int, str]:
        assert match.decision is not None
        return {seat: self.answer(match.legal(seat), lot) for seat in match.decision.seats}


class Game(NamedTuple):
    """A match by lot, and the means to go on with it."""

    match: Match
    mood: Mood
    lot: Random

    @classmethod
    def by_lot(cls, name: str, seats: int, number: int, **options: Any) -> "Game":
        """The same game for the same arguments; `options` stand over those by lot, as far as the edition knows them."""
        lot = Random(f"{name} {seats} {number}")
        known = {*EDITIONS[name].options, "rounds", "target"}
        chosen = options_by_lot(name, lot) | {option: value for option, value in options.items() if option in known}
        if "rounds" in options:
            chosen.pop("target", None)
        return cls(Match(Rules.of(name, chosen), seats, f"game-{number}"), Mood.by_lot(lot), lot)

    def step(self) -> list[Event]:
        if self.match.decision is None:
            return self.match.deal()
        return self.match.act(self.mood.answers(self.match, self.lot))

    def steps(self, most: int = 100_000) -> Iterator[list[Event]]:
        """The events of one step after the other, until the match is over."""
        while not self.match.over and most:
            yield self.step()
            most -= 1


GAMES = [(name, seats) for name in EDITIONS for seats in range(2, 11)]
"""The tables at which there is something to test: no edition can be left out."""


def picture(match: Match) -> dict[str, Any]:
    """Everything that a match is, apart from the events of its last step: what has to stand still where nothing
    may happen, and what has to be the same in a clone.
    """
    seen = {name: getattr(match, name) for name in dir(match) if name in SLOTS}
    pile = match.pile
    seen["pile"] = (pile.order(), len(pile), None if pile.stream is None else pile.stream.clone().take(8))
    seen["views"] = [match.view(seat) for seat in range(match.seats)]
    return {name: repr(value) for name, value in seen.items()}


SLOTS = frozenset(slot for kind in Match.__mro__ for slot in getattr(kind, "__slots__", ())) - {"events", "rules"}

EVERY_ACTION: tuple[str, ...] = (
    *(f"play {card}" for card in ORDER),
    *(f"play {card} {color}" for card in ORDER for color in COLORS),
    "draw", "keep", "stop", "challenge", "accept", "catch", "wait", "target none",
    *(f"color {color}" for color in COLORS),
    *(f"target {seat}" for seat in range(10)),
)  # fmt: skip
"""All that is well formed as an action, calls left out."""
