"""The log while it is written, and the reader: what is in it, the digest, packing, and files that are no log."""

import gzip
import hashlib
import json
import os
from pathlib import Path

import pytest

from lastcard.engine import Rules
from lastcard.referee.faults import Fault, FaultKind, Phase, last_lines, printable
from lastcard.referee.limits import Limits
from lastcard.referee.log_lines import fault_line
from lastcard.referee.log_reader import LogError, read_log
from lastcard.referee.match_log import LogWriteError, MatchLog
from lastcard.referee.player import Connection, Player
from lastcard.referee.processes import StartError
from tests.referee.scripted import ANSWER, Bot, Game, Line, Script, exits, honest, mock_time, play, says, silent

IN_DIGEST = {"match", "round", "decision", "event", "result"}


async def some_game(path: Path) -> Game:
    """With two faults."""
    return await play(path, honest(), honest({2: silent, 4: says(b"\xff\n")}), honest(), seed="h")


# ---- writing


@mock_time
async def test_the_digest_can_be_computed_by_anyone(tmp_path: Path) -> None:
    """SHA-256 of the lines of five types, each without its last member `t`, as compact JSON."""
    game = await some_game(tmp_path / "log")
    digest = hashlib.sha256()
    for line in map(json.loads, (tmp_path / "log").read_text().splitlines()):
        if line["type"] in IN_DIGEST:
            line.pop("t", None)
            digest.update(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
    assert digest.hexdigest() == game.outcome.digest == game.lines[-1]["digest"]


@mock_time
async def test_every_line_is_compact_and_t_stands_last(tmp_path: Path) -> None:
    await some_game(tmp_path / "log")
    for text in (tmp_path / "log").read_bytes().splitlines():
        line = json.loads(text)
        assert json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() == text
        assert next(iter(line)) == "type"
        if "t" in line:
            assert list(line)[-1] == "t"


@mock_time
async def test_what_the_first_line_holds(tmp_path: Path) -> None:
    rules = Rules.of("classic", {"target": 40, "catch": "auto"})

    async def declares(bot: Bot) -> None:
        await bot.read()
        await bot.say({"type": "hello", "protocol": 1, "name": "Überbot", "version": "2.0"})
        await honest()(bot)

    game = await play(tmp_path / "log", honest(), declares, rules=rules, seed="seed.1")
    header = game.lines[0]
    assert {name: header[name] for name in ("type", "format", "edition", "seed", "seats", "target")} == {
        "type": "match",
        "format": 1,
        "edition": "classic",
        "seed": "seed.1",
        "seats": 2,
        "target": 40,
    }
    assert header["options"] == rules.options
    assert "rounds" not in header
    t = header["t"]
    assert t["software"].startswith("lastcard ")
    assert [(bot["name"], bot["declared_name"], bot["declared_version"], bot["command"]) for bot in t["bots"]] == [
        ("bot0", "", "", "bot 0"),
        ("bot1", "Überbot", "2.0", "bot 1"),
    ]
    assert t["begun"] <= game.lines[-1]["t"]["ended"]


@mock_time
async def test_the_deck_of_a_round_is_logged_as_dealt(tmp_path: Path) -> None:
    game = await some_game(tmp_path / "log")
    (round_line,) = game.logged("round")
    hands = [line["event"]["cards"] for line in game.logged("event") if line["event"]["type"] == "deal"]
    assert round_line["deck"][:21] == [hand[place] for place in range(7) for hand in hands]
    assert len(round_line["deck"]) == 112


def test_one_write_for_all_lines_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[bytes] = []
    write = os.write

    def counted(fd: int, data: bytes) -> int:
        writes.append(bytes(data))
        return write(fd, data)

    log = MatchLog(tmp_path / "log")
    monkeypatch.setattr(os, "write", counted)
    for number in range(3):
        log.line({"type": "decision", "n": number})
    assert writes == []
    log.flush()
    log.flush()
    monkeypatch.undo()
    log.close()
    assert len(writes) == 1
    assert (tmp_path / "log").read_bytes() == writes[0]


def test_a_write_that_is_cut_short_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, bytes(data)[:7]))
    log = MatchLog(tmp_path / "log")
    log.line({"type": "decision", "n": 1})
    log.flush()
    monkeypatch.undo()
    log.close()
    assert (tmp_path / "log").read_bytes() == b'{"type":"decision","n":1}\n'


def test_a_log_that_cannot_be_written_says_which() -> None:
    log = MatchLog(Path("/dev/full"))
    log.line({"type": "match"})
    with pytest.raises(LogWriteError, match="the log /dev/full cannot be written: No space left on device"):
        log.flush()
    log.close()


def test_without_a_path_there_is_a_digest_all_the_same(tmp_path: Path) -> None:
    digests: list[str] = []
    for path in (None, tmp_path / "log"):
        log = MatchLog(path)
        log.line({"type": "match", "format": 1}, {"when": str(path)})
        log.line({"type": "fault", "path": str(path)})
        digests.append(log.end())
    assert digests[0] == digests[1]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def usual(tmp_path: Path) -> int:
    """The mode of any new file here."""
    (tmp_path / "any").touch()
    return mode(tmp_path / "any")


