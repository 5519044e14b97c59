"""`lastcard play`: what is shown, the result for scripts, positions, faults, and seeds that repeat a match."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import DIES_ONCE, HANG, ILLEGAL, bot, lastcard, start
from tests.conftest import RequireDebian

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
ONE_ROUND = ("--rounds", "1", "--seed", "s1")


def result(*words: str) -> dict[str, Any]:
    done = lastcard("play", *words, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1
    found: dict[str, Any] = json.loads(done.out)
    return found


def first_line(log: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(log.read_text().splitlines()[0])
    return found


def test_a_match_is_shown_as_it_goes_and_the_same_seed_shows_the_same() -> None:
    shown = lastcard("play", "greedy", "random", *ONE_ROUND)
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0] == "UNO Mario Kart: greedy, random (seed s1)"
    assert lines[1].startswith("draw for dealer: ")
    assert lines[-1].startswith("the match is over (rounds): 1. ")
    assert lastcard("play", "greedy", "random", *ONE_ROUND).out == shown.out
    assert lastcard("play", "greedy", "random", "--rounds", "1", "--seed", "s2").out != shown.out


def test_a_seed_that_was_drawn_is_shown_and_repeats_the_match() -> None:
    drawn = lastcard("play", "greedy", "random", "--rounds", "1")
    seed = drawn.out.splitlines()[0].rpartition("(seed ")[2].rstrip(")")
    assert len(seed) == 32
    assert lastcard("play", "greedy", "random", "--rounds", "1", "--seed", seed).out == drawn.out


def test_json_is_json_whatever_a_bot_says(tmp_path: Path) -> None:
    """A control, one of the second kind, and what shows nothing, beyond 16 bits too: as they are, not escaped."""
    hidden = "p \x7f\x85\u202e\U000e0041"
    raw = f"say = lambda o: print(json.dumps(o, ensure_ascii=False), flush=True); action = {hidden!r}"
    done = lastcard("play", bot(tmp_path, "hidden", raw), "random", *ONE_ROUND, "--json")
    assert done.out.rstrip("\n").isprintable()
    assert hidden in {fault["received"] for fault in json.loads(done.out)["faults"]}


def test_json_is_one_object_and_agrees_with_the_log(tmp_path: Path) -> None:
    log = tmp_path / "match.jsonl"
    found = result("greedy", "greedy", "random", *ONE_ROUND, "--log", str(log), "--edition", "classic")
    assert found["bots"] == ["greedy", "greedy-2", "random"]
    assert (found["edition"], found["seed"], found["log"]) == ("classic", "s1", str(log))
    assert sorted(found["places"])[0] == 1
    assert (found["faults"], found["forfeited"]) == ([], [])
    end = json.loads(log.read_text().splitlines()[-1])
    assert end["digest"] == found["digest"]
    assert first_line(log)["edition"] == "classic"


def test_options_reach_the_rules(tmp_path: Path) -> None:
    log = tmp_path / "match.jsonl"
    result(
        "random", "random", "--set", "stacking=same", "--set", " uno_penalty = 4 ", "--target", "1", "--log", str(log)
    )
    options = first_line(log)["options"]
    assert (options["stacking"], options["uno_penalty"], options["target"]) == ("same", 4, 1)
    assert "rounds" not in options


def test_a_log_may_be_packed(tmp_path: Path) -> None:
    log = tmp_path / "match.jsonl.gz"
    result("random", "random", *ONE_ROUND, "--log", str(log))
    assert log.read_bytes().startswith(b"\x1f\x8b")
    assert lastcard("replay", "--verify", str(log)).code == 0


def test_a_log_that_cannot_be_written_ends_the_match_with_the_command_that_repeats_it() -> None:
    done = lastcard("play", "greedy", "random", *ONE_ROUND, "--log", "/dev/full")
    assert done.code == 3
    assert done.err == (
        "lastcard: the match is void: the log /dev/full cannot be written: No space left on device; to play it again:"
        " lastcard play greedy random --rounds 1 --seed s1 --log /dev/full\n"
    )


def test_pace_changes_nothing_but_the_time() -> None:
    calm = lastcard("play", "greedy", "random", *ONE_ROUND, "--pace", "1ms")
    assert calm.out == lastcard("play", "greedy", "random", *ONE_ROUND).out


POSITION = {
    "hands": [["R7", "WD"], ["B1", "B2"]],
    "discard_pile": ["R1"],
    "draw_pile": ["G1", "G2", "G3", "G4", "G5", "G6"],
}


def vector(folder: Path, **fields: Any) -> str:
    path = folder / "position.json"
    path.write_text(json.dumps({"id": "p", "setup": POSITION, **fields}))
    return str(path)


def test_a_match_begins_in_a_position(tmp_path: Path) -> None:
    log = tmp_path / "match.jsonl"
    file = vector(tmp_path, options={"rounds": 1})
    done = lastcard("play", "greedy", "random", "--position", file, "--log", str(log))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0].endswith("(seed 0)")
    assert done.out.splitlines()[1].startswith("greedy plays ")
    assert first_line(log)["position"] == POSITION
    assert lastcard("replay", "--verify", str(log)).code == 0
    assert lastcard("play", "greedy", "random", "--position", file).out == done.out.replace(f"log: {log}\n", "")


def test_the_command_line_goes_before_the_position(tmp_path: Path) -> None:
    log = tmp_path / "match.jsonl"
    file = vector(tmp_path, options={"target": 1000, "uno_penalty": 4}, edition="classic")
    words = ("random", "random", "--position", file, "--seed", "mine", "--rounds", "1", "--log", str(log))
    assert result(*words)["seed"] == "mine"
    header = first_line(log)
    assert (header["edition"], header["seed"]) == ("classic", "mine")
    assert (header["options"]["rounds"], header["options"]["uno_penalty"]) == (1, 4)
    assert lastcard("replay", "--verify", str(log)).code == 0


def test_a_position_of_a_file_of_vectors_by_its_id(tmp_path: Path) -> None:
    vectors = json.loads((VECTORS / "dealing.json").read_text())
    chosen = next(vector for vector in vectors if "deal" in vector["setup"])
    seats = chosen["setup"]["deal"]["seats"]
    log = tmp_path / "match.jsonl"
    file = f"{VECTORS / 'dealing.json'}#{chosen['id']}"
    result(*["random"] * seats, "--position", file, "--rounds", "1", "--log", str(log))
    assert first_line(log)["position"] == chosen["setup"]


# ---- faults


def test_faults_are_shown_where_they_happen(tmp_path: Path) -> None:
    cheat = bot(tmp_path, "cheat", ILLEGAL)
    done = lastcard("play", "greedy", cheat, *ONE_ROUND)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    strikes = [number for number, line in enumerate(lines) if line.startswith("! cheat: illegal, strike ")]
    leaving = lines.index("cheat forfeits (illegal)")
    assert len(strikes) == 3
    assert 0 < leaving - strikes[-1] < 4  # the fallback's events are in between
    assert strikes[-1] - strikes[0] > 4


@pytest.mark.parametrize(("choose", "code"), [("pass", 0), (ILLEGAL, 1), ("print()", 0)])
def test_strict_makes_faults_count_and_not_blank_lines(tmp_path: Path, choose: str, code: int) -> None:
    done = lastcard("play", "greedy", bot(tmp_path, "mine", choose), *ONE_ROUND, "--strict", "--json")
    assert (done.code, done.err) == (code, "")
    assert bool(json.loads(done.out)["faults"]) == (choose != "pass")


def test_restarts_bring_a_dead_bot_back(tmp_path: Path) -> None:
    for restarts, forfeited in (("1", []), ("0", [1])):
        (tmp_path / "died").unlink(missing_ok=True)
        found = result("greedy", bot(tmp_path, "mortal", DIES_ONCE), *ONE_ROUND, "--restarts", restarts)
        assert [fault["kind"] for fault in found["faults"]] == ["crash"]
        assert found["forfeited"] == forfeited


def test_a_bot_that_thinks_for_ever_is_late(tmp_path: Path) -> None:
    slow = bot(tmp_path, "slow", HANG)
    found = result(slow, "random", *ONE_ROUND, "--move-ms", "20", "--bank-ms", "0", "--strikes", "1")
    assert [fault["kind"] for fault in found["faults"]] == ["timeout"]
    assert found["forfeited"] == [0]


def test_without_limits_nothing_is_late_and_the_log_says_so(tmp_path: Path) -> None:
    log = tmp_path / "match.jsonl"
    slow = bot(tmp_path, "slow", "time.sleep(0.01)")
    words = ("play", slow, "random", *ONE_ROUND, "--move-ms", "1", "--bank-ms", "0", "--log", str(log))
    done = lastcard(*words, "--no-limits", "--strict")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0].endswith("(seed s1; no limits: nothing is ever late)")
    assert all(bot["limits"]["enforced"] is False for bot in first_line(log)["t"]["bots"])
    assert "no limits: slow, random" in lastcard("replay", str(log)).out.splitlines()[0]


def shown_limits(log: Path) -> tuple[int | None, int | None]:
    limits = first_line(log)["t"]["bots"][0]["limits"]
    return limits["move_ms"], limits["bank_ms"]


@pytest.mark.parametrize(
    ("words", "clock"),
    [
        ((), (1000, 10_000)),
        (("--move-ms", "700"), (700, None)),
        (("--bank-ms", "7000"), (None, 7000)),
        (("--move-ms", "700", "--bank-ms", "7000"), (700, 7000)),
    ],
)
def test_one_part_of_the_clock_alone_means_that_there_is_no_other(
    tmp_path: Path, words: tuple[str, ...], clock: tuple[int | None, int | None]
) -> None:
    log = tmp_path / "match.jsonl"
    result("greedy", "random", *ONE_ROUND, *words, "--log", str(log))
    assert shown_limits(log) == clock


@pytest.mark.parametrize("level", ["none", "basic", "strict"])
def test_a_sandbox_is_named_in_the_log_and_changes_no_digest(
    tmp_path: Path, level: str, require_debian: RequireDebian
) -> None:
    if level != "none":
        require_debian("setpriv", "util-linux")
    if level == "strict":
        require_debian("bwrap", "bubblewrap")
    plain = result("greedy", "random", *ONE_ROUND)
    for idle in ("run", "freeze"):
        log = tmp_path / f"{idle}.jsonl"
        words = ("--sandbox", level, "--idle", idle, "--log", str(log))
        found = result("greedy", "random", *ONE_ROUND, *words)
        assert found["digest"] == plain["digest"]
        assert [bot["sandbox"].split(",")[0] for bot in first_line(log)["t"]["bots"]] == [level, level]


def test_limits_of_a_sandbox_reach_the_bot(tmp_path: Path, require_debian: RequireDebian) -> None:
    require_debian("prlimit", "util-linux")
    counts = bot(tmp_path, "counts", "import resource; more = {'note': str(resource.getrlimit(resource.RLIMIT_FSIZE))}")
    log = tmp_path / "match.jsonl"
    words = ("--sandbox", "basic", "--file-mb", "3", "--cpu-s", "77", "--processes", "9", "--memory-mb", "99")
    result(counts, "random", *ONE_ROUND, *words, "--log", str(log), "--seed", "s2")
    assert f'"note":"({3 << 20}, {3 << 20})"' in log.read_text()


PEEKS = """seen = []
        for name in "match.jsonl", "position.json", "peeks.py":
            try:
                seen.append(len(open(name).read()))
            except OSError:
                seen.append(0)
        more = {"note": str(seen)}"""


def test_a_bot_in_a_strict_sandbox_sees_neither_log_nor_position(tmp_path: Path, require_debian: RequireDebian) -> None:
    """Both lie in its own folder, which it may read."""
    require_debian("bwrap", "bubblewrap")
    folder = tmp_path / "bots"
    folder.mkdir(mode=0o755)
    peeks = bot(folder, "peeks", PEEKS)
    log, file = folder / "match.jsonl", vector(folder, options={"rounds": 1})
    words = ("--position", file, "--sandbox", "strict", "--log", str(log))
    result(peeks, "random", *words)
    said = {line["t"]["note"] for line in map(json.loads, log.read_text().splitlines()) if "note" in line.get("t", {})}
    assert said == {f"[0, 0, {len((folder / 'peeks.py').read_text())}]"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--memory-mb", "99"), "--memory-mb: has no effect without a sandbox, expected --sandbox basic or "),
        (("--read", "/opt"), "--read: has no effect without a sandbox, expected --sandbox basic or "),
        (("--sandbox", "strict", "--memory-mb", "1"), "'--memory-mb': '1', expected a whole number from 16 to "),
        (("--sandbox", "strict", "--read", "/gone"), "bot 'greedy': it may read '/gone', but there is nothing of"),
    ],
)
def test_a_sandbox_that_cannot_be_meant_is_said_before_anything_starts(
    tmp_path: Path, words: tuple[str, ...], sentence: str, require_debian: RequireDebian
) -> None:
    require_debian("bwrap", "bubblewrap")
    done = lastcard("play", "greedy", "random", *words, "--log", "match.jsonl", cwd=tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert sentence in done.err
    assert list(tmp_path.iterdir()) == []


SLEEPS = """if not os.path.exists("asleep"):
            open("asleep", "w").close()
            time.sleep(3)"""


def test_a_referee_that_waits_uses_no_cpu(tmp_path: Path) -> None:
    """A bot thinks for three of its five seconds."""
    words = ("play", bot(tmp_path, "sleeps", SLEEPS), "random", *ONE_ROUND, "--move-ms", "5000", "--json")
    with start(*words) as process:
        while not (tmp_path / "asleep").exists():
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.2)  # the ask's own work is done
        before = cpu_seconds(process.pid)
        time.sleep(2.3)
        used = cpu_seconds(process.pid) - before
        assert process.wait(60) == 0
    assert used < 0.05


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_what_a_bot_says_reaches_no_terminal_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "match.jsonl"
    note = "more = {'note': '\\x1b[2Jx\\r\\ny\\u202ez'}"
    rude = bot(tmp_path, "rude", f"{note}; action = '\\x1b[31mplay\\u2028'")
    done = lastcard("play", rude, "random", *ONE_ROUND, "--log", str(log))
    assert "\\x1b[31mplay" in done.out
    polite = bot(tmp_path, "polite", note)
    lastcard("play", polite, "random", *ONE_ROUND, "--log", str(log))
    shown = lastcard("replay", str(log))
    assert "  # \\x1b[2Jx\\r\\ny\\u202ez\n" in shown.out
    for text in (done.out, shown.out):
        assert not set(text) & {"\x1b", "\r", "\u202e", "\u2028"}


def test_a_quoted_command_with_arguments_runs_in_this_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a folder with blanks é"
    folder.mkdir()
    bot(folder, "mine")
    done = lastcard("play", f"{sys.executable} mine.py --deep", "random", *ONE_ROUND, "--strict", cwd=folder)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("UNO Mario Kart: mine, random (seed s1)\n")
