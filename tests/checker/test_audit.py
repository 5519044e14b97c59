"""The independent checker and the engine agree on every log, and the checker notices what is changed in one."""

import ast
import gzip
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lastcard.engine import EDITIONS, Rules, from_setup
from tests.checker import audit as command
from tests.checker.books import Books, Misplaced
from tests.checker.cards import KNOWN, deck_of
from tests.checker.chance import EARLY, Shuffle, Stream, draw_for_dealer, pressed
from tests.checker.course import audit
from tests.checker.lines import CutOff, Wrong
from tests.checker.logs import Player, encode, log_by_lot, log_from, with_digest
from tests.checker.mutations import mutations
from tests.referee.scripted import Bot, Line, exits, honest, mock_time, play

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parents[1] / "vectors"
HARNESS = {"conftest.py", "logs.py", "mutations.py", "test_audit.py"}
"""What is here to test the checker and is no part of it."""

TABLES = [(name, seats) for name in EDITIONS for seats in range(2, 11)]
LEAVING = (0.0, 0.0, 0.02)
"""How likely a seat is to leave at a step, in one match after the other."""


def check(text: bytes, name: str) -> None:
    """The checker finds nothing. `name` says which log it was."""
    try:
        audit(text)
    except (Wrong, CutOff) as found:
        pytest.fail(f"{name}: {type(found).__name__} {found}")


def check_by_lot(edition: str, seats: int, number: int) -> None:
    leaving = LEAVING[number % len(LEAVING)]
    check(log_by_lot(edition, seats, number, leaving), f"{edition}, {seats} seats, number {number}")


# ---- agreement with the engine


@pytest.mark.parametrize(("edition", "seats"), TABLES)
def test_checker_and_engine_agree(edition: str, seats: int) -> None:
    for number in range(6):
        check_by_lot(edition, seats, number)


@pytest.mark.soak
@pytest.mark.parametrize(("edition", "seats"), TABLES)
def test_checker_and_engine_agree_on_many_matches(edition: str, seats: int) -> None:
    """54 tables, 10,044 matches."""
    for number in range(1000, 1186):
        check_by_lot(edition, seats, number)


