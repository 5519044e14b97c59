"""How rounds and matches end: who scores, who deals next, for which reason, and the places (spec.md 2.11, 2.12)."""

from typing import Any

import pytest

from lastcard.engine import Event, Match, Rules, from_setup
from lastcard.engine.endings import places
from lastcard.engine.scoring import ranks

LONG = ["B1"] * 4


def finish(
    options: dict[str, Any], scores: list[int], hands: list[list[str]] | None = None
) -> tuple[Match, list[Event]]:
    """Seat 0 goes out at once; the others hold the hands, or one card worth 1 each."""
    others = hands if hands is not None else [["B1"] for _ in scores[1:]]
    setup = {"hands": [["R1"], *others], "discard_pile": ["R9"], "draw_pile": LONG, "scores": scores}
    match, _ = from_setup(Rules.of("classic", options), setup)
    return match, match.act({0: "play R1"})


ENDS: list[tuple[str, dict[str, Any], list[int], str | None, list[int] | None]] = [
    ("target reached exactly", {"target": 500}, [498, 0, 499], "target", [1, 3, 2]),
    ("target passed", {"target": 500}, [499, 0, 0], "target", [1, 2, 2]),
    ("target not reached", {"target": 500}, [497, 0, 499], None, None),
    ("last of the rounds", {"rounds": 1}, [0, 7, 5], "rounds", [3, 1, 2]),
    ("not the last of the rounds", {"rounds": 2}, [0, 7, 5], None, None),
    ("a tie at the last of the rounds stands", {"rounds": 1}, [0, 2, 2], "rounds", [1, 1, 1]),
    ("most rounds", {"target": 500, "max_rounds": 1}, [0, 7, 5], "max_rounds", [3, 1, 2]),
    ("target and most rounds at once", {"target": 500, "max_rounds": 1}, [498, 0, 0], "target", [1, 2, 2]),
    ("rounds and most rounds at once", {"rounds": 1, "max_rounds": 1}, [0, 0, 0], "rounds", [1, 2, 2]),
    # plus_minus: seat 0 wins 2, the others lose 1
    ("plus and minus", {"scoring": "plus_minus", "rounds": 1}, [0, 4, 0], "rounds", [2, 1, 3]),
    ("plus and minus, a tie", {"scoring": "plus_minus", "rounds": 1}, [0, 3, 0], None, None),
    ("plus and minus, a tie behind", {"scoring": "plus_minus", "rounds": 1}, [1, 3, 3], "rounds", [1, 2, 2]),
    ("plus and minus, a tie at the target", {"scoring": "plus_minus", "target": 9}, [7, 10, 0], None, None),
    ("plus and minus, most rounds end a tie", {"scoring": "plus_minus", "rounds": 1, "max_rounds": 1}, [0, 3, 0],
     "max_rounds", [1, 1, 3]),
    # penalty_lowest: the others score 1
    ("penalties", {"scoring": "penalty_lowest", "target": 500}, [0, 499, 3], "target", [1, 3, 2]),
    ("penalties below the target", {"scoring": "penalty_lowest", "target": 500}, [0, 498, 3], None, None),
    ("penalties, a tie for the lowest", {"scoring": "penalty_lowest", "target": 500}, [2, 499, 1], None, None),
    ("penalties, a tie behind", {"scoring": "penalty_lowest", "target": 500}, [2, 499, 499], "target", [1, 2, 2]),
    ("penalties, rounds", {"scoring": "penalty_lowest", "rounds": 1}, [7, 3, 5], "rounds", [3, 1, 2]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "scores", "why", "ranked"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS]
)
def test_a_match_ends_for_one_reason(
    options: dict[str, Any], scores: list[int], why: str | None, ranked: list[int] | None
) -> None:
    match, events = finish(options, scores)
    assert match.reason == why
    assert match.places == ranked
    assert match.over == (ranked is not None)
    assert match.decision is None
    last = events[-1]
    if ranked is None:
        assert last["type"] == "round_end"
    else:
        assert last == {"type": "match_end", "places": ranked, "scores": match.scores, "reason": why}


POINTS: list[tuple[str, list[int]]] = [
    ("winner_collects", [20 + 50 + 7 + 3, 0, 0]),
    ("plus_minus", [80, -70, -10]),
    ("penalty_lowest", [0, 70, 10]),
]


@pytest.mark.parametrize(("scoring", "points"), POINTS)
def test_points_of_a_round(scoring: str, points: list[int]) -> None:
    match, events = finish({"scoring": scoring}, [100, 200, 300], [["GS", "W"], ["B7", "B3"]])
    assert events[-1] == {
        "type": "round_end", "winner": 0, "reason": "out", "hands": [[], ["GS", "W"], ["B3", "B7"]], "points": points,
    }  # fmt: skip
    assert match.scores == [old + new for old, new in zip([100, 200, 300], points, strict=True)]


