"""`lastcard editions`, `schema` and `vectors`."""

import json
from pathlib import Path
from typing import Any

import pytest

from lastcard.engine import EDITIONS
from tests.cli.commands import lastcard

SETUP: dict[str, Any] = {"hands": [["R7", "B1"], ["B2", "B3"]], "discard_pile": ["R1"]}
GOOD: dict[str, Any] = {
    "id": "good",
    "edition": "classic",
    "setup": SETUP,
    "steps": [{"seat": 0, "act": "play R7 uno"}],
    "then": {"top": "R7"},
}


def test_editions_are_listed_and_described() -> None:
    listed = lastcard("editions")
    assert (listed.code, listed.err) == (0, "")
    assert [line.split()[0] for line in listed.out.splitlines()] == list(EDITIONS)
    for name, edition in EDITIONS.items():
        shown = lastcard("editions", name)
        assert (shown.code, shown.err) == (0, "")
        assert shown.out.startswith(f"{name}: {edition.title}\n")
        for option, value in edition.options.items():
            assert f"\n  {option} = {value}  " in shown.out


def test_schema_is_json_for_every_message() -> None:
    done = lastcard("schema")
    assert (done.code, done.err) == (0, "")
    text = json.dumps(json.loads(done.out))
    for message in ("hello", "start", "ask", "act", "fault", "end", "bye"):
        assert f'"{message}"' in text


def vectors(folder: Path, *found: object) -> tuple[int, list[str], list[str]]:
    file = folder / "mine.json"
    file.write_text(json.dumps(list(found)))
    done = lastcard("vectors", str(file))
    return done.code, done.out.splitlines(), done.err.splitlines()


def test_our_own_vectors_hold() -> None:
    done = lastcard("vectors")
    assert (done.code, done.err) == (0, "")
    count = int(done.out.split()[0])
    assert done.out == f"{count} vectors: {count} hold, 0 fail\n"
    assert count > 100


def test_a_vector_that_fails_is_named_with_what_was_expected(tmp_path: Path) -> None:
    bad = {**GOOD, "id": "bad\x1b[31m", "then": {"top": "R8"}}
    code, out, err = vectors(tmp_path, GOOD, bad)
    assert (code, err) == (1, [])
    assert out == [
        f'{tmp_path}/mine.json: bad\\x1b[31m: then: top: expected "R8", got "R7"',
        "2 vectors: 1 hold, 1 fail",
    ]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"stepz": []}, "good: malformed: unknown field 'stepz'"),
        ({"steps": [{"act": "draw"}]}, "good: step 1: malformed: field 'seat' is missing"),
        ({"then": {"top": 7}}, "good: then: malformed: field 'top': expected a text, got 7"),
        ({"steps": [{"seat": 9, "act": "draw"}]}, "good: step 1: malformed: there is no seat 9"),
    ],
)
def test_a_vector_that_is_none_is_bad_usage(tmp_path: Path, fields: dict[str, Any], sentence: str) -> None:
    code, out, err = vectors(tmp_path, GOOD, {**GOOD, **fields})
    assert code == 2
    assert len(err) == 1
    assert err[0].startswith(f"lastcard: {tmp_path}/mine.json: {sentence}")
    assert out == ["2 vectors: 1 hold, 0 fail, 1 malformed"]


def test_only_the_form_counts_as_malformed(tmp_path: Path) -> None:
    code, _, err = vectors(tmp_path, {**GOOD, "id": "step 1: malformed: x", "then": {"top": "R8"}})
    assert (code, err) == (1, [])


def test_a_single_vector_is_a_file_of_vectors_too(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text("\ufeff" + json.dumps(GOOD))
    assert lastcard("vectors", str(file), str(file)).out == "2 vectors: 2 hold, 0 fail\n"


def test_all_files_are_read_before_the_first_is_run(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps({**GOOD, "then": {"top": "R8"}}))
    done = lastcard("vectors", str(file), str(tmp_path / "gone"))
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
