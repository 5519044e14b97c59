"""Proving a log: cut off anywhere it is right so far, changed anywhere it is found out, and nothing is a traceback."""

import gzip
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from lastcard.engine import Rules, from_setup
from lastcard.referee.cli.main import run
from lastcard.referee.describe import describe, describe_fault
from lastcard.referee.escape import escaped
from lastcard.referee.log_reader import LogError, read_log
from lastcard.referee.replay import Verdict, verify
from lastcard.referee.table import Opening
from tests.referee.scripted import Line, exits, honest, play, says, seated, silent

RULES = Rules.of("mario-kart", {"rounds": 1, "next_dealer": "round_winner"})
IN_DIGEST = {"match", "round", "decision", "event", "result"}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A short match with faults of several kinds and a forfeit."""
    path = tmp_path_factory.mktemp("log") / "log"

    async def match() -> None:
        bad = honest({2: silent, 3: says(b"hm\n"), 4: exits()})
        game = await play(path, honest(), bad, honest(), rules=RULES, seed="k")
        assert game.outcome.forfeited == [1]

    trio.run(match, clock=MockClock(autojump_threshold=0))
    return path.read_bytes()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def proved(file: Path, data: bytes) -> Verdict:
    file.write_bytes(data)
    return verify(read_log(file))


def exit_code(*words: str) -> object:
    """That of a command line."""
    try:
        return run(words)
    except SystemExit as end:
        return end.code


# ---- cut off


def test_a_whole_log_is_right(log: bytes, file: Path) -> None:
    verdict = proved(file, log)
    assert (verdict.difference, verdict.incomplete) == (None, "")
    assert verdict.digest == json.loads(log.splitlines()[-1])["digest"]


def test_cut_off_anywhere_it_is_right_so_far(log: bytes, file: Path) -> None:
    """Around every end of a line, and at every place in between that a stride meets."""
    ends = [place for place, byte in enumerate(log) if byte == 10]
    places = {0, *range(1, len(log), 41), *(near for end in ends for near in (end - 1, end, end + 1))}
    steps = 0
    for place in sorted(place for place in places if place < len(log)):
        verdict = proved(file, log[:place])
        assert verdict.difference is None, place
        assert verdict.incomplete
        assert verdict.steps >= steps
        steps = verdict.steps
    assert steps > 20


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.999])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
@pytest.mark.parametrize("words", [["--verify"], [], ["--seat", "1"]], ids="".join)
def test_what_a_user_sees_of_a_log_that_is_cut_off(
    share: float,
    pack: Callable[[bytes], bytes],
    words: list[str],
    log: bytes,
    file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 3, or 2 where there is nothing yet that could be shown."""
    data = pack(log)
    file.write_bytes(data[: max(30 if data[:1] == b"\x1f" else 0, int(share * len(data)))])
    code = exit_code("replay", str(file), *words)
    nearly = share > 0.99 and pack is gzip.compress  # all lines are there
    assert code == 3 or (words != ["--verify"] and code == 0 and nearly)
    out, err = capsys.readouterr()
    assert "fault of ours" not in out + err


def test_a_packed_log_is_proved_as_it_is(log: bytes, file: Path) -> None:
    assert proved(file, gzip.compress(log)) == proved(file, log)
    assert exit_code("replay", str(file), "--verify") == 0


@pytest.mark.parametrize(
    "content", [b"hello\n", b"", b"{}\n", b'{"type":"match","format":1}\n', b"\x1f\x8b\x08xxxxxxxxxxxx"]
)
def test_not_a_log(content: bytes, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_bytes(content)
    assert exit_code("replay", str(file), "--verify") == (2 if content else 3)
    out, err = capsys.readouterr()
    assert len((out + err).splitlines()) == 1
    assert exit_code("replay", str(file)) == (2 if content else 3)


# ---- changed


def changed(value: Any) -> Any:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case list():
            return value[:-1] if value else [0]
        case dict():
            return {**value, "x": 1}
        case _:
            return 0


def encoded(lines: list[Line]) -> bytes:
    return b"".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for line in lines)