# --- rounds without a winner. With a cap of one turn every round is over when its first turn is.


def capped(**options: Any) -> Match:
    return Match(Rules.of("mario-kart", {"turn_cap": 1, "start_cards": "numbers_only", **options}), 3, "void")


def one_round(match: Match) -> list[Event]:
    events = match.deal()
    while (decision := match.decision) is not None:
        assert decision.kind in ("turn", "drawn")
        events += match.act({seat: match.legal(seat)[-1] for seat in decision.seats})
    return events


def test_a_round_without_winner_scores_nothing_and_is_dealt_again_by_its_dealer() -> None:
    match = capped(void_limit=5)
    first, second = one_round(match), one_round(match)
    dealer = next(event["dealer"] for event in first if event["type"] == "dealer_draw")
    rounds = [event for event in first + second if event["type"] == "round"]
    assert rounds == [
        {"type": "round", "round": 1, "dealer": dealer},
        {"type": "round", "round": 2, "dealer": dealer},
    ]
    assert not [event for event in second if event["type"] == "dealer_draw"]
    ends = [event for event in first + second if event["type"] == "round_end"]
    assert [(event["winner"], event["reason"], event["points"]) for event in ends] == [
        (None, "turn_cap", [0, 0, 0])
    ] * 2
    deals = [[event for event in events if event["type"] == "deal"] for events in (first, second)]
    assert deals[0] != deals[1], "a void round has a deal of its own"


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_void_rounds_in_a_row_end_the_match(limit: int) -> None:
    match = capped(void_limit=limit)
    for number in range(1, limit + 1):
        assert not match.over
        events = one_round(match)
        assert match.round == number
    assert events[-1] == {"type": "match_end", "places": [1, 1, 1], "scores": [0, 0, 0], "reason": "void_limit"}


def test_void_rounds_count_as_rounds_dealt() -> None:
    match = capped(void_limit=9, max_rounds=4)
    for _ in range(4):
        one_round(match)
    assert (match.round, match.reason) == (4, "max_rounds")


def test_void_rounds_do_not_count_towards_rounds_and_a_winner_begins_their_count_anew() -> None:
    match = capped(void_limit=2, rounds=2)
    for wins in (False, True, False, True):
        match.turn_cap = 1
        match.rules.blocked_round = "lowest_hand_wins" if wins else "void"
        one_round(match)
        assert (match.round_winner is not None) == wins, "a seed without a tie for the lowest hand"
    assert (match.round, match.reason) == (4, "rounds")


@pytest.mark.parametrize("option", ["left", "round_winner"])
def test_next_dealer_after_a_round_with_winner(option: str) -> None:
    """MK-13, AMB-17."""
    match = capped(blocked_round="lowest_hand_wins", next_dealer=option, max_rounds=8)
    dealers, winners = list[int](), list[int | None]()
    while not match.over:
        events = one_round(match)
        dealers += [event["dealer"] for event in events if event["type"] == "round"]
        winners.append(match.round_winner)
    for place, winner in enumerate(winners[:-1]):
        following = {"left": (dealers[place] + 1) % 3, "round_winner": winner}[option]
        assert dealers[place + 1] == (dealers[place] if winner is None else following)
    assert len(set(dealers)) > 1


BLOCKED: list[tuple[str, list[list[str]], int | None]] = [
    ("void", [["B1"], ["B2"], ["B3"]], None),
    ("lowest_hand_wins", [["B4"], ["B2"], ["B3"]], 1),
    ("lowest_hand_wins", [["B1", "B1"], ["BS"], ["B3"]], 0),
    ("lowest_hand_wins", [["B2"], ["B2"], ["B3"]], None),
    ("lowest_hand_wins", [["B0"], ["B2"], ["B2"]], 0),
]


@pytest.mark.parametrize(("option", "hands", "winner"), BLOCKED)
def test_a_round_is_blocked_when_all_in_turn_have_passed(
    option: str, hands: list[list[str]], winner: int | None
) -> None:
    """AMB-32, AMB-33: nothing to draw, nothing to lay."""
    rules = Rules.of("classic", {"blocked_round": option, "void_limit": 9})
    match, _ = from_setup(rules, {"hands": hands, "discard_pile": ["R9"]})
    assert match.act({0: "draw"}) == []
    assert match.act({1: "draw"}) == []
    worth = [sum(20 if card == "BS" else int(card[1]) for card in hand) for hand in hands]
    points = [0, 0, 0]
    if winner is not None:
        points[winner] = sum(worth) - worth[winner]
    assert match.act({2: "draw"}) == [
        {"type": "round_end", "winner": winner, "reason": "blocked", "hands": hands, "points": points}
    ]
    assert match.scores == points


