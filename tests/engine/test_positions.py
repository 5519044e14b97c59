"""Positions: what may be set up, what everything is by default, and errors that name field and expectation."""

import re
from typing import Any

import pytest

from lastcard.engine import LastcardError, Match, PositionError, Rules, from_setup

GOOD: dict[str, Any] = {"hands": [["R1", "WI"], ["B2"], ["G3"]], "discard_pile": ["Y4"]}
DECK = ["R1", "B1"] * 7 + ["GD", "Y1", "Y2", "Y3"]
DEAL: dict[str, Any] = {"seats": 2, "dealer": 0, "deck": DECK}


def opened(setup: dict[str, Any], name: str = "mario-kart", **options: Any) -> Match:
    return from_setup(Rules.of(name, options), setup)[0]


def test_what_a_position_is_by_default() -> None:
    match = opened(GOOD)
    assert [match.hand_of(seat) for seat in range(3)] == [["R1", "WI"], ["B2"], ["G3"]]
    assert (match.top, match.color, match.direction, match.dealer, match.turn) == ("Y4", "Y", 1, 0, 0)
    assert (match.draw_pile_order(), match.discard_codes()) == ([], ["Y4"])
    assert (match.scores, match.press, match.seed, match.round) == ([0, 0, 0], 0, "0", 1)
    assert match.decision is not None
    assert (match.decision.kind, match.decision.seats) == ("turn", (0,))
    assert match.view(0)["before"] == 2, "the seat before has gone"
    match.check_cards()


def test_everything_in_a_position_can_be_given() -> None:
    given = {
        "draw_pile": ["R5", "G1", "R5"], "discard_pile": ["B1", "WD"], "color": "G", "direction": -1, "dealer": 2,
        "turn": 1, "scores": [-3, 0, 499], "launcher": [], "press": 3, "seed": "abc", "ply": 0,
    }  # fmt: skip
    match = opened(GOOD | given)
    assert (match.top, match.color, match.direction, match.dealer, match.turn) == ("WD", "G", -1, 2, 1)
    assert (match.draw_pile_order(), match.discard_codes()) == (["R5", "G1", "R5"], ["B1", "WD"])
    assert (match.scores, match.press, match.seed) == ([-3, 0, 499], 3, "abc")
    assert match.view(1)["before"] is None, "ply 0: nobody has gone"
    match.check_cards()


