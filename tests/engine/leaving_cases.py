"""What becomes of a play or a decision whose seat leaves: the cases of `test_forfeits`, as data; plays nothing."""

from typing import Any

LEFT = "leaves"
WAIT = {1: "wait", 2: "wait"}
Steps = list[tuple[int, str] | dict[int, str]]
Case = tuple[dict[str, Any], Steps, list[dict[str, Any]], tuple[str, tuple[int, ...], list[str]]]
"""The position; answers, one who leaves, or the answers of several; what happened then; who is asked what."""

CASES: dict[str, Case] = {
    "one of those asked to catch: the others still are": (
        {"hands": [["R1", "G5"], ["B1", "B2"], ["Y1", "Y2"], ["G1", "G2"]]},
        [(0, "play R1"), (2, LEFT), {1: "wait", 3: "catch"}],
        [{"type": "caught", "seat": 0, "by": [3]}, {"type": "draw", "seat": 0, "count": 2, "why": "uno"}],
        ("turn", (1,), ["play B1", "draw"]),
    ),
    "who did not call: caught, and draws nothing": (
        {"hands": [["R1", "G5"], ["B1", "B2"], ["Y1", "Y2"]]},
        [(0, "play R1"), (0, LEFT), {1: "catch", 2: "wait"}],
        [{"type": "caught", "seat": 0, "by": [1]}],
        ("turn", (1,), ["play B1", "draw"]),
    ),
    "who may challenge: the Draw Four strikes nobody": (
        {"hands": [["WD", "R1", "R2"], ["B1", "B2"], ["Y1", "G2"]]},
        [(0, "play WD G"), (1, LEFT)],
        [],
        ("turn", (2,), ["play G2", "draw"]),
    ),
    "who may challenge a stacked Draw Four: the stack is gone": (
        {"hands": [["WD", "G1", "R2"], ["WD", "B2", "B3"], ["Y1", "G2"]], "options": {"stacking": "same"}},
        [(0, "play WD G"), (1, "accept"), (1, "play WD G"), (2, LEFT)],
        [],
        ("turn", (0,), ["play G1", "draw"]),
    ),
    "on whom a stack waits: it is gone": (
        {"hands": [["RD", "R1", "R2"], ["B1", "B2"], ["Y1", "R3"]], "options": {"stacking": "cross"}},
        [(0, "play RD"), (1, LEFT)],
        [],
        ("turn", (2,), ["play R3", "draw"]),
    ),
    "who laid a Draw Two without calling: it may still be stacked": (
        {"hands": [["RD", "R1"], ["BD", "B2"], ["Y1", "R3"]], "options": {"stacking": "same"}},
        [(0, "play RD"), (0, LEFT), WAIT],
        [],
        ("turn", (1,), ["play BD", "draw"]),
    ),
    "who laid a Draw Two without calling: it strikes": (
        {"hands": [["RD", "R1"], ["BD", "B2"], ["Y1", "R3"]]},
        [(0, "play RD"), (0, LEFT), WAIT],
        [{"type": "draw", "seat": 1, "count": 2, "why": "draw_two"}, {"type": "skip", "seat": 1}],
        ("turn", (2,), ["play R3", "draw"]),
    ),
    "who laid a Reverse without calling: the direction flips and nobody is skipped": (
        {"hands": [["RV", "R1"], ["B1", "B2"], ["Y1", "R3"]]},
        [(0, "play RV"), (0, LEFT), WAIT],
        [{"type": "reverse", "direction": -1}],
        ("turn", (2,), ["play R3", "draw"]),
    ),
    "who may choose a target: the last one is hit": (
        {"hands": [["WI", "R1", "R2"], ["B1", "B2"], ["Y1", "G2"]], "draw_pile": ["G5", "Y8", "Y9"]},
        [(0, "play WI"), (0, LEFT)],
        [{"type": "target", "seat": 0, "target": 2}, {"type": "draw", "seat": 2, "count": 1, "why": "shell"}],
        ("turn", (1,), ["draw"]),
    ),
    "who will choose a target when the catch is over: the last one is hit": (
        {"hands": [["WI", "R1"], ["B1", "B2"], ["Y1", "G2"]], "draw_pile": ["G5", "Y8", "Y9"]},
        [(0, "play WI"), (0, LEFT), WAIT],
        [{"type": "target", "seat": 0, "target": 2}, {"type": "draw", "seat": 2, "count": 1, "why": "shell"}],
        ("turn", (1,), ["draw"]),
    ),
    "who would have another turn: it passes on": (
        {"hands": [["WI", "R1"], ["B1", "R2"], ["Y1", "G2"]], "draw_pile": ["R5", "Y8", "Y9"]},
        [(0, "play WI"), (0, LEFT), WAIT],
        [],
        ("turn", (1,), ["play R2", "draw"]),
    ),
    "who names a color: it is the last one": (
        {"hands": [["WI", "R1", "R2"], ["B1", "Y2"], ["Y1", "G2"]], "draw_pile": ["WD", "B8", "B9"]},
        [(0, "play WI"), (0, LEFT)],
        [{"type": "color", "seat": 0, "color": "Y"}],
        ("turn", (1,), ["play Y2", "draw"]),
    ),
    "who has drawn a card: it goes with the hand": (
        {"hands": [["G1", "G2"], ["B1", "R2"], ["Y1", "G2"]], "draw_pile": ["R5", "B8"]},
        [(0, "draw"), (0, LEFT)],
        [],
        ("turn", (1,), ["play R2", "draw"]),
    ),
    "who was to be struck, before the play comes to that: the next one is": (
        {"hands": [["RD", "R1"], ["B1", "B2"], ["Y1", "Y2"], ["G1", "R3"]]},
        [(0, "play RD"), (1, LEFT), {2: "wait", 3: "wait"}],
        [{"type": "draw", "seat": 2, "count": 2, "why": "draw_two"}, {"type": "skip", "seat": 2}],
        ("turn", (3,), ["play R3", "draw"]),
    ),
    "offender of a Draw Four: found guilty, and draws nothing": (
        {"hands": [["WD", "R1", "R2"], ["B1", "G2"], ["Y1", "Y2"]]},
        [(0, "play WD G"), (0, LEFT), (1, "challenge")],
        [{"type": "challenge", "seat": 1, "of": 0, "guilty": True, "hand": ["R1", "R2"]}],
        ("turn", (1,), ["play G2", "draw"]),
    ),
    "everybody in turn has passed when the last one leaves: the round is blocked": (
        {"hands": [["B1", "B2"], ["B3", "B4"], ["Y1", "Y2"]], "draw_pile": []},
        [(0, "draw"), (1, "draw"), (2, LEFT)],
        [{"type": "round_end", "winner": None, "reason": "blocked"}],
        ("over", (), []),
    ),
    "who left has no lowest hand": (
        {
            "hands": [["B1", "B2"], ["B3", "B4"], ["Y1", "Y1"]],
            "draw_pile": [],
            "options": {"blocked_round": "lowest_hand_wins"},
        },
        [(0, "draw"), (1, "draw"), (2, LEFT)],
        [{"type": "round_end", "winner": 0, "reason": "blocked", "points": [9, 0, 0]}],
        ("over", (), []),
    ),
}


