"""Positions: a match opened in the middle of a round, or from a given deal. A puzzle, a bug report, a unit test.

The form is the `setup` of a vector (`spec.md`, vectors).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lastcard.engine.cards import COLORS, ORDER, is_wild, symbol
from lastcard.engine.chance import SEED, Pile, Stream
from lastcard.engine.decisions import LEAST_SEATS, MOST_SEATS
from lastcard.engine.errors import PositionError
from lastcard.engine.launcher import SCRIPTED
from lastcard.engine.match import Match

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lastcard.engine.events import Event
    from lastcard.engine.rules import Rules

MIDDLE = frozenset(
    {
        "hands",
        "draw_pile",
        "discard_pile",
        "color",
        "direction",
        "dealer",
        "turn",
        "scores",
        "launcher",
        "press",
        "seed",
        "ply",
    }
)
DEALT = frozenset({"deal", "launcher", "scores"})
DEAL = frozenset({"seed", "seats", "dealer", "round", "deck"})


def from_setup(rules: Rules, setup: Mapping[str, object], *, play_on: bool = False) -> tuple[Match, list[Event]]:
    """The match in this position, and the events of dealing it where it is dealt.

    Presses of a launcher are those that `launcher` gives. One beyond them is an error; with `play_on` the model of
    the edition takes over there, so that a match can be played from any position.

    Raises PositionError with the field and what was expected in it.
    """
    if play_on and rules.launcher == SCRIPTED:
        raise PositionError("option launcher: a match that goes on needs a model, not scripted presses alone")
    if "deal" in setup:
        only(setup, DEALT, "setup")
        return dealt(rules, setup, play_on=play_on)
    only(setup, MIDDLE, "setup")
    return middle(rules, setup, play_on=play_on), []


def middle(rules: Rules, setup: Mapping[str, object], *, play_on: bool) -> Match:
    """A match in the middle of a round."""
    hands = setup.get("hands")
    if not isinstance(hands, list) or not LEAST_SEATS <= len(cast("list[object]", hands)) <= MOST_SEATS:
        raise PositionError(f"setup.hands: expected a list of {LEAST_SEATS} to {MOST_SEATS} hands")
    held = [hand_in(rules, hand, f"setup.hands[{seat}]") for seat, hand in enumerate(cast("list[object]", hands))]
    draw_pile = cards_of(rules, setup.get("draw_pile", []), "setup.draw_pile")
    discards = cards_of(rules, setup.get("discard_pile"), "setup.discard_pile")
    if not discards:
        raise PositionError("setup.discard_pile: expected at least one card, the top card last")
    everything = [card for hand in held for card in hand] + draw_pile + discards
    rules = rules.with_deck(everything)
    seats = len(held)
    script = launcher_of(rules, setup)
    match = Match(rules, seats, seed_of(setup.get("seed", "0"), "setup.seed"), script)
    match.script_only = not play_on
    bits = list(rules.deck.take(everything, rules.deck.everything))
    for seat, hand in enumerate(held):
        match.hands[seat] = sum(bits[: len(hand)])
        del bits[: len(hand)]
    match.pile = Pile(bits[: len(draw_pile)], None)
    match.discards = bits[len(draw_pile) :]
    match.round = 1
    match.dealer = number(setup.get("dealer", 0), 0, seats - 1, "setup.dealer")
    match.direction = number(setup.get("direction", 1), -1, 1, "setup.direction", but=0)
    match.press = number(setup.get("press", 0), 0, 1_000_000, "setup.press")
    match.gone = number(setup.get("ply", 1), 0, 1_000_000, "setup.ply") > 0
    match.scores = scores_of(setup.get("scores"), seats)
    match.set_color(color_of(setup.get("color"), discards[-1]))
    match.begin_turn(number(setup.get("turn", 0), 0, seats - 1, "setup.turn"))
    return match


def dealt(rules: Rules, setup: Mapping[str, object], *, play_on: bool) -> tuple[Match, list[Event]]:
    """A match whose round is dealt from a seed or from a stacked deck."""
    deal = setup["deal"]
    if not isinstance(deal, dict):
        raise PositionError("setup.deal: expected an object")
    given = cast("dict[str, object]", deal)
    only(given, DEAL, "setup.deal")
    seats = number(given.get("seats"), LEAST_SEATS, MOST_SEATS, "setup.deal.seats")
    seed = seed_of(given.get("seed", "0"), "setup.deal.seed")
    round_number = number(given.get("round", 1), 1, 1_000_000, "setup.deal.round")
    pile, for_dealer = None, None
    if "deck" in given:
        deck = cards_of(rules, given["deck"], "setup.deal.deck")
        rules = rules.with_deck(deck)
        check_deck(rules, deck, seats)
        bits = list(rules.deck.take(deck, rules.deck.everything))
        pile, for_dealer = Pile(bits, None), Pile(bits.copy(), None)
    else:
        pile = Pile(list(rules.deck.bits), Stream(seed, f"deal|{round_number}"))
        for_dealer = Pile(list(rules.deck.bits), Stream(seed, "dealer"))
    match = Match(rules, seats, seed, launcher_of(rules, setup))
    match.script_only = not play_on
    match.scores = scores_of(setup.get("scores"), seats)
    match.round = round_number - 1
    if "dealer" in given:
        match.dealer = number(given["dealer"], 0, seats - 1, "setup.deal.dealer")
        for_dealer = None
    return match, match.deal_from(pile, for_dealer)


def check_deck(rules: Rules, deck: list[str], seats: int) -> None:
    """A stacked deck has to give every seat its hand and a card that may start."""
    dealt_cards = rules.edition.hand_size * seats
    if all(card in rules.may_not_start for card in deck[dealt_cards:]):
        raise PositionError(
            f"setup.deal.deck: expected {dealt_cards} cards to deal and after them one that may start, got {len(deck)}"
        )


def only(fields: Mapping[str, object], known: frozenset[str], where: str) -> None:
    """Raises PositionError at a field that is not known."""
    for name in fields:
        if name not in known:
            raise PositionError(f"{where}: unknown field {name!r}, expected {', '.join(sorted(known))}")


def cards_of(rules: Rules, value: object, where: str) -> list[str]:
    """A list of cards that the edition has."""
    if not isinstance(value, list):
        raise PositionError(f"{where}: expected a list of cards")
    for card in cast("list[object]", value):
        if not isinstance(card, str) or card not in ORDER:
            raise PositionError(f"{where}: {card!r} is not a card, expected codes as R7, GS or WD")
        if symbol(card) not in rules.edition.points and symbol(card) not in rules.edition.colored:
            raise PositionError(f"{where}: edition {rules.edition.name} has no card {card}")
    return cast("list[str]", value)


def hand_in(rules: Rules, value: object, where: str) -> list[str]:
    """A hand of a round that goes on: whoever had no card left would have ended it."""
    hand = cards_of(rules, value, where)
    if not hand:
        raise PositionError(f"{where}: expected at least one card, since a round ends with an empty hand")
    return hand


def number(value: object, least: int, most: int, where: str, but: int | None = None) -> int:
    """A whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most or value == but:
        expected = f"{least} or {most}" if but is not None else f"a whole number from {least} to {most}"
        raise PositionError(f"{where}: {value!r}, expected {expected}")
    return value