def forged(lines: list[Line]) -> bytes:
    """With a digest that fits again."""
    digest = sha256()
    for line in lines:
        if line.get("type") in [*IN_DIGEST]:
            digest.update(encoded([{name: value for name, value in line.items() if name != "t"}]))
    return encoded([{**line, "digest": digest.hexdigest()} if line.get("type") == "end" else line for line in lines])


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Of everything in a line but its `t`."""
    if isinstance(value, dict):
        return [path, *(found for name, part in value.items() if name != "t" for found in paths(part, (*path, name)))]
    if isinstance(value, list):
        return [path, *(found for place, part in enumerate(value[:3]) for found in paths(part, (*path, place)))]
    return [path]


def with_change(line: Line, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Line:
    """A copy of the line with one thing in it changed; with None the thing is taken out."""
    copy: Line = json.loads(json.dumps(line))
    inside: Any = copy
    for name in path[:-1]:
        inside = inside[name]
    new = change(inside[path[-1]])
    if new is None and isinstance(inside, dict):
        del cast("Line", inside)[path[-1]]
    else:
        inside[path[-1]] = new
    return copy


ONLY_IN_DIGEST = {("decision", "fault"), ("event", "event", "why")}
"""What only the digest protects: which fault it was does not follow from the rules."""


@pytest.mark.parametrize("forge", [False, True], ids=["as it is", "with a digest that fits"])
@pytest.mark.parametrize("change", [changed, lambda _: None, lambda _: []], ids=["changed", "removed", "another type"])
def test_any_change_is_found(forge: bool, change: Callable[[Any], Any], log: bytes, file: Path) -> None:
    """In the line where it was made, or by the digest; the seed in the first line that follows from it."""
    lines: list[Line] = [json.loads(text) for text in log.splitlines()]
    one_of_each = {
        (line["type"], line.get("kind"), line.get("how"), line.get("event", {}).get("type")): number
        for number, line in enumerate(lines)
    }
    tried = 0
    for number in sorted(one_of_each.values()):
        if lines[number]["type"] == "fault" or (forge and number in (0, len(lines) - 1)):
            continue  # with other options or another seed it would be the log of another match
        for path in paths(lines[number])[1:]:
            copy = with_change(lines[number], path, change)
            if copy == lines[number] or (forge and (lines[number]["type"], *path) in ONLY_IN_DIGEST):
                continue
            rewritten = [*lines[:number], copy, *lines[number + 1 :]]
            check_found(file, (forged if forge else encoded)(rewritten), number, path)
            tried += 1
    assert tried > 100


def check_found(file: Path, data: bytes, number: int, path: tuple[Any, ...]) -> None:
    try:
        difference = proved(file, data).difference
    except LogError:
        assert number == 0, path
        return
    assert difference is not None, (number, path)
    if difference.what != "the digest" and number > 0:
        # That another seat forfeits is possible; what follows is not.
        assert number + 1 <= difference.line <= number + 2, (number, path, difference)


@pytest.mark.parametrize("extra", [{"x": 1}, {"t": {"ms": 1}}])
def test_what_is_added_is_found_by_the_digest(extra: Line, log: bytes, file: Path) -> None:
    """But a `t` may hold anything."""
    lines: list[Line] = [json.loads(text) for text in log.splitlines()]
    for number, line in enumerate(lines):
        if line["type"] in IN_DIGEST and "t" not in line:
            verdict = proved(file, encoded([*lines[:number], {**line, **extra}, *lines[number + 1 :]]))
            assert (verdict.difference is None) == ("t" in extra)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1] + b',"how":"asked"}',
        lambda text: text[:-1] + b',"seat":0}',
        lambda text: text.replace(b',"t":{', b',"how":"forced","t":{'),
        lambda text: b'{"t":{},' + text[1:],
        lambda text: text[:-1] + b',"t":5}',
        lambda text: text[:-1] + b',"t":{"a":{"t":{"x":1}}}}',
        lambda text: text.replace(b":", b": "),
        lambda text: text.replace(b"{", b"{ ", 1),
    ],
)
def test_nothing_can_be_hidden_behind_t(change: Callable[[bytes], bytes], log: bytes, file: Path) -> None:
    texts = log.splitlines()
    number = next(number for number, text in enumerate(texts) if b'"how":"fallback"' in text)
    changed_log = b"\n".join([*texts[:number], change(texts[number]), *texts[number + 1 :], b""])
    assert changed_log != log
    verdict = proved(file, changed_log)
    allowed = b'"t":{"a":{"t":{"x":1}}}' in changed_log  # a member that is there twice: the last one is the `t`
    assert verdict.difference is not None or allowed


def test_lines_taken_out_doubled_and_exchanged(log: bytes, file: Path) -> None:
    texts = log.splitlines()
    checked = {b'{"type":"%s"' % kind.encode() for kind in IN_DIGEST}
    for number in range(2, len(texts)):
        if not any(texts[number].startswith(kind) for kind in checked):
            continue
        for rewritten in (
            [*texts[:number], *texts[number + 1 :]],
            [*texts[:number], texts[number], *texts[number:]],
            [*texts[: number - 1], texts[number], texts[number - 1], *texts[number + 1 :]],
        ):
            before = texts[number - 1]
            if before == texts[number] or (before.startswith(b'{"type":"fault"') and len(rewritten) == len(texts)):
                continue
            verdict = proved(file, b"\n".join([*rewritten, b""]))
            assert verdict.difference is not None, number
            if b'"forfeit"' not in texts[number] + before:  # a forfeit may be missed only later
                assert verdict.difference.line <= number + 2 or verdict.difference.what == "the digest"


@pytest.mark.parametrize("junk", [b"", b"{", b"[1]", b"null", b"{}", b"\xff", b'{"type":"resign"}', b"[" * 30_000])
def test_a_line_that_is_none(junk: bytes, log: bytes, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = log.splitlines()
    texts.insert(9, junk)
    difference = proved(file, b"\n".join([*texts, b""])).difference
    assert difference is not None
    assert difference.line == 10
    assert exit_code("replay", str(file), "--verify") == 1
    assert exit_code("replay", str(file)) == 1
    assert "fault of ours" not in "".join(capsys.readouterr())


def test_lines_behind_the_end(log: bytes, file: Path) -> None:
    difference = proved(file, log + log.splitlines()[5] + b"\n").difference
    assert difference is not None
    assert difference.what == "something stands behind the end"


def test_any_damage_at_all(log: bytes, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes changed, put in and taken out by chance: never a traceback, and never right."""
    chance = Random(1)
    for number in range(400):
        data = bytearray(log)
        for _ in range(chance.choice([1, 1, 3])):
            place = chance.randrange(len(data))
            data[place : place + chance.choice([0, 1, 1, 9])] = chance.randbytes(chance.choice([0, 1, 1, 5]))
        try:
            verdict = proved(file, bytes(data))
        except LogError:
            continue
        if number % 20 == 0:
            assert exit_code("replay", str(file)) in (0, 1, 2, 3)
            assert "fault of ours" not in "".join(capsys.readouterr())
        if verdict.difference is None and not verdict.incomplete:
            only_t = [
                text.partition(b',"t":{')[0] for text in bytes(data).splitlines() if b'"type":"fault"' not in text
            ]
            assert only_t == [
                text.partition(b',"t":{')[0] for text in log.splitlines() if b'"type":"fault"' not in text
            ]