MIDDLE_FIELDS = "color, dealer, direction, discard_pile, draw_pile, hands, launcher, ply, press, scores, seed, turn"
BAD: list[tuple[str, dict[str, Any], str]] = [
    ("no hands", {"discard_pile": ["Y4"]}, "setup.hands: expected a list of 2 to 10 hands"),
    ("hands no list", GOOD | {"hands": "R1"}, "setup.hands: expected a list of 2 to 10 hands"),
    ("one hand", GOOD | {"hands": [["R1"]]}, "setup.hands: expected a list of 2 to 10 hands"),
    ("eleven hands", GOOD | {"hands": [["R1"]] * 11}, "setup.hands: expected a list of 2 to 10 hands"),
    ("a hand no list", GOOD | {"hands": [["R1"], "B2"]}, "setup.hands[1]: expected a list of cards"),
    ("an empty hand", GOOD | {"hands": [["R1"], []]},
     "setup.hands[1]: expected at least one card, since a round ends with an empty hand"),
    ("another color than the top card's", GOOD | {"color": "R"},
     "setup.color: 'R' under the top card Y4, expected its color Y"),
    ("no card", GOOD | {"hands": [["R1"], ["r2"]]},
     "setup.hands[1]: 'r2' is not a card, expected codes as R7, GS or WD"),
    ("a number", GOOD | {"hands": [["R1"], [7]]}, "setup.hands[1]: 7 is not a card, expected codes as R7, GS or WD"),
    ("another edition's card", GOOD | {"draw_pile": ["R1", "W"]}, "setup.draw_pile: edition mario-kart has no card W"),
    ("another family's card", GOOD | {"draw_pile": ["RH"]}, "setup.draw_pile: edition mario-kart has no card RH"),
    ("draw pile null", GOOD | {"draw_pile": None}, "setup.draw_pile: expected a list of cards"),
    ("no discard pile", {"hands": GOOD["hands"]}, "setup.discard_pile: expected a list of cards"),
    ("empty discard pile", GOOD | {"discard_pile": []},
     "setup.discard_pile: expected at least one card, the top card last"),
    ("no color under a wild", GOOD | {"discard_pile": ["WI"]},
     "setup.color: None under the top card WI, expected R, G, B or Y"),
    ("no such color", GOOD | {"color": "P"}, "setup.color: 'P' under the top card Y4, expected R, G, B or Y"),
    ("two colors", GOOD | {"color": "RG"}, "setup.color: 'RG' under the top card Y4, expected R, G, B or Y"),
    ("empty color", GOOD | {"color": ""}, "setup.color: '' under the top card Y4, expected R, G, B or Y"),
    ("no direction", GOOD | {"direction": 0}, "setup.direction: 0, expected -1 or 1"),
    ("wide direction", GOOD | {"direction": 2}, "setup.direction: 2, expected -1 or 1"),
    ("direction true", GOOD | {"direction": True}, "setup.direction: True, expected -1 or 1"),
    ("no such dealer", GOOD | {"dealer": 3}, "setup.dealer: 3, expected a whole number from 0 to 2"),
    ("no such turn", GOOD | {"turn": -1}, "setup.turn: -1, expected a whole number from 0 to 2"),
    ("turn a text", GOOD | {"turn": "1"}, "setup.turn: '1', expected a whole number from 0 to 2"),
    ("too few scores", GOOD | {"scores": [0, 0]}, "setup.scores: expected a list of 3 whole numbers"),
    ("scores no list", GOOD | {"scores": 0}, "setup.scores: expected a list of 3 whole numbers"),
    ("a score no number", GOOD | {"scores": [0, 0.5, 0]},
     "setup.scores: 0.5, expected a whole number from -1000000 to 1000000"),
    ("no seed", GOOD | {"seed": ""}, "setup.seed: '', expected 1 to 64 characters of 0-9 A-Z a-z . _ -"),
    ("a seed of numbers", GOOD | {"seed": 5}, "setup.seed: 5, expected 1 to 64 characters of 0-9 A-Z a-z . _ -"),
    ("negative press", GOOD | {"press": -1}, "setup.press: -1, expected a whole number from 0 to 1000000"),
    ("ply a text", GOOD | {"ply": "0"}, "setup.ply: '0', expected a whole number from 0 to 1000000"),
    ("a launcher where there is none", GOOD | {"launcher": [1, 0]},
     "setup.launcher: this edition has no launcher, expected no presses"),
    ("unknown field", GOOD | {"hand": []}, f"setup: unknown field 'hand', expected {MIDDLE_FIELDS}"),
    ("deal and more", {"deal": DEAL, "turn": 0}, "setup: unknown field 'turn', expected deal, launcher, scores"),
    ("deal no object", {"deal": 5}, "setup.deal: expected an object"),
    ("unknown field of a deal", {"deal": DEAL | {"turn": 0}},
     "setup.deal: unknown field 'turn', expected dealer, deck, round, seats, seed"),
    ("no seats", {"deal": {"seed": "a"}}, "setup.deal.seats: None, expected a whole number from 2 to 10"),
    ("one seat", {"deal": {"seed": "a", "seats": 1}}, "setup.deal.seats: 1, expected a whole number from 2 to 10"),
    ("no such dealer of a deal", {"deal": DEAL | {"dealer": 2}},
     "setup.deal.dealer: 2, expected a whole number from 0 to 1"),
    ("round 0", {"deal": DEAL | {"round": 0}}, "setup.deal.round: 0, expected a whole number from 1 to 1000000"),
    ("bad seed of a deal", {"deal": {"seed": "a b", "seats": 2}},
     "setup.deal.seed: 'a b', expected 1 to 64 characters of 0-9 A-Z a-z . _ -"),
    ("deck no list", {"deal": DEAL | {"deck": None}}, "setup.deal.deck: expected a list of cards"),
    ("short deck", {"deal": DEAL | {"deck": DECK[:14]}},
     "setup.deal.deck: expected 14 cards to deal and after them one that may start, got 14"),
    ("no card that may start", {"deal": DEAL | {"deck": [*DECK[:14], "WD", "WD"]}},
     "setup.deal.deck: expected 14 cards to deal and after them one that may start, got 16"),
    ("no such card in the deck", {"deal": DEAL | {"deck": [*DECK, "W"]}},
     "setup.deal.deck: edition mario-kart has no card W"),
    ("too few scores of a deal", {"deal": DEAL, "scores": [1]}, "setup.scores: expected a list of 2 whole numbers"),
    ("a launcher with a deal", {"deal": DEAL, "launcher": [3]},
     "setup.launcher: this edition has no launcher, expected no presses"),
]  # fmt: skip