def begun(path: Path) -> MatchLog:
    log = MatchLog(path)
    log.line({"type": "match", "format": 1})
    log.flush()
    return log


def test_a_log_is_for_its_owner_until_the_match_is_over(tmp_path: Path, usual: int) -> None:
    """It holds every hand while the match runs."""
    log = begun(tmp_path / "log")
    assert mode(tmp_path / "log") == 0o600
    log.end()
    assert mode(tmp_path / "log") == usual


def test_a_packed_log_is_for_its_owner_until_the_match_is_over(tmp_path: Path, usual: int) -> None:
    log = begun(tmp_path / "log.jsonl.gz")
    assert mode(tmp_path / "log.jsonl") == 0o600
    log.end()
    assert mode(tmp_path / "log.jsonl.gz") == usual


def test_the_log_of_a_match_that_was_stopped_stays_its_owners(tmp_path: Path, usual: int) -> None:
    """The same deal is played again; what is written over it then has the usual mode in the end."""
    begun(tmp_path / "log").close()
    assert mode(tmp_path / "log") == 0o600
    begun(tmp_path / "log").end()
    assert mode(tmp_path / "log") == usual


def test_a_file_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("old")
    (tmp_path / "log").chmod(0o640)
    log = begun(tmp_path / "log")
    assert mode(tmp_path / "log") == 0o600
    log.end()
    assert mode(tmp_path / "log") == 0o640
    assert "old" not in (tmp_path / "log").read_text()


def test_what_is_no_file_is_left_as_it_is() -> None:
    before = mode(Path("/dev/null"))
    begun(Path("/dev/null")).end()
    assert mode(Path("/dev/null")) == before == 0o666


