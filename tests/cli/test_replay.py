"""`lastcard replay`: steps, the proof, what one seat may see, and logs that are cut, packed, damaged or none."""

import gzip
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastcard.referee.cli.main import run
from tests.cli.commands import ILLEGAL, LASTCARD, bot, environment, lastcard


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


def test_every_step_is_shown(a_log: Path) -> None:
    done = lastcard("replay", str(a_log))
    assert (done.code, done.err) == (0, "")
    shown = done.out.splitlines()
    assert shown[0] == "mario-kart, rounds=1, seed a-log: greedy, random"
    assert shown[1].startswith("  draw for dealer: ")
    lines = lines_of(a_log)
    assert len([line for line in shown if line.startswith("  ")]) == sum(line["type"] == "event" for line in lines)
    decisions = [line for line in lines if line["type"] == "decision"]
    numbered = [line for line in shown if line.startswith("[")]
    assert len(numbered) == len(decisions)
    for line, decision in zip(numbered, decisions, strict=True):
        name = ("greedy", "random")[decision["seat"]]
        forced = " (forced)" if decision["how"] == "forced" else ""
        assert line == f"[{decision['n']}] {name} {decision['kind']}: {decision['action']}{forced}"
    assert not any("of: " in line for line in numbered)
    with_legal = lastcard("replay", str(a_log), "--legal").out
    asked = next(decision for decision in decisions if decision["how"] == "asked")
    assert f"{asked['action']}  of: {', '.join(asked['legal'])}\n" in with_legal


def test_a_right_log_is_proved(a_log: Path, tmp_path: Path) -> None:
    digest = lines_of(a_log)[-1]["digest"]
    done = lastcard("replay", "--verify", str(a_log))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{a_log}: right, ")
    assert done.out.endswith(f"digest {digest}\n")
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(a_log.read_bytes()))
    assert lastcard("replay", "--verify", str(packed)).out.endswith(f"digest {digest}\n")
    assert lastcard("replay", str(packed)).out == lastcard("replay", str(a_log)).out


def test_a_changed_log_shows_the_first_difference_and_the_position(a_log: Path, tmp_path: Path) -> None:
    lines = lines_of(a_log)
    place = next(i for i, line in enumerate(lines) if line.get("event", {}).get("type") == "draw")
    was = lines[place]["event"]["cards"][:]
    lines[place]["event"]["cards"][0] = "R\x1b[31m"
    log = written(tmp_path / "wrong.jsonl", lines)
    done = lastcard("replay", "--verify", str(log))
    assert (done.code, done.err) == (1, "")
    first, logged, rebuilt, position = done.out.splitlines()
    assert first.startswith(f"{log}: DIFFERENT at line {place + 1}: ")
    assert "R\\u001b[31m" in logged
    assert was[0] in rebuilt
    assert position.startswith('  position: {"round":1,"turn":')
    shown = lastcard("replay", str(log))
    assert shown.code == 1
    assert shown.err == f"lastcard: {log}: differs from the rules at line {place + 1}: the event; see --verify\n"


