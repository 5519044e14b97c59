"""What the referee does with every corner case of JSON, and that the table of them is right about JSON itself."""

import json

import pytest

from lastcard.protocol import BOT_LINES, Act, Refusal, Stale, State
from lastcard.protocol.decoding import MAX_DEPTH
from tests.fuzz.json_cases import INVALID, OPEN, VALID, Row
from tests.protocol.pairs import all_received, new_referee

PLACES = (
    (b'{"type":"act","id":1,"action":"draw","x":', b"}"),
    (b'{"type":"act","id":1,"action":', b"}"),
    (b'{"type":"act","id":', b',"action":"draw"}'),
    (b"", b""),
)
"""What stands before and behind the text: member, action, id, alone."""


def letters(stream: bytes) -> str:
    """The verdict of the referee on each line, while it waits for the answer of id 1."""
    referee = new_referee(State.ASKED)
    referee.receive(stream)
    found = ""
    for received in all_received(referee):
        match received:
            case Act():
                found += "A"
            case Stale():
                found += "S"
            case Refusal():
                found += {"malformed": "M", "oversize": "O"}[received.kind]
            case _:
                raise AssertionError(f"{received} is none of the verdicts")
    return found


def verdicts(text: bytes) -> str:
    """The verdicts of a row."""
    return " ".join(letters(before + text + behind + b"\n") for before, behind in PLACES)


@pytest.mark.parametrize("table", [VALID, INVALID, OPEN], ids=["valid", "invalid", "open"])
def test_every_case_is_judged_as_the_table_says(table: list[Row]) -> None:
    assert {name: verdicts(text) for name, text, _ in table} == {name: expected for name, _, expected in table}


def test_every_case_is_there_once() -> None:
    names = [name for name, _, _ in VALID + INVALID + OPEN]
    assert len(set(names)) == len(names)
    assert (len(VALID), len(INVALID), len(OPEN)) >= (95, 180, 35)


def refuse(word: str) -> None:
    """For words that Python reads and JSON does not have."""
    raise ValueError(word)


def test_the_table_is_right_about_json() -> None:
    """Python's own reader takes all that is said to be valid, and nothing of what is said not to be."""
    for _, text, _ in VALID:
        json.loads(text.decode(), parse_constant=refuse)
    for name, text, _ in INVALID:
        with pytest.raises((ValueError, RecursionError)):  # noqa: PT012 - the message names the row if nothing is raised
            json.loads(text.decode(), parse_constant=refuse)
            pytest.fail(f"{name} is valid")


def test_no_invalid_text_is_ever_an_answer() -> None:
    for name, text, expected in INVALID:
        assert "A" not in expected, name
        assert "A" not in verdicts(text), name


# ---- depth is counted by us: the limits of Python differ from version to version and with the caller's own depth


def deeper(frames: int, line: bytes) -> object:
    """The line, decoded by a caller that is so deep itself."""
    return BOT_LINES.decode(line) if frames == 0 else deeper(frames - 1, line)


@pytest.mark.parametrize("frames", [0, 100, 250])
@pytest.mark.parametrize("pair", ["[]", '{"a":0}'], ids=["arrays", "objects"])
def test_depth_that_is_read_does_not_depend_on_the_caller(frames: int, pair: str) -> None:
    opening, _, closing = pair.partition("0") if "0" in pair else ("[", "", "]")
    inside = "0" if "0" in pair else ""
    for depth in (MAX_DEPTH - 1, MAX_DEPTH):  # the object of the act is one more
        text = opening * depth + inside + closing * depth
        found = deeper(frames, f'{{"type":"act","id":1,"action":"draw","x":{text}}}'.encode())
        assert isinstance(found, Act) == (depth < MAX_DEPTH), found


@pytest.mark.parametrize("depth", [MAX_DEPTH, 600, 1000, 1500, 10_000, 60_000])
@pytest.mark.parametrize("unit", ["[", '{"":', '[{"":'])
@pytest.mark.parametrize("ending", ["", "%", '"', '"\\'], ids=["cut off", "broken", "open text", "open escape"])
def test_a_broken_line_that_is_too_deep_is_told_so_by_every_python(depth: int, unit: str, ending: str) -> None:
    found = BOT_LINES.decode(f'{{"x":{unit * depth}{ending}'.encode())
    assert isinstance(found, Refusal)
    assert found.detail.startswith("nested too deep: ")
