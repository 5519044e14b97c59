"""The vectors pass, and the runner that says so fails on every kind of wrong expectation. Knows no rule."""

import copy
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lastcard.engine import Event, Match
from lastcard.engine.vectors import VectorError, check, load

FOLDER = Path(__file__).resolve().parents[2] / "vectors"
FILES = sorted(FOLDER.glob("*.json"))
VECTORS = [vector for path in FILES for vector in load(path.read_text("utf-8"), path.name)]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_the_engine_agrees_with(vector: dict[str, Any]) -> None:
    assert check(vector) == []


def test_the_suite_is_there() -> None:
    assert len(VECTORS) > 400


def test_ids_are_names_and_no_two_are_alike() -> None:
    ids = [str(vector["id"]) for vector in VECTORS]
    assert [name for name in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []
    assert sorted(set(ids)) == sorted(ids)


def test_every_vector_names_rules_and_expects_something() -> None:
    lacking = [vector["id"] for vector in VECTORS if not vector["rules"] or not vector["then"]]
    assert lacking == []


# A vector with everything in it, which passes; each row of the table below spoils one expectation.
# Seat 0 lays its last but one card without calling, is caught, and seat 1 draws two and is skipped.
GOOD: dict[str, Any] = {
    "id": "good",
    "rules": ["MK-20"],
    "edition": "mario-kart",
    "options": {},
    "setup": {
        "hands": [["RD", "B2"], ["G2", "G3"], ["B4", "R5"]],
        "draw_pile": ["Y1", "Y2", "Y3", "Y4", "Y5"],
        "discard_pile": ["G7", "R7"],
        "scores": [1, 2, 3],
        "dealer": 2,
    },
    "steps": [
        {"seat": 0, "act": "play B2", "error": "illegal"},
        {"seat": 0, "kind": "turn", "legal": ["draw", "play RD"], "act": "play RD", "events": [{"type": "play"}]},
        {"seat": 2, "act": "draw", "error": "illegal"},
        {"seat": 2, "kind": "catch", "legal": ["catch", "wait"], "act": "catch"},
        {
            "seat": 1,
            "kind": "catch",
            "act": "wait",
            "events": [
                {"type": "caught", "seat": 0, "by": [2]},
                {"type": "draw", "seat": 0, "count": 2},
                {"type": "draw", "seat": 1, "cards": ["Y3", "Y4"]},
            ],
        },
    ],
    "then": {
        "kind": "turn",
        "seats": [2],
        "hands": [["Y2", "Y1", "B2"], ["G2", "G3", "Y3", "Y4"], ["R5", "B4"]],
        "top": "RD",
        "color": "R",
        "direction": 1,
        "draw_pile": ["Y5"],
        "discard_pile": ["G7", "R7", "RD"],
        "scores": [1, 2, 3],
        "press": 0,
        "round_winner": None,
        "dealer": 2,
    },
}

WRONG: dict[str, tuple[tuple[str | int, ...], object, str]] = {
    "kind of a step": (("steps", 1, "kind"), "drawn", "step 2: expected a decision 'drawn', got 'turn' of seats [0]"),
    "seat of a step": (("steps", 1, "seat"), 1, "step 2: expected seat 1 to be asked, got 'turn' of seats [0]"),
    "legal with one too many": (("steps", 1, "legal"), ["draw", "play RD", "play B2"], "step 2: legal: expected"),
    "legal with one too few": (("steps", 1, "legal"), ["draw"], "step 2: legal: expected"),
    "legal with none": (("steps", 1, "legal"), [], "step 2: legal: expected [], got"),
    "an act that is illegal": (("steps", 1, "act"), "play B2", "step 2: expected 'play B2' of seat 0 to be legal"),
    "an act in a catch that is illegal": (("steps", 3, "act"), "draw", "step 4: expected 'draw' of seat 2 to be legal"),
    "an error that is legal": (("steps", 0, "act"), "play RD", "step 1: expected 'play RD' of seat 0 to be refused"),
    "an error in a catch that is legal": (
        ("steps", 2, "act"),
        "wait",
        "step 3: expected 'wait' of seat 2 to be refused",
    ),
    "an event that did not happen": (("steps", 1, "events"), [{"type": "reverse"}], "step 2: expected the event"),
    "a field of an event": (("steps", 4, "events", 0, "by"), [1, 2], 'expected the event {"type": "caught"'),
    "a field that an event has not": (("steps", 4, "events", 0, "of"), 1, 'expected the event {"type": "caught"'),
    "the cards of an event": (("steps", 4, "events", 2, "cards"), ["Y4", "Y3"], "step 5: expected the event"),
    "events in another order": (
        ("steps", 4, "events"),
        [{"type": "draw", "seat": 1}, {"type": "caught"}],
        'step 5: expected the event {"type": "caught"}',
    ),
    "an event twice": (
        ("steps", 4, "events"),
        [{"type": "caught"}] * 2,
        'step 5: expected the event {"type": "caught"}',
    ),
    "events before the last answer": (("steps", 3, "events"), [{"type": "caught"}], "step 4: expected the event"),
    "then: kind": (("then", "kind"), "over", 'then: kind: expected "over", got "turn"'),
    "then: seats": (("then", "seats"), [0], "then: seats: expected [0], got [2]"),
    "then: no seats": (("then", "seats"), [], "then: seats: expected [], got [2]"),
    "then: a card too few in a hand": (("then", "hands", 0), ["B2", "Y1"], "then: hands: expected"),
    "then: a double in a hand": (("then", "hands", 0), ["B2", "Y1", "Y1"], "then: hands: expected"),
    "then: a hand too few": (("then", "hands"), [["B2", "Y1", "Y2"]], "then: hands: expected"),
    "then: top": (("then", "top"), "R7", 'then: top: expected "R7", got "RD"'),
    "then: color": (("then", "color"), "G", 'then: color: expected "G", got "R"'),
    "then: no color": (("then", "color"), None, 'then: color: expected null, got "R"'),
    "then: direction": (("then", "direction"), -1, "then: direction: expected -1, got 1"),
    "then: draw pile": (("then", "draw_pile"), [], 'then: draw_pile: expected [], got ["Y5"]'),
    "then: order of the discard pile": (("then", "discard_pile"), ["R7", "G7", "RD"], "then: discard_pile: expected"),
    "then: scores": (("then", "scores"), [0, 2, 3], "then: scores: expected [0, 2, 3], got [1, 2, 3]"),
    "then: press": (("then", "press"), 1, "then: press: expected 1, got 0"),
    "then: round winner": (("then", "round_winner"), 0, "then: round_winner: expected 0, got null"),
    "then: dealer": (("then", "dealer"), 0, "then: dealer: expected 0, got 2"),
    "an answer that is missing": (("steps", 4), ..., "then: malformed: the steps end while seats [1] still owe"),
    "a seat that answers twice": (
        ("steps", 4, "seat"),
        2,
        "step 5: expected seat 2 to be asked, got 'catch' of seats [1]",
    ),
    "another edition": (("edition",), "chess", "setup: there is no edition 'chess'"),
    "another option": (("options",), {"color": "pink"}, "setup: "),
    "another value of an option": (("options",), {"catch": "never"}, "setup: option catch"),
    "a setup that cannot be": (("setup", "hands"), [["RD"]], "setup: setup.hands: "),
    "a card that nobody knows": (("setup", "draw_pile"), ["R77"], "setup: setup.draw_pile: "),
    "a seat that is not there": (("steps", 1, "seat"), 3, "step 2: malformed: there is no seat 3 among 3"),
    "a step that is no object": (("steps", 1), "play RD", "malformed: field 'steps': expected an array of objects"),
    "a step without a seat": (("steps", 1, "seat"), ..., "step 2: malformed: field 'seat' is missing"),
    "a step without an act": (("steps", 1, "act"), ..., "step 2: malformed: expected either 'act' or 'forfeit'"),
    "a step with two": (("steps", 1, "forfeit"), "crash", "step 2: malformed: expected either 'act' or 'forfeit'"),
    "a step with an unknown field": (("steps", 1, "event"), [], "step 2: malformed: unknown field 'event'"),
    "another error": (("steps", 0, "error"), "timeout", "step 1: malformed: field 'error': expected \"illegal\""),
    "an error with events": (("steps", 0, "events"), [{}], "step 1: malformed: 'error' goes with an 'act'"),
    "a seat in words": (("steps", 1, "seat"), "0", "step 2: malformed: field 'seat': expected a whole number"),
    "a seat that is true": (("steps", 1, "seat"), True, "step 2: malformed: field 'seat': expected a whole number"),
    "legal as a text": (("steps", 1, "legal"), "draw", "step 2: malformed: field 'legal': expected an array of texts"),
    "an unknown expectation": (
        ("then", "hue"),
        "R",
        "then: malformed: unknown field 'hue', expected one of kind",
    ),
    "hands in one array": (("then", "hands"), ["B2"], "then: malformed: field 'hands': expected an array"),
    "an unknown field": (("when",), {}, "malformed: unknown field 'when', expected one of id"),
    "no setup": (("setup",), ..., "malformed: field 'setup' is missing"),
    "no id": (("id",), ..., "a vector without id: malformed: field 'id' is missing"),
}


def spoiled(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """GOOD with another value at the path; the dots delete what is there."""
    vector: dict[str, Any] = copy.deepcopy(GOOD)
    place: Any = vector
    for name in path[:-1]:
        place = place[name]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return vector


def test_the_vector_to_be_spoiled_passes() -> None:
    assert check(GOOD) == []


@pytest.mark.parametrize(("path", "value", "message"), WRONG.values(), ids=WRONG.keys())
def test_the_runner_finds(path: tuple[str | int, ...], value: object, message: str) -> None:
    vector = spoiled(path, value)
    faults = check(vector)
    assert faults, "a wrong vector passed"
    assert all(fault.startswith(f"{vector.get('id', 'a vector without id')}: ") for fault in faults)
    assert message in faults[0]


def test_all_that_differs_at_the_end_is_told() -> None:
    faults = check(spoiled(("then",), {"top": "R7", "color": "G", "dealer": 2}))
    assert [fault.split(":")[2].strip() for fault in faults] == ["top", "color"]


def test_every_expectation_of_the_format_is_spoiled_in_the_table() -> None:
    assert {path[1] for path, _, _ in WRONG.values() if path[0] == "then" and len(path) > 1} >= GOOD["then"].keys()


def test_a_refused_act_that_changes_something_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def act_and_leak(match: Match, answers: Mapping[int, str]) -> list[Event]:
        match.scores[0] += 1
        return right(match, answers)

    right = Match.act
    monkeypatch.setattr(Match, "act", act_and_leak)
    faults = check(GOOD)
    assert "good: step 1: after the refused 'play B2'" in faults[0]


def test_what_may_be_left_out() -> None:
    assert check({"id": "short", "edition": "classic", "setup": {"deal": {"seats": 2, "seed": "a"}}}) == []


def test_notes_are_read_over() -> None:
    vector: dict[str, Any] = copy.deepcopy(GOOD)
    for place in (vector, vector["steps"][0], vector["then"]):
        place["note"] = "why"
    assert check(vector) == []


def test_hands_of_events_are_compared_as_multisets() -> None:
    step = {"seat": 1, "act": "challenge", "events": [{"type": "challenge", "hand": ["B2", "G1"]}]}
    vector: dict[str, Any] = {
        "id": "challenge",
        "edition": "mario-kart",
        "setup": {"hands": [["WD", "G1", "B2"], ["Y7"]], "draw_pile": ["Y1"] * 6, "discard_pile": ["R7"]},
        "steps": [{"seat": 0, "act": "play WD B"}, step],
    }
    assert check(vector) == []
    step["events"] = [{"type": "challenge", "hand": ["B2", "B2"]}]
    assert check(vector) != []


def test_a_forfeit_is_a_step() -> None:
    forfeit = {"type": "forfeit", "seat": 1, "why": "crash"}
    struck = {"type": "draw", "seat": 2, "count": 2, "why": "draw_two"}
    vector = spoiled(("steps", 4), {"seat": 1, "forfeit": "crash", "events": [forfeit, {"type": "caught"}, struck]})
    vector["then"] = {"kind": "turn", "seats": [0]}
    assert check(vector) == []


LOADED = {
    "an array": ('[{"id": "a"}, {"id": "b"}]', ["a", "b"]),
    "a single vector": ('{"id": "a"}', ["a"]),
    "an empty array": ("[]", []),
}


@pytest.mark.parametrize(("text", "ids"), LOADED.values(), ids=LOADED.keys())
def test_a_file_holds(text: str, ids: list[str]) -> None:
    assert [vector["id"] for vector in load(text, "file.json")] == ids


UNREADABLE = {
    "no JSON": ("[{]", r"file\.json: not JSON: .*line 1 column 3"),
    "nothing": ("", r"file\.json: not JSON: "),
    "a text": ('"mk-1"', r'file\.json: element 0: expected an object, found "mk-1"'),
    "a number among vectors": ('[{"id": "a"}, 7]', r"file\.json: element 1: expected an object, found 7"),
    "too many brackets": ("[" * 100_000, r"file\.json: (not JSON|brackets are nested too deeply)"),
}


@pytest.mark.parametrize(("text", "message"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_file_is_refused_that_holds(text: str, message: str) -> None:
    with pytest.raises(VectorError, match=message):
        load(text, "file.json")


JUNK: list[object] = [None, True, -1, 10**30, 1.5, "", "R7", "W", [], [[]], {}, {"a": 1}, ["R1"], [["R1"]], [None]]


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path to everything inside the value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inside:
        yield (*path, name)
        yield from places(part, (*path, name))


@pytest.mark.parametrize("path", list(places(GOOD)), ids=lambda path: "/".join(map(str, path)))
def test_junk_anywhere_is_told_and_never_raises(path: tuple[str | int, ...]) -> None:
    for junk in [*JUNK, ...]:
        assert all(isinstance(fault, str) for fault in check(spoiled(path, junk)))


def test_a_vector_is_left_as_it_was() -> None:
    before = json.dumps(GOOD)
    check(GOOD)
    assert json.dumps(GOOD) == before