def test_a_card_laid_begins_the_count_of_passes_anew() -> None:
    hands = [["B1", "B5"], ["B2", "B6"], ["R3", "B4", "B7"]]
    match, _ = from_setup(Rules.of("classic"), {"hands": hands, "discard_pile": ["R9"]})
    for seat, action in [(0, "draw"), (1, "draw"), (2, "play R3"), (0, "draw"), (1, "draw"), (2, "draw")]:
        match.act({seat: action})  # seat 0 draws the R9 from under the R3, and may play it
        if match.decision is not None and match.decision.kind == "drawn":
            match.act({seat: "keep"})
    assert match.decision is not None
    assert match.act({0: "draw"})[-1]["type"] == "round_end"


def test_the_cap_is_looked_at_when_a_turn_ends() -> None:
    """Details 1: an extra turn counts, and the play that goes out wins though it is one too many."""
    setup = {"hands": [["WI", "R1"], ["B2", "B6"]], "draw_pile": ["R5", "G1"], "discard_pile": ["Y4"]}
    match, _ = from_setup(Rules.of("mario-kart", {"turn_cap": 2}), setup)
    match.act({0: "play WI uno"})
    assert match.act({0: "play R1"})[-1]["type"] == "round_end"
    assert match.round_winner == 0
    match, _ = from_setup(Rules.of("mario-kart", {"turn_cap": 1}), setup)
    assert match.act({0: "play WI uno"})[-1] == {
        "type": "round_end", "winner": None, "reason": "turn_cap", "hands": [["R1"], ["B2", "B6"]], "points": [0, 0],
    }  # fmt: skip


# --- forfeit


def test_the_last_seat_wins_the_round_and_the_match_ends_though_others_have_more() -> None:
    match, _ = from_setup(
        Rules.of("classic", {"target": 500}),
        {
            "hands": [["R1", "R2"], ["W", "G2"], ["B5"]],
            "discard_pile": ["R9"],
            "draw_pile": LONG,
            "scores": [3, 400, 99],
        },
    )
    assert match.forfeit(1, "crash") == [{"type": "forfeit", "seat": 1, "why": "crash"}]
    assert match.forfeit(0, "timeout") == [
        {"type": "forfeit", "seat": 0, "why": "timeout"},
        {
            "type": "round_end", "winner": 2, "reason": "forfeit", "hands": [["R1", "R2"], ["G2", "W"], ["B5"]],
            "points": [0, 0, 55],
        },
        {"type": "match_end", "places": [2, 2, 1], "scores": [3, 400, 154], "reason": "forfeit"},
    ]  # fmt: skip


# --- places

PLACES: list[tuple[str, list[int], set[int], list[int]]] = [
    ("winner_collects", [9, 5, 5, 1], set(), [1, 2, 2, 4]),
    ("winner_collects", [1, 5, 5, 9], set(), [4, 2, 2, 1]),
    ("winner_collects", [5, 5, 5, 5], set(), [1, 1, 1, 1]),
    ("winner_collects", [5, 9, 9, 5], set(), [3, 1, 1, 3]),
    ("plus_minus", [-5, 0, 3, -9], set(), [3, 2, 1, 4]),
    ("penalty_lowest", [9, 5, 5, 1], set(), [4, 2, 2, 1]),
    ("winner_collects", [9, 5, 5, 1], {0}, [4, 1, 1, 3]),
    ("winner_collects", [9, 5, 5, 1], {0, 1}, [3, 3, 1, 2]),
    ("penalty_lowest", [1, 5, 7, 9], {0, 2}, [3, 1, 3, 2]),
    ("winner_collects", [9, 5, 5, 1], {0, 1, 2}, [2, 2, 2, 1]),
]


@pytest.mark.parametrize(("scoring", "scores", "out", "expected"), PLACES)
def test_places_are_competition_ranks_and_forfeited_seats_share_the_last(
    scoring: str, scores: list[int], out: set[int], expected: list[int]
) -> None:
    match = Match(Rules.of("classic", {"scoring": scoring}), 4, "s")
    match.scores, match.out = scores, frozenset(out)
    assert places(match) == expected


def test_ranks() -> None:
    assert ranks([(True, 0), (False, 1), (False, 2), (False, 2)]) == [4, 1, 2, 2]
    assert ranks([]) == []