@pytest.mark.parametrize("packed", [False, True])
def test_a_log_cut_off_is_shown_as_far_as_it_goes(a_log: Path, tmp_path: Path, packed: bool) -> None:
    whole = gzip.compress(a_log.read_bytes(), mtime=0) if packed else a_log.read_bytes()
    log = tmp_path / "cut.jsonl"
    log.write_bytes(whole[: len(whole) // 2])
    proof, shown = lastcard("replay", "--verify", str(log)), lastcard("replay", str(log))
    assert (proof.code, proof.err) == (3, "")
    assert re.fullmatch(rf"{re.escape(str(log))}: incomplete \(.+\), right so far: [0-9]+ steps\n", proof.out)
    assert shown.code == 3
    assert shown.err.startswith(f"lastcard: {log}: incomplete: ")
    assert shown.err.count("\n") == 1
    assert lastcard("replay", str(a_log)).out.startswith(shown.out)


def test_a_log_of_which_nothing_is_left(tmp_path: Path) -> None:
    log = tmp_path / "empty.jsonl"
    for text in ("", '{"type":"match","form'):
        log.write_text(text)
        for words in ((), ("--verify",)):
            assert lastcard("replay", str(log), *words).code == 3


def test_several_logs_the_gravest_decides(a_log: Path, tmp_path: Path) -> None:
    cut, text, wrong = tmp_path / "cut", tmp_path / "text", tmp_path / "wrong"
    cut.write_bytes(a_log.read_bytes()[:2000])
    text.write_text("no log")
    wrong.write_text(a_log.read_text().replace('"action":"draw"', '"action":"play R0"', 1))
    good = str(a_log)

    def verified(*logs: object) -> tuple[int, str]:
        done = lastcard("replay", "--verify", *map(str, logs))
        return done.code, done.out.splitlines()[-1]

    assert verified(good, good) == (0, "2 logs: 2 right")
    assert verified(good, cut) == (3, "2 logs: 1 right, 1 incomplete")
    assert verified(cut, text, good) == (2, "3 logs: 1 right, 1 incomplete, 1 no log")
    assert verified(text, wrong, cut, good) == (1, "4 logs: 1 right, 1 different, 1 incomplete, 1 no log")
    shown = lastcard("replay", good, str(cut), good)
    assert shown.code == 3
    assert [line for line in shown.out.splitlines() if line.startswith("== ")] == [
        f"== {good}",
        f"== {cut}",
        f"== {good}",
    ]


# ---- what a seat may see


def test_a_seat_sees_its_own_cards_and_decisions_only(tmp_path: Path) -> None:
    log = tmp_path / "match.jsonl"
    cheat = bot(tmp_path, "cheat", f"more = {{'note': 'secret'}}; {ILLEGAL}")
    lastcard("play", "greedy", cheat, "random", "--seed", "s3", "--rounds", "1", "--log", str(log))
    lines = lines_of(log)
    faults = [line for line in lines if line["type"] == "fault"]
    assert faults
    for seat, own in enumerate(["greedy", "cheat", "random"]):
        done = lastcard("replay", str(log), "--seat", str(seat), "--legal")
        assert (done.code, done.err) == (0, "")
        shown = done.out.splitlines()
        assert "seed" not in shown[0]
        deals = [line for line in shown if " gets 7 cards" in line]
        assert [line for line in deals if ": " in line] == [line for line in deals if line.startswith(f"  {own} ")]
        draws = [line for line in shown if re.search(r" draws [0-9]+.*: ", line)]
        assert all(line.startswith(f"  {own} ") for line in draws)
        decisions = [line for line in shown[1:] if line[0] not in " !-"]
        mine = [line for line in lines if line["type"] == "decision" and line["seat"] == seat]
        assert len(decisions) == len(mine)
        assert all(line.startswith(f"{own} ") for line in decisions)
        assert [line[:8] for line in shown if line.startswith("!")] == ["! cheat:"] * (len(faults) if seat == 1 else 0)
        assert ("secret" in done.out) == (seat == 1)


def test_there_is_no_such_seat(a_log: Path) -> None:
    done = lastcard("replay", str(a_log), "--seat", "2")
    assert (done.code, done.out, done.err) == (2, "", f"lastcard: {a_log}: there is no seat 2, expected 0 to 1\n")


# ---- readers


@pytest.mark.parametrize("words", [(), ("--verify",)])
def test_a_reader_who_leaves_is_no_error(a_log: Path, words: tuple[str, ...]) -> None:
    with subprocess.Popen(
        (*LASTCARD, "replay", *words, *[str(a_log)] * 20),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_difference_counts_even_if_nobody_reads_of_it(a_log: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text(a_log.read_text().replace('"action":"draw"', '"action":"play R0"', 1))
    with subprocess.Popen(
        (*LASTCARD, "replay", "--verify", str(wrong)), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


# ---- whatever stands in a log

ODD: tuple[object, ...] = (None, -1, 10**30, 1.5, "", "\x1b[31m", [], {}, [[]], True)


def tampered(lines: list[dict[str, Any]], seed: int) -> None:
    """Take a member away, or put something odd in its place, somewhere."""
    line = lines[seed * 7 % min(len(lines), 23) if seed % 3 else -1 - seed % 4]
    inner: dict[str, Any] = line
    for name in ("t", "event", "options"):
        if isinstance(line.get(name), dict) and seed % 2:
            inner = line[name]
    name = sorted(inner)[seed % len(inner)]
    if seed % 5:
        inner[name] = ODD[seed % len(ODD)]
    else:
        del inner[name]


@pytest.mark.parametrize("seed", range(80))
def test_whatever_is_in_a_log_there_is_no_fault_of_ours(
    a_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    lines = lines_of(a_log)
    tampered(lines, seed)
    log = str(written(tmp_path / "odd.jsonl", lines))
    ends: list[Callable[[], int]] = [lambda: run(["replay", log]), lambda: run(["replay", "--verify", log])]
    for end in ends:
        with pytest.raises(SystemExit) as ended:
            end()
        out, err = capsys.readouterr()
        assert ended.value.code in (0, 1, 2, 3)
        assert "fault of ours" not in err
        assert err.count("\n") <= 1
        assert "\x1b" not in out + err


def test_a_fault_with_half_its_members_is_shown(a_log: Path, tmp_path: Path) -> None:
    lines = lines_of(a_log)
    lines.insert(3, {"type": "fault", "seat": "\x1b[31m"})
    done = lastcard("replay", str(written(tmp_path / "odd.jsonl", lines)))
    assert (done.code, done.err) == (0, "")
    assert "! \\x1b[31m: None: None\n" in done.out