@pytest.mark.parametrize(("setup", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_positions_say_what_is_wrong(setup: dict[str, Any], message: str) -> None:
    with pytest.raises(PositionError, match=f"^{re.escape(message)}$"):
        opened(setup)
    assert issubclass(PositionError, LastcardError)


# --- deals


def test_a_stacked_deck_is_dealt_from_its_front() -> None:
    deck = [f"{color}{number}" for number in range(1, 8) for color in "RGB"] + ["Y1", "Y2", "Y3"]
    match, events = from_setup(
        Rules.of("classic"), {"deal": {"seats": 3, "dealer": 1, "deck": deck}, "scores": [1, 2, 3]}
    )
    assert [event["type"] for event in events] == ["round", "deal", "deal", "deal", "start_card"]
    assert [match.hand_of(seat)[0] for seat in (2, 0, 1)] == ["R1", "G1", "B1"]
    assert (match.top, match.draw_pile_order(), match.scores) == ("Y1", ["Y2", "Y3"], [1, 2, 3])
    assert match.view(2)["before"] is None, "nobody has gone in a round just dealt"


def test_without_a_dealer_the_draw_for_dealer_is_part_of_the_deal() -> None:
    deck = ["R3", "BS", "G8", *["Y1"] * 18, "Y2", "Y3"]
    match, events = from_setup(Rules.of("classic"), {"deal": {"seats": 3, "deck": deck}})
    assert events[0] == {"type": "dealer_draw", "cards": [(0, "R3"), (1, "BS"), (2, "G8")], "dealer": 2}
    assert match.hand_of(0)[0] == "R3", "the same deck is dealt after it"


def test_a_deal_from_a_seed_is_the_deal_of_a_match() -> None:
    match = Match(Rules.of("mario-kart"), 4, "0123456789abcdef")
    events = match.deal()
    assert from_setup(Rules.of("mario-kart"), {"deal": {"seed": "0123456789abcdef", "seats": 4}})[1] == events
    with_dealer = {"deal": {"seed": "0123456789abcdef", "seats": 4, "dealer": match.dealer}}
    assert from_setup(Rules.of("mario-kart"), with_dealer)[1] == events[1:]


def test_a_deal_may_be_of_any_round() -> None:
    first, second = (
        from_setup(Rules.of("classic"), {"deal": {"seed": "s", "seats": 2, "dealer": 0, "round": number}})
        for number in (1, 7)
    )
    assert second[1][0] == {"type": "round", "round": 7, "dealer": 0}
    assert first[1][1:] != second[1][1:]


def test_a_match_goes_on_after_a_position_with_the_whole_deck() -> None:
    """The cards of a position need not be a deck; the next round is dealt as any other."""
    match = opened({"hands": [["R1"], ["B2"]], "discard_pile": ["R9"]}, rounds=2)
    match.act({0: "play R1"})
    assert not match.over
    match.deal()
    match.check_cards()
    assert match.round == 2
    assert all(len(match.hand_of(seat)) >= 7 for seat in range(2))
    assert len(match.rules.deck.cards) == 112


def test_rules_are_not_changed_by_a_position() -> None:
    rules = Rules.of("classic")
    from_setup(rules, {"hands": [["R1"], ["B2"]], "discard_pile": ["R9"]})
    assert len(rules.deck.cards) == 108
