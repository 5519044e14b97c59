"""`lastcard editions`, `schema` and `vectors`."""

import json
from pathlib import Path
from typing import Any

import pytest

from lastcard.engine import EDITIONS, OPTIONS
from lastcard.referee.cli.edition_words import CARDS, compared, described
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


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=lambda edition: edition.name)
def test_a_description_leaves_nothing_out(edition: Any) -> None:
    """Every card with its number and points, every option with its values and meaning."""
    lines = [" ".join(line.split()) for line in described(edition).splitlines()]
    assert f"deck: {len(edition.deck)} cards, 7 to each player" in lines
    for symbol, count in {**edition.colored, **edition.wilds}.items():
        if not symbol.isdigit():
            start = f"{symbol} {CARDS[symbol]} {count} {edition.points[symbol]} "
            assert [line for line in lines if line.startswith(start)], start
    for name in {*edition.options, "target", "rounds"}:
        option = OPTIONS[name]
        takes = edition.fixed.get(name, getattr(option, "values", None))
        values = ", ".join(takes) if takes else f"{getattr(option, 'least', 0)} to {getattr(option, 'most', 0)}"
        place = lines.index(f"{name} = {edition.options.get(name, '-')} [{values}]")
        assert lines[place + 1].startswith(option.meaning)
    assert len([line for line in lines if " = " in line]) == len(edition.options) + 1


def test_effects_are_those_that_the_options_choose() -> None:
    """Of the two effects of All Hit the one that the edition's option names."""
    shown = {name: described(EDITIONS[name]) for name in EDITIONS}
    assert "all hit everyone" in shown["attack-trade-hands"]
    assert "all hit others" not in shown["attack-trade-hands"]


@pytest.mark.parametrize(
    ("one", "other", "rows"),
    [
        (
            "attack",
            "attack-official",
            [
                "option extra_card always two_players",
                "option two_player_extra card turn",
                "option all_hit everyone others",
                "option trade_hands may must",
            ],
        ),
        (
            "mario-kart",
            "mario-kart-jp",
            [
                "option start_color dealer first_player",
                "option start_wd4 shuffle_back put_back",
                "option next_dealer left round_winner",
                "option wd4_unlawful color any_playable",
                "option wd4_guilty keep take_back",
                "option scoring winner_collects plus_minus",
                "option target 500 -",
                "option rounds - 5",
            ],
        ),
        ("classic", "classic", ["no difference"]),
    ],
)
def test_where_two_editions_differ(one: str, other: str, rows: list[str]) -> None:
    done = lastcard("editions", "--compare", one, other)
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0].startswith(f"{one}: ")
    assert lines[1].startswith(f"{other}: ")
    assert [line for line in lines[2:] if line != f"{one} {other}"] == rows


def test_a_comparison_shows_cards_points_effects_and_items() -> None:
    lines = [" ".join(line.split()) for line in compared(EDITIONS["mario-kart"], EDITIONS["attack"]).splitlines()]
    for row in (
        "0, of each color 1 -",
        "V Reverse, of each color 2 1",
        "S Skip, when played skip skip, extra card",
        "A Discard All, points - 30",
        "WD Wild Draw Four, as start card goes back -",
        "WI Item Box, in all 8 -",
        "item on red mushroom -",
        "option supply pile launcher",
    ):
        assert row in lines


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("clasic",), "there is no edition 'clasic'; there are mario-kart, mario-kart-jp, attack, "),
        (("--compare", "attack", "clasic"), "there is no edition 'clasic'; there are mario-kart, "),
        (("--compare", "attack"), "option '--compare' requires 2 arguments"),
        (("attack", "--compare", "attack", "classic"), "--compare takes the names of two editions, expected no other"),
    ],
)
def test_a_wrong_name_is_bad_usage(words: tuple[str, ...], sentence: str) -> None:
    done = lastcard("editions", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"lastcard: {sentence}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("name", EDITIONS)
def test_an_option_that_an_edition_does_not_know_is_an_error_that_names_those_it_does(name: str) -> None:
    """Before anything starts, whichever option: a misspelt one and one of another edition."""
    known = ", ".join(sorted({*EDITIONS[name].options, "target", "rounds"}))
    unknown = next(option for option in OPTIONS if option not in known.split(", "))
    for option in ("stackin", unknown):
        done = lastcard("play", "greedy", "random", "--edition", name, "--set", f"{option}=off")
        assert (done.code, done.out) == (2, "")
        assert done.err == f"lastcard: edition {name} knows no option {option!r}; it knows {known}\n"


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
        ({"setup": {**SETUP, "hands": [["R1"], []]}}, "good: setup: setup.hands[1]: expected at least one card"),
        ({"setup": {**SETUP, "turn": 7}}, "good: setup: setup.turn: 7, expected a whole number"),
        ({"edition": "chess"}, "good: setup: "),
        ({"options": {"chess": "on"}}, "good: setup: "),
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