def positions() -> list[dict[str, Any]]:
    """The vectors whose position can be played on from."""
    vectors: list[dict[str, Any]] = []
    for path in sorted(VECTORS.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        vectors += content if isinstance(content, list) else [content]
    return [vector for vector in vectors if vector.get("options", {}).get("launcher") != "scripted"]


def check_positions(numbers: range, leaving: float) -> None:
    for vector in positions():
        for number in numbers:
            text = log_from(vector["edition"], vector.get("options", {}), vector["setup"], number, leaving)
            check(text, f"from vector {vector['id']}, number {number}")


def test_checker_and_engine_agree_on_matches_from_the_positions_of_all_vectors() -> None:
    """Rare situations, and seats that leave in the midst of them."""
    check_positions(range(1), leaving=0.1)


@pytest.mark.soak
def test_checker_and_engine_agree_on_many_matches_from_the_positions_of_all_vectors() -> None:
    check_positions(range(100, 110), leaving=0.0)
    check_positions(range(200, 220), leaving=0.3)


# ---- logs of the referee


async def wrong_every_fifth_time(bot: Bot, ask: Line) -> None:
    await bot.act(ask, "play nothing" if ask["id"] % 5 == 0 else None)


@mock_time
async def test_log_of_a_table_with_faults(tmp_path: Path) -> None:
    """Illegal actions, fallbacks and a bot that ends; the digest is that of the referee."""
    game = await play(
        tmp_path / "log",
        honest(each=wrong_every_fifth_time),
        honest(at={9: exits()}),
        honest(),
        rules=Rules.of("classic", {"rounds": 2}),
    )
    assert {kind for _, kind in game.fault_kinds()} == {"illegal", "crash"}
    check((tmp_path / "log").read_bytes(), "a log of the referee")


# ---- logs that were tampered with

TAMPERED = [(name, seats) for name in EDITIONS for seats in (2, 4)]


def tampered_log(edition: str, seats: int, number: int) -> list[dict[str, Any]]:
    """A short log, without its last line."""
    text = log_by_lot(edition, seats, number, turn_cap=30, max_rounds=2, start_cards="sheet")
    return [json.loads(line) for line in text.splitlines()[:-1]]


def notice(lines: list[dict[str, Any]], lot: Random, most: int | None = None) -> Counter[str]:
    """All of these mutations, or `most` of them by lot, are found, and not before their line; how many of each kind."""
    found = list(mutations(lines, lot))
    if most is not None and most < len(found):
        found = lot.sample(found, most)
    for kind, place, changed in found:
        with pytest.raises(Wrong) as wrong:  # noqa: PT012 - the message names the mutation if nothing is raised
            audit(with_digest(changed))
            pytest.fail(f"line {place}, {kind}: not noticed")
        assert wrong.value.line >= place, f"line {place}, {kind}: {wrong.value}"
    return Counter(kind for kind, _, _ in found)


@pytest.mark.parametrize(("edition", "seats"), TAMPERED)
def test_what_is_changed_in_a_log_is_noticed(edition: str, seats: int) -> None:
    lot = Random(f"{edition} {seats}")
    noticed: Counter[str] = Counter()
    for number in range(2):
        noticed += notice(tampered_log(edition, seats, number), lot, most=120)
    assert len(noticed) > 20


@pytest.mark.soak
@pytest.mark.parametrize(("edition", "seats"), TAMPERED)
def test_everything_that_is_changed_in_a_log_is_noticed(edition: str, seats: int) -> None:
    noticed: Counter[str] = Counter()
    for number in (20, 21):
        noticed += notice(tampered_log(edition, seats, number), Random(number))
    assert len(noticed) > 60


BY_HAND: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a card that the player does not hold": (
        {"event": {"type": "play", "seat": 0, "card": "R2", "uno": True}},
        {"event": {"type": "play", "seat": 0, "card": "R1", "uno": True}},
        'line 3: here stands play seat=0 card="R1" uno=true, expected play seat=0 card="R2" uno=true',
    ),
    "a card from the middle of the pile": (
        {"event": {"type": "draw", "seat": 1, "count": 1, "why": "turn", "cards": ["Y5"]}},
        {"event": {"type": "draw", "seat": 1, "count": 1, "why": "turn", "cards": ["Y6"]}},
        'line 5: here stands draw seat=1 count=1 why="turn" cards=["Y6"], expected draw seat=1 count=1',
    ),
    "true in place of 1": (
        {"event": {"type": "draw", "seat": 1, "count": 1, "why": "turn", "cards": ["Y5"]}},
        {"event": {"type": "draw", "seat": True, "count": 1, "why": "turn", "cards": ["Y5"]}},
        "line 5: here stands draw seat=true",
    ),
    "another action than was played": (
        {"action": "play R2 uno"},
        {"action": "play R1 uno"},
        'line 3: here stands play seat=0 card="R2" uno=true, expected play seat=0 card="R1" uno=true',
    ),
    "an action that is not legal": (
        {"action": "play R2 uno"},
        {"action": "play B3"},
        "line 2: 'play B3' is not one of: play R1, play R2, draw",
    ),
    "points counted wrong": (
        {"event": {"type": "round_end", "points": [8, 0]}},
        {"event": {"type": "round_end", "points": [9, 0]}},
        'line 8: here stands round_end winner=0 reason="out" hands=[[], ["B3", "Y5"]] points=[9, 0], expected',
    ),
    "an option that no edition knows": (
        {"options": {}},
        {"options": {"jump_in": "on"}},
        "line 1: edition mario-kart knows no option jump_in",
    ),
}
"""In the small log the line that says the first of these says the second; what the checker says of it."""


class Script(Player):
    """Plays what is written."""

    actions: Iterator[str] = iter(())

    def choice(self, seat: int, legal: list[str]) -> str:
        return next(self.actions)


def small_log() -> list[dict[str, Any]]:
    """A match of three decisions, without its last line."""
    setup = {"hands": [["R1", "R2"], ["B3"]], "draw_pile": ["Y5", "Y6", "Y7"], "discard_pile": ["R9"]}
    match, events = from_setup(Rules.of("mario-kart", {"rounds": 1}), setup)
    player = Script(match, Random(0))
    player.actions = iter(("play R2 uno", "play R1"))
    return [json.loads(line) for line in player.play(setup, events).splitlines()[:-1]]