PRESSED_TWICE = [
    {"type": "press", "seat": 2, "ejected": 0, "counter": 1},
    {"type": "press", "seat": 2, "ejected": 1, "counter": 0},
]
"""The presses of an attack under the launcher of these cases, without the card that comes."""
CARD_OF_AN_ATTACK = {"type": "draw", "seat": 2, "count": 1, "why": "attack"}
ATTACK_CASES: dict[str, Case] = {
    "who may choose whom to attack: the last one is hit": (
        {"hands": [["WA", "R1", "R2"], ["B1", "R3"], ["Y1", "Y2"]]},
        [(0, "play WA R"), (0, LEFT)],
        [{"type": "target", "seat": 0, "target": 2}, *PRESSED_TWICE, CARD_OF_AN_ATTACK],
        ("turn", (1,), ["play R3", "draw"]),
    ),
    "who will attack when the catch is over: asked no more, and the last one is hit": (
        {"hands": [["WA", "R1"], ["B1", "R3"], ["Y1", "Y2"]]},
        [(0, "play WA R"), (0, LEFT), WAIT],
        [{"type": "target", "seat": 0, "target": 2}, *PRESSED_TWICE, CARD_OF_AN_ATTACK],
        ("turn", (1,), ["play R3", "draw"]),
    ),
    "who attacks with the last card: it hits, and nobody is out": (
        {"hands": [["WA"], ["B1", "R3"], ["Y1", "Y2"]]},
        [(0, "play WA R"), (0, LEFT)],
        [{"type": "target", "seat": 0, "target": 2}, *PRESSED_TWICE, CARD_OF_AN_ATTACK],
        ("turn", (1,), ["play R3", "draw"]),
    ),
    "who may trade: nobody is chosen": (
        {"edition": "attack-trade-hands", "hands": [["RT", "R1", "R2"], ["B1", "R3"], ["Y1", "Y2"]]},
        [(0, "play RT"), (0, LEFT)],
        [{"type": "target", "seat": 0, "target": None}],
        ("turn", (1,), ["play R3", "draw"]),
    ),
    "who has to trade: the hands stay where they are": (
        {
            "edition": "attack-trade-hands",
            "options": {"trade_hands": "must"},
            "hands": [["RT", "R1", "R2"], ["B1", "R3"], ["Y1", "Y2"]],
        },
        [(0, "play RT"), (0, LEFT)],
        [{"type": "target", "seat": 0, "target": 2}],
        ("turn", (1,), ["play R3", "draw"]),
    ),
    "who may add a card: none comes, and the next one still misses its turn": (
        {"hands": [["RS", "R1", "R2"], ["B1", "B2"], ["Y1", "R3"]]},
        [(0, "play RS"), (0, LEFT)],
        [{"type": "skip", "seat": 1}],
        ("turn", (2,), ["play R3", "draw"]),
    ),
    "who laid a Skip without calling: asked for no more card": (
        {"hands": [["RS", "R1"], ["B1", "B2"], ["Y1", "R3"]]},
        [(0, "play RS"), (0, LEFT), WAIT],
        [{"type": "skip", "seat": 1}],
        ("turn", (2,), ["play R3", "draw"]),
    ),
    "who was to miss a turn, in the middle of a chain: the next one does": (
        {"hands": [["RS", "R1", "R2"], ["B1", "B2"], ["Y1", "Y2"], ["G1", "R3"]]},
        [(0, "play RS"), (1, LEFT), (0, "stop")],
        [{"type": "skip", "seat": 2}],
        ("turn", (3,), ["play R3", "draw"]),
    ),
    "so many that two are left in a long chain: the one left misses a single turn": (
        {"hands": [["RS", "GS", "G1", "R2"], ["B1"], ["Y1"], ["R3"]]},
        [(0, "play RS"), (0, "play GS"), (1, LEFT), (2, LEFT), (0, "stop")],
        [{"type": "skip", "seat": 3}],
        ("turn", (0,), ["play G1", "draw"]),
    ),
    "so many that two are left in a long chain: a closing Hit strikes the one left": (
        {"hands": [["RS", "GS", "GH", "R2", "G1"], ["B1"], ["Y1"], ["R3"]]},
        [(0, "play RS"), (0, "play GS"), (1, LEFT), (2, LEFT), (0, "play GH")],
        [
            {"type": "play", "card": "GH"},
            {"type": "press", "seat": 3, "ejected": 0, "counter": 1},
            {"type": "press", "seat": 3, "ejected": 1, "counter": 0},
            {"type": "draw", "seat": 3, "count": 1, "why": "hit_two"},
            {"type": "skip", "seat": 3},
        ],
        ("turn", (0,), ["play G1", "draw"]),
    ),
    "who let all press: the others did already": (
        {"edition": "attack-trade-hands", "hands": [["WX", "R1"], ["B1", "R3"], ["Y1", "Y2"]], "launcher": [0, 0, 0]},
        [(0, "play WX R"), (0, LEFT), WAIT],
        [],
        ("turn", (1,), ["play R3", "draw"]),
    ),
    "who let the others press, before the play comes to that: they still do": (
        {
            "edition": "attack-trade-hands",
            "options": {"all_hit": "others"},
            "hands": [["WX", "R1"], ["B1", "R3"], ["Y1", "Y2"]],
        },
        [(0, "play WX R"), (0, LEFT), WAIT],
        [
            {"type": "press", "seat": 1, "ejected": 0, "counter": 1},
            {"type": "press", "seat": 2, "ejected": 1, "counter": 0},
            {"type": "draw", "seat": 2, "count": 1, "why": "all_hit"},
        ],
        ("turn", (1,), ["play R3", "draw"]),
    ),
    "who is caught: presses nothing": (
        {"hands": [["R5", "G5"], ["B1", "R3"], ["Y1", "Y2"]]},
        [(0, "play R5"), (0, LEFT), {1: "catch", 2: "catch"}],
        [{"type": "caught", "seat": 0, "by": [1, 2]}],
        ("turn", (1,), ["play R3", "draw"]),
    ),
}
