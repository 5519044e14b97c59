"""Chains of extra cards and what may stand at their end: with two players, under stacking, with an empty launcher.

The rules themselves are in the vectors; here are the corners in which rules meet (details 7, CL-14, AMB-26, AMB-32).
"""

from typing import Any

import pytest

from lastcard.engine import Event, Match, PositionError, Rules, from_setup

TWO = [["RS", "GS", "GH", "G1", "R2"], ["BH", "GH", "B1", "B2"]]
Steps = list[tuple[int, str]]


def opened(name: str = "attack", *, options: dict[str, Any] | None = None, **setup: Any) -> Match:
    position = {"discard_pile": ["R9"], "draw_pile": ["B6", "B7", "B8", "Y9"], "launcher": [0] * 20} | setup
    return from_setup(Rules.of(name, options or {}), position)[0]


def played(match: Match, steps: Steps) -> list[Event]:
    told: list[Event] = []
    for seat, action in steps:
        told = match.act({seat: action})
        match.check_cards()
    return told


def asked(match: Match) -> tuple[str, tuple[int, ...]]:
    decision = match.decision
    return (decision.kind, decision.seats) if decision is not None else ("over", ())


CHAINS: dict[str, tuple[dict[str, Any], Steps, tuple[str, tuple[int, ...]], list[str]]] = {
    "two players: the turn comes back after any number of skips": (
        {"hands": TWO},
        [(0, "play RS"), (0, "play GS"), (0, "stop")],
        ("turn", (0,)),
        ["play G1", "play GH", "draw"],
    ),
    "two players: under stacking the opponent answers a Hit though a Skip came before it": (
        {"hands": TWO, "options": {"stacking": "same"}},
        [(0, "play RS"), (0, "play GS"), (0, "play GH")],
        ("turn", (1,)),
        ["play GH", "play BH", "draw"],
    ),
    "two players: who does not answer presses and gives the turn back": (
        {"hands": TWO, "options": {"stacking": "same"}},
        [(0, "play RS"), (0, "play GS"), (0, "play GH"), (1, "draw")],
        ("turn", (0,)),
        ["play G1", "draw"],
    ),
    "three players: under stacking the seat found answers": (
        {"hands": [*TWO, ["YH", "Y1"]], "options": {"stacking": "cross"}},
        [(0, "play RS"), (0, "play GS"), (0, "play GH")],
        ("turn", (0,)),
        ["draw"],
    ),
    "two players: a full turn in place of an extra card": (
        {"hands": TWO, "options": {"two_player_extra": "turn"}},
        [(0, "play RS")],
        ("turn", (0,)),
        ["play R2", "play GS", "draw"],
    ),
    "two players: without extra cards a Skip still gives the turn back": (
        {"hands": TWO, "options": {"extra_card": "never"}},
        [(0, "play RS")],
        ("turn", (0,)),
        ["play R2", "play GS", "draw"],
    ),
    "nothing to add: nobody is asked": (
        {"hands": [["RS", "B1", "B2"], ["R1", "R2"], ["G1", "R3"]]},
        [(0, "play RS")],
        ("turn", (2,)),
        ["play R3", "draw"],
    ),
    "Trade Hands alone in hand is no extra card": (
        {"edition": "attack-trade-hands", "hands": [["RS", "RT"], ["R1", "R2"], ["G1", "R3"]]},
        [(0, "play RS uno")],
        ("turn", (2,)),
        ["play R3", "draw"],
    ),
    "Trade Hands as the last extra card wins where it may, and nobody trades": (
        {
            "edition": "attack-trade-hands",
            "options": {"trade_last": "wins"},
            "hands": [["RS", "RT"], ["R1", "R2"], ["G1", "R3"]],
        },
        [(0, "play RS uno"), (0, "play RT")],
        ("over", ()),
        [],
    ),
    "a card of a trade that comes alone needs no call": (
        {"edition": "attack-trade-hands", "hands": [["RT", "B1", "B2"], ["R1"], ["G1", "R3"]]},
        [(0, "play RT"), (0, "target 1")],
        ("turn", (1,)),
        ["draw"],
    ),
    "nobody to trade with, one card left and not called: caught": (
        {"edition": "attack-trade-hands", "hands": [["RT", "B1"], ["R1"], ["G1", "R3"]]},
        [(0, "play RT"), (0, "target none")],
        ("catch", (1, 2)),
        ["catch", "wait"],
    ),
    "Discard All down to one card without a call: caught": (
        {"hands": [["RA", "R1", "R2", "B1"], ["G1"], ["G2"]]},
        [(0, "play RA")],
        ("catch", (1, 2)),
        ["catch", "wait"],
    ),
    "Discard All down to none: out, whether called or not": (
        {"hands": [["RA", "R1", "R2"], ["G1"], ["G2"]]},
        [(0, "play RA uno")],
        ("over", ()),
        [],
    ),
    "All Hit refills the hand: no call was due": (
        {"edition": "attack-trade-hands", "hands": [["WX", "R1"], ["G1"], ["R2"]], "launcher": [0, 0, 1]},
        [(0, "play WX R")],
        ("turn", (1,)),
        ["draw"],
    ),
    "All Hit refills nothing: a call was due": (
        {"edition": "attack-trade-hands", "hands": [["WX", "R1"], ["G1"], ["R2"]], "launcher": [1, 1, 0]},
        [(0, "play WX R")],
        ("catch", (1, 2)),
        ["catch", "wait"],
    ),
    "All Hit as the last card: the others press and the round is over": (
        {"edition": "attack-trade-hands", "hands": [["WX"], ["G1"], ["R2"]], "launcher": [1, 1]},
        [(0, "play WX R")],
        ("over", ()),
        [],
    ),
    "Hit Fire loads the launcher again and ends with the last card there is, of whatever color": (
        {
            "edition": "attack-trade-hands",
            "options": {"hit_fire": "named_color"},
            "hands": [["WF", "G1", "G2"], ["Y1"], ["G3"]],
            "draw_pile": [],
            "launcher": [1],
        },
        [(0, "play WF G")],
        ("turn", (2,)),
        ["play G3", "draw"],
    ),
    "an attack that skips one gives the turn back with two players": (
        {"hands": [["WA", "R1", "R2"], ["G1"]], "options": {"attack_next": "skip_one"}},
        [(0, "play WA R"), (0, "target 1")],
        ("turn", (0,)),
        ["play R1", "play R2", "draw"],
    ),
}