def says(line: Any, part: Any) -> bool:
    """Whether a line has all that the part has."""
    if isinstance(part, dict):
        return isinstance(line, dict) and all(name in line and says(line[name], part[name]) for name in part)
    return bool(line == part)


def merge(line: Any, part: Any) -> Any:
    """The line with all that the part has."""
    if isinstance(part, dict) and isinstance(line, dict):
        return line | {name: merge(line.get(name), part[name]) for name in part}
    return part


@pytest.mark.parametrize("case", BY_HAND)
def test_message_names_the_line_what_stands_there_and_what_should(case: str) -> None:
    old, new, message = BY_HAND[case]
    lines = small_log()
    place = next(place for place, line in enumerate(lines) if says(line, old))
    lines[place] = merge(lines[place], new)
    with pytest.raises(Wrong) as wrong:
        audit(with_digest(lines))
    assert str(wrong.value).startswith(message)


def test_log_of_the_specification_is_right() -> None:
    text = (HERE.parents[1] / "spec.md").read_text(encoding="utf-8")
    (log,) = [part.partition("\n```")[0] for part in text.split("```json log\n")[1:]]
    check(log.encode() + b"\n", "spec.md, the log of a match")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"no json", "line 2: is no JSON"),
        (b"[1]", "line 2: is no object with a type"),
        (b'{"type":"event","event":7}', "line 2: here stands 7, expected"),
        (b'{"type":"event","event":{"type":"forfeit","seat":7,"why":"crash"}}', "line 2: seat 7 is not in play"),
        (b'{"type":"event","event":{"type":"forfeit","seat":1,"why":"mood"}}', "line 2: seat 1 had no fault 'mood'"),
        (b'{"type":"music"}', "line 2: here stands music, expected"),
    ],
)
def test_line_that_is_none(line: bytes, message: str) -> None:
    head, *rest = log_by_lot("classic", 3, 1).split(b"\n")
    with pytest.raises(Wrong) as wrong:
        audit(b"\n".join([head, line, *rest]))
    assert str(wrong.value).startswith(message)


def test_digest_is_compared() -> None:
    lines = log_by_lot("classic", 2, 1).splitlines()
    lines[-1] = encode({"type": "end", "digest": "0" * 64})
    with pytest.raises(Wrong, match="the digest is "):
        audit(b"\n".join(lines) + b"\n")


def test_log_that_is_cut_off_anywhere_is_right_so_far() -> None:
    text = log_by_lot("attack-official", 3, 2, leaving=0.02, turn_cap=30)
    ends = [place for place, byte in enumerate(text) if byte == ord("\n")]
    for end in ends[:-1]:
        with pytest.raises(CutOff):
            audit(text[: end + 1])
        with pytest.raises(CutOff):
            audit(text[: end + 9])


# ---- its own parts


def test_cards_are_conserved_by_every_movement() -> None:
    books = Books(2, "s")
    books.shuffle_in(["R1", "R2", "G1"])
    books.read({"type": "deal", "seat": 0, "count": 1, "cards": ["R1"]})
    books.check()
    with pytest.raises(Misplaced, match="there is no R1 in the draw pile: R2 G1"):
        books.read({"type": "draw", "seat": 1, "count": 1, "why": "turn", "cards": ["R1"]})
    with pytest.raises(Misplaced, match="there is no G1 in the hand of seat 0: R1"):
        books.read({"type": "play", "seat": 0, "card": "G1"})
    books.read({"type": "trade", "seat": 0, "with": 1, "cards": [[1, ["R1"]]]})
    with pytest.raises(Misplaced, match=r"not conserved: lost {}, made {'R1': 1}"):
        books.check()


def test_decks_are_those_of_the_engine() -> None:
    """The sheets were written out twice; options as well."""
    assert set(KNOWN) == set(EDITIONS)
    sizes = {name: len(deck_of(name, int(EDITIONS[name].options.get("custom_count", 0)))) for name in EDITIONS}
    assert sizes == dict.fromkeys(EDITIONS, 112) | {"classic": 108}
    for name, edition in EDITIONS.items():
        assert set(KNOWN[name]) == set(edition.options) - {"target", "rounds"}