# ---- positions, and words


@pytest.mark.parametrize(
    "setup",
    [
        {"hands": [["R1", "B4"], ["B2", "R3"]], "discard_pile": ["R5"], "draw_pile": ["Y7", "Y8", "Y9", "G1"]},
        {"deal": {"seed": "x", "seats": 2}, "scores": [3, 4]},
        {"deal": {"seed": "x", "seats": 2, "dealer": 1, "round": 4}},
    ],
    ids=["middle", "deal", "later deal"],
)
def test_a_match_from_a_position_is_proved(setup: Line, file: Path) -> None:
    async def match() -> None:
        opened, events = from_setup(RULES, setup)
        async with seated(honest(), honest()) as hall:
            await hall.play(file, rules=RULES, opening=Opening(setup, opened, events))

    trio.run(match, clock=MockClock(autojump_threshold=0))
    lines: list[Line] = [json.loads(text) for text in file.read_bytes().splitlines()]
    assert lines[0]["position"] == setup
    assert exit_code("replay", str(file)) == 0
    worse = {**lines[0], "position": {**setup, "scores": [7, 0]}}
    assert proved(file, forged([worse, *lines[1:]])).difference is not None
    with pytest.raises(LogError, match="line 1 does not open a match"):
        proved(file, forged([{**lines[0], "position": {**setup, "nonsense": 1}}, *lines[1:]]))


def test_every_event_has_its_words(log: bytes) -> None:
    names = ["ann", "bob", "cid"]
    for line in map(json.loads, log.splitlines()):
        if line["type"] == "event":
            told = describe(line["event"], names)
            assert "{" not in told
            assert any(name in told for name in names) or line["event"]["type"] in (
                "start_card",
                "reverse",
                "flip",
                "reshuffle",
            )
        if line["type"] == "fault":
            assert describe_fault(line, names).startswith(f"! bob: {line['kind']}")


def test_a_fault_line_that_lacks_everything_is_still_described() -> None:
    assert describe_fault({"type": "fault"}, ["ann"]) == "! None: None: None"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("play R7", "play R7"),
        ("Ünïcödé 日本 🃏", "Ünïcödé 日本 🃏"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb\r\0", "a\\nb\\r\\x00"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\u200b\ufeff\u2028", "\\u200b\\ufeff\\u2028"),
        ("\ud800", "\\ud800"),
        ("\x9b", "\\x9b"),
    ],
)
def test_what_bots_say_moves_no_cursor(text: str, shown: str) -> None:
    assert escaped(text) == shown