@pytest.mark.parametrize("case", CHAINS)
def test_where_a_play_leads(case: str) -> None:
    fields, steps, decision, legal = CHAINS[case]
    setup = dict(fields)
    match = opened(setup.pop("edition", "attack"), options=setup.pop("options", None), **setup)
    played(match, steps)
    assert asked(match) == decision
    if legal:
        assert list(match.legal(decision[1][0])) == legal


def test_a_stack_behind_a_chain_is_pressed_once_and_by_the_opponent() -> None:
    match = opened(hands=TWO, options={"stacking": "same"}, launcher=[1, 1])
    told = played(match, [(0, "play RS"), (0, "play GS"), (0, "play GH"), (1, "draw")])
    assert [event for event in told if event["type"] != "draw"] == [
        {"type": "press", "seat": 1, "ejected": 1, "counter": 0},
        {"type": "press", "seat": 1, "ejected": 1, "counter": 0},
        {"type": "skip", "seat": 1},
    ]


def test_presses_of_a_stack_that_bring_nothing_are_no_pass_while_there_are_cards() -> None:
    """Details 1."""
    match = opened(hands=[["RH", "R1", "R2"], ["B1"], ["B2"]], options={"stacking": "same"})
    played(match, [(0, "play RH"), (1, "draw")])
    assert match.passes == 0


def test_a_chain_is_one_turn() -> None:
    match = opened(hands=[["RS", "GS", "G1", "G2", "R2"], ["B1"], ["B2"]], options={"turn_cap": 1})
    told = played(match, [(0, "play RS"), (0, "play GS"), (0, "play G1")])
    assert told[-1]["type"] == "round_end"
    assert match.turns == 1


@pytest.mark.parametrize("seats", [2, 3, 10])
def test_a_round_in_which_nobody_gets_a_card_from_the_launcher_is_blocked(seats: int) -> None:
    """AMB-32, AMB-33: nothing to eject and nothing to load. No script is needed for presses that can bring nothing."""
    match = opened(hands=[["B1"]] * seats, draw_pile=[], launcher=[])
    for seat in range(seats):
        told = match.act({seat: "draw"})
        assert told[0] == {"type": "press", "seat": seat, "ejected": 0, "counter": seat + 1}
    assert told[1:] == [
        {"type": "round_end", "winner": None, "reason": "blocked", "hands": [["B1"]] * seats, "points": [0] * seats}
    ]


def test_running_out_of_scripted_presses_is_an_error_where_there_are_cards() -> None:
    match = opened(hands=[["B1"], ["B2"]], launcher=[0])
    match.act({0: "draw"})
    with pytest.raises(PositionError, match=r"^launcher: press 2 is not scripted, expected a number of cards for it$"):
        match.act({1: "draw"})