def test_chance_gives_the_values_of_the_design() -> None:
    seed = "0123456789abcdef0123456789abcdef"
    deal = Stream(seed, "deal|1")
    assert bytes(next(deal.bytes) for _ in range(16)).hex() == "23ac624fb7d121506dd5637f5e1a8d29"
    test = Stream(seed, "test")
    numbers = [test.below(n) for n in (1, 2, 108, 107, 200, 255, 256, 257, 323, 10000, 65536)]
    assert numbers == [0, 1, 30, 27, 168, 168, 220, 126, 218, 3257, 27643]
    classic = deck_of("classic", 0)
    pile = Shuffle(classic, seed, "deal|1")
    assert " ".join(pile.draw() for _ in range(29)) == (
        "G5 B8 W Y4 Y4 G7 Y6 R8 WD G6 WD R5 B4 B2 G2 G6 R4 RS B9 B4 Y7 BS R3 B3 YD Y3 G0 R9 YD"
    )
    drawn, dealer = draw_for_dealer(Shuffle(classic, seed, "dealer"), [0, 1, 2, 3])
    assert (drawn, dealer) == ([[0, "BS"], [1, "G7"], [2, "G0"], [3, "G9"]], 3)


@pytest.mark.parametrize(("model", "mean"), [("hazard5", 2.09), ("iid", 2.095), ("fixed_sequence", 5 * 34 / 96)])
def test_launcher_ejects_as_often_as_it_should(model: str, mean: float) -> None:
    since, cards = 0, 0
    presses = 20_000
    for press in range(presses):
        size = pressed("s", 1, press, model=model, since_ejection=since, since_reload=press)
        since = 0 if size else since + 1
        cards += size
        assert size <= (max(EARLY) if model == "fixed_sequence" else 14)
    assert abs(cards / presses - mean) < 0.08


def test_the_checker_imports_nothing_of_lastcard() -> None:
    files = [path for path in HERE.glob("*.py") if path.name not in HARNESS]
    assert len(files) > 8
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                own = module == "tests.checker" or module.removeprefix("tests.checker.") + ".py" not in HARNESS
                assert module.partition(".")[0] in sys.stdlib_module_names or (module.startswith("tests.") and own)


# ---- as a command


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of every kind."""
    folder = tmp_path_factory.mktemp("logs")
    text = log_by_lot("mario-kart", 3, 4)
    (folder / "right.jsonl").write_bytes(text)
    (folder / "right.jsonl.gz").write_bytes(gzip.compress(text))
    (folder / "wrong.jsonl").write_bytes(text.replace(b'"count":7', b'"count":8', 1))
    (folder / "short.jsonl").write_bytes(text[: len(text) // 2])
    return folder


@pytest.mark.parametrize(
    ("names", "code", "says"),
    [
        (["right.jsonl", "right.jsonl.gz"], 0, ["right.jsonl: right", "right.jsonl.gz: right"]),
        (["wrong.jsonl"], 1, ["wrong.jsonl: line 5: here stands deal seat="]),
        (["short.jsonl"], 3, ["short.jsonl: is cut off, and right so far"]),
        (["short.jsonl", "wrong.jsonl", "right.jsonl"], 1, ["right so far", "line 5", "right.jsonl: right"]),
        (["none.jsonl"], 2, ["none.jsonl: cannot be read: "]),
        ([], 2, ["usage: audit.py LOG..."]),
    ],
)
def test_command(
    folder: Path, capsys: pytest.CaptureFixture[str], names: list[str], code: int, says: list[str]
) -> None:
    assert command.main([str(folder / name) for name in names]) == code
    captured = capsys.readouterr()
    lines = (captured.out + captured.err).splitlines()
    assert len(lines) == len(says)
    for line, part in zip(lines, says, strict=True):
        assert part in line


def test_it_runs_as_a_script_with_the_standard_library_alone(folder: Path) -> None:
    script = [sys.executable, "-I", "-S", str(HERE / "audit.py"), str(folder / "right.jsonl")]
    done = subprocess.run(script, capture_output=True, text=True, cwd=folder, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("right.jsonl: right\n")