def test_the_umask_is_left_as_it_is(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        begun(tmp_path / "log").end()
        assert mode(tmp_path / "log") == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_packed_when_it_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain while it runs; then the same lines give the same bytes."""
    packed: list[bytes] = []
    monkeypatch.setattr("lastcard.referee.match_log.now", lambda: "now")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "log.jsonl.gz"
        log = MatchLog(path)
        log.line({"type": "match", "format": 1})
        log.flush()
        assert os.listdir(path.parent) == ["log.jsonl"]
        log.line({"type": "result"})
        log.flush()
        plain = (path.parent / "log.jsonl").read_bytes()
        log.end()
        assert os.listdir(path.parent) == ["log.jsonl.gz"]
        assert gzip.decompress(path.read_bytes()).startswith(plain)
        packed.append(path.read_bytes())
    assert packed[0] == packed[1]
    assert packed[0][4:8] == b"\0\0\0\0"


def test_a_fault_in_full() -> None:
    fault = Fault(
        seat=2, kind=FaultKind.CRASH, phase=Phase.ASKED, detail="d", limit_ms=1, elapsed_ms=0, received=b"\xff\x1bq",
        size=700, exit_status="exit status 1", stderr="e", strikes=1, of=3, applied="draw", repeat="./bot",
    )  # fmt: skip
    assert fault_line(fault) == {
        "type": "fault",
        "seat": 2,
        "kind": "crash",
        "phase": "asked",
        "detail": "d",
        "limit_ms": 1,
        "elapsed_ms": 0,
        "received": "\\xff\x1bq",
        "size": 700,
        "exit": "exit status 1",
        "stderr": "e",
        "strikes": 1,
        "of": 3,
        "applied": "draw",
        "repeat": "./bot",
    }


ALWAYS = {"type", "seat", "kind", "phase", "detail", "strikes", "of", "repeat"}
ASKED = ALWAYS | {"limit_ms", "elapsed_ms", "stderr"}
NAME_2 = b'{"type":"hello","protocol":2,"name":"\\u202e\\u001b[2J"}\n'


async def grumbles(bot: Bot) -> None:
    """What every program here writes to standard error."""
    bot.stderr.kept = b"\xff\x1b[31m\n" * 30


def grumbling(script: Script) -> Script:
    async def both(bot: Bot) -> None:
        await grumbles(bot)
        await script(bot)

    return both


def raw_lines(line: bytes) -> Script:
    """Says this in place of a hello."""

    async def script(bot: Bot) -> None:
        await bot.say(line)
        await bot.sleep(99)

    return script


async def closes(bot: Bot, ask: Line) -> None:
    bot.close_output()
    await bot.sleep(99)


async def full(bot: Bot, ask: Line) -> None:
    await bot.act(ask)
    bot.fill_input()
    await bot.sleep(99)


EVIDENCE: list[tuple[str, Script, set[str]]] = [
    ("version", raw_lines(NAME_2), ASKED | {"received", "size"}),
    ("startup", raw_lines(b"Starting\x9b\xff up\n"), ASKED | {"received", "size"}),
    ("timeout", honest({2: says(b"\x1b\xff")}), ASKED | {"received", "applied"}),
    ("malformed", honest({2: says(b"\x1b\xff\n")}), ASKED | {"received", "size", "applied"}),
    ("illegal", honest({2: lambda bot, ask: bot.act(ask, "\x1b\u202e")}), ASKED | {"received", "size", "applied"}),
    ("oversize", honest({2: says(b"\x00" * 70_000 + b"\n")}), ASKED | {"received", "size", "applied"}),
    ("stale", honest({2: says(b'{"type":"\\u001b"}\n', ANSWER)}), ALWAYS | {"received", "size"}),
    ("flood", honest({2: says(*[b"\t\n"] * 17)}), ASKED | {"received", "size"}),
    ("stall", honest({2: full}), ASKED),
    ("eof", honest({2: closes}), ASKED | {"applied"}),
    ("crash", honest({2: exits("killed by SIGSEGV")}), ASKED | {"applied", "exit"}),
]


@pytest.mark.parametrize(("kind", "script", "fields"), EVIDENCE, ids=[row[0] for row in EVIDENCE])
@mock_time
async def test_the_evidence_of_each_kind(kind: str, script: Script, fields: set[str], tmp_path: Path) -> None:
    """All that design.md 5 asks for, wherever it applies; and no byte of a bot stands raw in the file."""
    game = await play(tmp_path / "log", honest(), grumbling(script), honest(), seed="h")
    fault = next(line for line in game.logged("fault") if line["kind"] == kind)
    assert set(fault) == fields
    assert (fault["seat"], fault["of"], fault["repeat"]) == (1, 3, "bot 1")
    if "limit_ms" in fault:
        assert 0 <= fault["elapsed_ms"] <= fault["limit_ms"]
    if "stderr" in fault:
        assert fault["stderr"].splitlines() == ["\\xff\x1b[31m"] * 20
    text = (tmp_path / "log").read_bytes()
    assert not set(text) & (set(range(32)) - {10}), "no control character is raw"
    text.decode("utf-8")


def test_every_kind_of_a_bot_has_a_row_of_evidence() -> None:
    """The two that are ours are shown in test_our_faults.py."""
    assert {row[0] for row in EVIDENCE} == set(FaultKind) - {FaultKind.HOST, FaultKind.REFEREE}


def unstartable() -> Connection:
    raise StartError("nothing is started here")


def test_what_is_no_utf8_is_escaped() -> None:
    assert printable(os.fsdecode(b"./b\xffot")) == "./b\\xffot"
    assert Player("b", (os.fsdecode(b"./b\xff t"),), Limits(), unstartable).repeat == "'./b\\xff t'"
    assert last_lines(b"\xff\n" * 30).splitlines() == ["\\xff"] * 20
    assert len(last_lines(b"x" * 100_000)) == 4096


# ---- reading


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"hello\n", "not the log of a match"),
        (b"hello", "not the log of a match"),
        (b"\xff\xfe\n", "not the log of a match"),
        (b"[]\n", "not the log of a match"),
        (b"{}\n", "a line without a type"),
        (b'{"type":"event"}\n', "line 1 has the type 'event'"),
        (b'{"type":"match","format":99}\n', "log format 99, this version reads format 1"),
        (b'{"type":"match"}\n', "log format None"),
        (b"\x1f\x8b\x08garbage that is no gzip at all", "damaged gzip"),
        (gzip.compress(b"hello\n"), "not the log of a match"),
        (gzip.compress(b"") + b"x", "1 bytes after its end"),
    ],
)
def test_not_a_log(content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(LogError) as caught:
        read_log(tmp_path / "log")
    assert told in str(caught.value)
    assert str(tmp_path / "log") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_not_a_file(tmp_path: Path) -> None:
    for path, told in ((tmp_path, "Is a directory"), (tmp_path / "none", "No such file")):
        with pytest.raises(LogError, match=told):
            read_log(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b'{"type":"ma', "it ends in the middle of line 1"),
        (b'{"type":"match","format":1', "it ends in the middle of line 1"),
        (b'{"type":"match","format":1}', "it ends in the middle of line 1"),
        (b'{"type":"match","format":1}\n', "it stops after line 1, without its end"),
        (b'{"type":"match","format":1}\n{"ty', "it ends in the middle of line 2"),
        (b'{"type":"match","format":1}\n{"type":"end"}', "it ends in the middle of line 2"),
        (b'{"type":"match","format":1}\n{"type":"end"}\n', ""),
        (b'{"type":"match","format":1}\r\n{"type":"end"}\r\n', ""),
        (gzip.compress(b'{"type":"match","format":1}\n')[:-9], "the gzip file is cut off"),
    ],
)
def test_how_far_a_log_goes(content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(content)
    assert read_log(tmp_path / "log").problem == problem


@mock_time
async def test_the_lines_as_they_were_written(tmp_path: Path) -> None:
    """Plain, packed, and with the line ends of Windows."""
    game = await some_game(tmp_path / "log")
    data = (tmp_path / "log").read_bytes()
    (tmp_path / "packed").write_bytes(gzip.compress(data))
    (tmp_path / "windows").write_bytes(data.replace(b"\n", b"\r\n"))
    lines: list[list[Line]] = [read_log(tmp_path / name).lines for name in ("log", "packed", "windows")]
    assert lines[0] == lines[1] == lines[2]
    assert read_log(tmp_path / "windows").digest() == game.outcome.digest