def seed_of(value: object, where: str) -> str:
    """A seed."""
    if not isinstance(value, str) or not SEED.fullmatch(value):
        raise PositionError(f"{where}: {value!r}, expected 1 to 64 characters of 0-9 A-Z a-z . _ -")
    return value


def scores_of(value: object, seats: int) -> list[int]:
    """One score a seat, 0 by default."""
    if value is None:
        return [0] * seats
    if not isinstance(value, list) or len(cast("list[object]", value)) != seats:
        raise PositionError(f"setup.scores: expected a list of {seats} whole numbers")
    return [number(score, -1_000_000, 1_000_000, "setup.scores") for score in cast("list[object]", value)]


def color_of(value: object, top: str) -> str:
    """The active color: that of the top card; under a wild it has to be given."""
    if value is None and not is_wild(top):
        return top[0]
    if not isinstance(value, str) or len(value) != 1 or value not in COLORS:
        raise PositionError(f"setup.color: {value!r} under the top card {top}, expected R, G, B or Y")
    if not is_wild(top) and value != top[0]:
        raise PositionError(f"setup.color: {value!r} under the top card {top}, expected its color {top[0]}")
    return value


def launcher_of(rules: Rules, setup: Mapping[str, object]) -> list[int]:
    """What the next presses eject."""
    given = setup.get("launcher", [])
    if not isinstance(given, list):
        raise PositionError("setup.launcher: expected a list of the cards that each press ejects")
    if given and not rules.supply.launches:
        raise PositionError("setup.launcher: this edition has no launcher, expected no presses")
    return [number(count, 0, 1_000, "setup.launcher") for count in cast("list[object]", given)]
