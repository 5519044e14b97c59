"""The editions as data: decks and points as the tables of rules.md 1, and effects that all exist."""

from collections import Counter

import pytest

from lastcard.engine import EDITIONS, Edition, NotationError, Rules
from lastcard.engine.cards import ORDER, Deck, is_number, is_wild, printed, symbol
from lastcard.engine.effects import EFFECTS, HOUSE
from lastcard.engine.starts import STARTS

by_edition = pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)

NUMBERS = dict.fromkeys("123456789", 2)
CLASSIC_COLOR = {"0": 1, **NUMBERS, "D": 2, "V": 2, "S": 2}
ATTACK_COLOR = {**NUMBERS, "H": 2, "V": 1, "S": 2, "A": 2}
TRADE_COLOR = {**NUMBERS, "H": 2, "V": 2, "S": 2, "A": 1, "T": 1}
KART_WILDS, ATTACK_WILDS = {"WD": 4, "WI": 8}, {"W": 4, "WA": 4, "WC": 3, "WH": 1}
DECKS: dict[str, tuple[int, int, dict[str, int], dict[str, int]]] = {  # MK-2, AT-2, CL-1
    "mario-kart": (112, 25, CLASSIC_COLOR, KART_WILDS),
    "mario-kart-jp": (112, 25, CLASSIC_COLOR, KART_WILDS),
    "attack": (112, 25, ATTACK_COLOR, ATTACK_WILDS),
    "attack-trade-hands": (112, 26, TRADE_COLOR, {"W": 4, "WX": 2, "WF": 2}),
    "attack-official": (112, 25, ATTACK_COLOR, ATTACK_WILDS),
    "classic": (108, 25, CLASSIC_COLOR, {"W": 4, "WD": 4}),
}
POINTS = {"S": 20, "V": 20, "D": 20, "H": 20, "A": 30, "T": 30, "WH": 40}
"""MK-53, AT-44, CL-22 and editions.md; a number is worth its face, any other wild 50."""


@pytest.mark.parametrize("name", DECKS)
def test_decks_are_those_of_the_tables(name: str) -> None:
    size, of_each_color, colored, wilds = DECKS[name]
    deck = Counter(EDITIONS[name].deck)
    assert deck.total() == size
    for color in "RGBY":
        assert {card[1:]: count for card, count in deck.items() if card[0] == color} == colored
        assert sum(count for card, count in deck.items() if card[0] == color) == of_each_color
    assert {card: count for card, count in deck.items() if card[0] == "W"} == wilds
    assert Counter(Rules.of(name).deck.cards) == deck


@pytest.mark.parametrize("count", range(4))
@pytest.mark.parametrize("name", [name for name, edition in EDITIONS.items() if "custom_count" in edition.options])
def test_as_many_customizable_are_in_the_deck_as_the_table_agrees(name: str, count: int) -> None:
    """AT-36, AMB-29."""
    plain = Counter({card: number for card, number in Counter(EDITIONS[name].deck).items() if card != "WC"})
    assert Counter(Rules.of(name, {"custom_count": count}).deck.cards) == plain + Counter({"WC": count})


@pytest.mark.parametrize("name", DECKS)
def test_points_are_those_of_the_tables(name: str) -> None:
    points = Rules.of(name).points
    assert points.keys() == set(EDITIONS[name].deck)
    for card, worth in points.items():
        kind = symbol(card)
        assert worth == (int(kind) if kind.isdigit() else POINTS.get(kind, 50))


def test_every_edition_is_in_the_tables() -> None:
    assert list(DECKS) == list(EDITIONS)


def test_a_full_deck_flips_items_as_often_as_the_table_says() -> None:
    """rules.md 1a: 25 of each colored item, 12 Bob-ombs."""
    edition = EDITIONS["mario-kart"]
    items = Counter(edition.items[card[0]][0] for card in edition.deck)
    assert items == {"mushroom": 25, "banana": 25, "shell": 25, "lightning": 25, "bobomb": 12}
    assert {color: effects[0] for color, effects in edition.items.items()} == {
        "R": "mushroom", "Y": "banana", "G": "shell", "B": "lightning", "W": "bobomb",
    }  # fmt: skip


def related(edition: Edition, other: Edition) -> bool:
    """Whether the two say what their cards do in the same tables, which then speak of all cards of both."""
    return edition.effects is other.effects


@by_edition
def test_everything_an_edition_names_exists(edition: Edition) -> None:
    symbols = {symbol(card) for card in edition.deck}
    family = {symbol(card) for other in EDITIONS.values() for card in other.deck if related(edition, other)}
    named = {name for names in (*edition.effects.values(), *edition.items.values()) for name in names}
    assert named <= EFFECTS.keys()
    assert set(edition.starts.values()) <= STARTS.keys()
    assert edition.effects.keys() <= family
    assert edition.starts.keys() <= family
    assert edition.never_start <= symbols
    assert edition.unnamed <= {card for card in symbols if is_wild(card)}
    assert edition.points.keys() == {one for one in family if not one.isdigit()}
    assert edition.items.keys() in (set(), {*"RGBYW"})
    assert edition.hand_size == 7  # MK-5, CL-1
    assert edition.title


@by_edition
def test_every_special_card_does_something_or_is_a_wild(edition: Edition) -> None:
    special = {symbol(card) for card in edition.deck if not is_number(card)}
    assert special - edition.effects.keys() <= {"W", "WC"}
    assert special - edition.starts.keys() - edition.never_start <= {"A", "T"}, "they start as plain cards"


def test_every_effect_is_used_by_an_edition_or_a_rule_of_the_house() -> None:
    used = {"catch"}
    for edition in EDITIONS.values():
        used |= {name for names in (*edition.effects.values(), *edition.items.values()) for name in names}
    for symbols in HOUSE.values():
        used |= {name for names in symbols.values() for name in names}
    assert used == set(EFFECTS)
    assert {start for edition in EDITIONS.values() for start in edition.starts.values()} | {"plain"} == set(STARTS)


def test_effects_go_by_their_own_names() -> None:
    assert {name: effect.name for name, effect in EFFECTS.items()} == {name: name for name in EFFECTS}


# --- cards and their order

PRINTED = "R0 R1 R1 R9 RS RV RD RH RA RT G0 B0 BT Y3 YD W W WD WI WH WA WF WX WC".split()


def test_printed_order() -> None:
    assert printed(reversed(PRINTED)) == PRINTED
    assert printed(set(ORDER)) == list(ORDER)
    assert len(ORDER) == 4 * 16 + 8


@pytest.mark.parametrize("card", ["", "R", "r7", "7R", "R10", "X1", "WW", "W D", "RW", "R7 ", "W0"])
def test_other_codes_are_no_cards(card: str) -> None:
    with pytest.raises(NotationError, match="is not a card: expected a color R G B Y with a symbol, or a wild"):
        Deck(["R1", card])


@by_edition
def test_a_deck_numbers_its_cards_in_printed_order(edition: Edition) -> None:
    deck = Deck(edition.deck)
    assert list(deck.cards) == printed(edition.deck)
    assert deck.codes(deck.everything) == list(deck.cards)
    assert deck.bits == tuple(sorted(deck.bits))
    assert sum(deck.bits) == deck.everything


def test_cards_taken_from_a_deck_are_all_different() -> None:
    deck = Deck(["R1", "R1", "W", "R1"])
    bits = list(deck.take(["R1", "W", "R1", "R1"], deck.everything))
    assert sorted(bits) == list(deck.bits)
    assert [deck.code[bit] for bit in bits] == ["R1", "W", "R1", "R1"]
