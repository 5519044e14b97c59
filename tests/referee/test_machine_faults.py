"""Rows of the fault table that need real processes: limits of the sandbox, children that stay, signals, floods, and a
machine or a referee that fails. One honest bot sits beside each; it loses nothing by it.
"""

import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.failures import MatchFailed
from lastcard.referee.limits import Idle, Limits
from lastcard.referee.log_reader import read_log
from lastcard.referee.match_log import MatchLog
from lastcard.referee.replay import verify
from lastcard.referee.sandbox import launch
from lastcard.referee.sandbox.chain import program
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.sandbox.uids import NoUid
from lastcard.referee.seating import Keeping, ProcessSeating, part_all, player_of
from lastcard.referee.table import Outcome, Table
from lastcard.referee.tournament.ports import Bot
from tests.conftest import RequireDebian
from tests.referee.children import adopting_orphans
from tests.referee.scripted import ONE_ROUND
from tests.referee.test_play_processes import PRELUDE

LIMITS = Limits(move_ms=20_000, bank_ms=0, start_ms=20_000)
"""No bot here is late, but for those that never come."""
PYTHON = ("/usr/bin/python3", "-S", "-E", "-I", "-c")

Confine = Callable[..., Sandbox]


@pytest.fixture
def confine(require_debian: RequireDebian) -> Iterator[Confine]:
    """`confine(level, **limits)`: a sandbox that this machine can give."""
    require_debian("/usr/bin/python3", "python3")
    require_debian("setpriv", "util-linux")
    require_debian("bwrap", "bubblewrap")
    with adopting_orphans():
        yield lambda level, **limits: Sandbox(level=level, **limits)


async def play(
    script: str, sandbox: Sandbox, folder: Path, *, limits: Limits = LIMITS, word: str = ""
) -> tuple[Outcome, list[dict[str, Any]]]:
    """A match of one round between an honest bot and, in seat 1, one that runs this script; and its fault lines."""
    label, path = uuid4().hex, folder / "log"
    bots = (("honest", "play()", Sandbox()), ("other", script, sandbox))
    players = [
        player_of(
            BotCommand(name, (*PYTHON, PRELUDE + text, word)),
            limits,
            Keeping(box, (), Idle.RUN),
            seat=seat,
            match=label,
        )
        for seat, (name, text, box) in enumerate(bots)
    ]
    log = MatchLog(path)
    try:
        outcome = await Table(players, ONE_ROUND, "h", log, match_id="m").play()
    finally:
        log.close()
        await part_all(players, "the match is over")
    read = read_log(path)
    assert verify(read).difference is None
    assert {fault.seat for fault in outcome.faults} <= {1}
    return outcome, [line for line in read.lines if line["type"] == "fault"]


def left(word: str) -> list[str]:
    """The command lines of the processes that have this word in theirs; zombies have none."""
    found: list[str] = []
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
        except OSError:
            continue
        if word.encode() in line:
            found.append(line.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


# ---- limits of the sandbox

CONFINED = (Level.BASIC, Level.STRICT)
EATS = "eaten = []\nplay(lambda ask: forever(lambda: eaten.append(bytearray(b'x' * (1 << 20)))), at=2)"
SPINS = "play(lambda ask: forever(int), at=2)"
WRITES = """
import tempfile
signal.signal(signal.SIGXFSZ, {handler})
def write(ask):
    with tempfile.TemporaryFile() as file:
        try:
            file.write(b"x" * 3_000_000)
            file.flush()
        except OSError as error:
            say(json.dumps({{"type": "refused", "why": error.strerror}}))
    act(ask)
play(write, at=2)
"""
FORKS = """
def fork(ask):
    refused = 0
    for _ in range(30):
        try:
            if not os.fork():
                hang()
        except OSError:
            refused += 1
    say(json.dumps({"type": "refused", "times": refused}))
    act(ask)
play(lambda ask: fork(ask) if ask["id"] == 2 else act(ask))
"""


@pytest.mark.parametrize("level", CONFINED)
async def test_a_bot_that_takes_too_much_memory(level: Level, confine: Confine, tmp_path: Path) -> None:
    """F-100: its own fault, with what it had reached; the machine and the other bot feel nothing."""
    outcome, (fault,) = await play(EATS, confine(level, memory_mb=64), tmp_path)
    assert (fault["kind"], fault["strikes"]) == ("crash", 1)
    assert "out of memory: its limit is 64 MB" in fault["exit"] or "MemoryError" in fault["stderr"]
    assert fault["exit"] in fault["detail"]
    assert outcome.forfeited == [1]


@pytest.mark.parametrize("level", CONFINED)
async def test_a_bot_that_takes_too_much_cpu(level: Level, confine: Confine, tmp_path: Path) -> None:
    """F-101."""
    outcome, (fault,) = await play(SPINS, confine(level, cpu_s=1), tmp_path)
    assert (fault["kind"], fault["exit"]) == ("crash", "killed by SIGXCPU, its CPU limit of 1 s")
    assert outcome.forfeited == [1]


async def test_a_bot_that_writes_too_large_a_file(confine: Confine, tmp_path: Path) -> None:
    """F-102: where the signal kills it, the fault names the limit."""
    _, (fault,) = await play(WRITES.format(handler="signal.SIG_DFL"), confine(Level.BASIC, file_mb=1), tmp_path)
    assert (fault["kind"], fault["exit"]) == ("crash", "killed by SIGXFSZ, its file limit of 1 MB")


@pytest.mark.parametrize("level", CONFINED)
async def test_a_bot_whose_write_is_refused_plays_on(level: Level, confine: Confine, tmp_path: Path) -> None:
    """F-102."""
    sandbox = confine(level, file_mb=1)
    outcome, faults = await play(WRITES.format(handler="signal.SIG_IGN"), sandbox, tmp_path)
    assert {fault["kind"] for fault in faults} <= {"stale", "flood"}
    assert "File too large" in faults[0]["received"] or "No space left" in faults[0]["received"]
    assert len(outcome.places) == 2


@pytest.mark.parametrize("level", CONFINED)
async def test_a_bot_that_forks_too_often(level: Level, confine: Confine, tmp_path: Path) -> None:
    """F-103: some of its forks fail; it plays on, and the rest ends with it."""
    word = uuid4().hex
    outcome, (line,) = await play(FORKS, confine(level, processes=10), tmp_path, word=word)
    assert line["kind"] == "stale", "it is only its own message"
    assert json.loads(line["received"])["times"] >= 20
    assert outcome.forfeited == []
    assert left(word) == []


# ---- the tree of a bot

TREE = """
def daemon():
    if os.fork() == 0:
        os.setsid()
        for number in (1, 2, 15):
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            hang()
        os.kill(os.getpid(), signal.SIGSTOP)
daemon()
play()
"""
HOLDS = """
def die(ask):
    if os.fork() == 0:
        hang()
    os._exit(4)
play(die, at=2)
"""
STOPS = "play(lambda ask: os.kill(os.getpid(), signal.SIGSTOP), at=2)"
FLOODS = "play(lambda ask: (os.write(2, b'e' * 1_000_000), act(ask)))"


@pytest.mark.parametrize("level", Level)
async def test_what_a_bot_has_started_ends_with_it_and_is_no_fault(
    level: Level, confine: Confine, tmp_path: Path
) -> None:
    """F-110: a new session, an orphan, a deaf one, a stopped one."""
    word = uuid4().hex
    outcome, faults = await play(TREE, confine(level), tmp_path, word=word)
    assert (faults, outcome.forfeited) == ([], [])
    assert left(word) == []


@pytest.mark.parametrize("level", Level)
async def test_a_child_that_holds_the_pipes_is_not_waited_for(level: Level, confine: Confine, tmp_path: Path) -> None:
    """F-111."""
    word = uuid4().hex
    _, (fault,) = await play(HOLDS, confine(level), tmp_path, word=word)
    assert (fault["kind"], fault["exit"]) == ("crash", "exit status 4")
    assert fault["elapsed_ms"] < fault["limit_ms"] / 2
    assert left(word) == []


@pytest.mark.parametrize("level", Level)
async def test_a_stopped_bot_is_late_and_is_ended(level: Level, confine: Confine, tmp_path: Path) -> None:
    """F-43."""
    word, limits = uuid4().hex, Limits(move_ms=200, bank_ms=500, start_ms=20_000, strikes=2)
    outcome, faults = await play(STOPS, confine(level), tmp_path, limits=limits, word=word)
    assert [fault["kind"] for fault in faults] == ["timeout", "timeout"]
    assert outcome.forfeited == [1]
    assert left(word) == []


@pytest.mark.parametrize("level", Level)
async def test_a_flood_of_standard_error_is_no_fault(level: Level, confine: Confine, tmp_path: Path) -> None:
    """F-113: it holds nobody up."""
    outcome, faults = await play(FLOODS, confine(level), tmp_path)
    assert (faults, outcome.forfeited) == ([], [])


KILLS_THE_KEEPER = """
def keepers():
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = open(f"/proc/{name}/cmdline").read()
                parent = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if "keeper.py" in words and int(name) != os.getpid() and parent == str(os.getppid()):
                yield int(name)
def kill(ask):
    hit = []
    for keeper in keepers():
        try:
            os.kill(keeper, signal.SIGKILL)
            hit.append(keeper)
        except OSError:
            pass
    if ask["id"] == 2:
        say(json.dumps({"type": "killed", "how_many": len(hit)}))
    act(ask)
play(kill, at=2)
"""


@pytest.mark.parametrize(("level", "hit"), [(Level.NONE, 1), (Level.BASIC, 0), (Level.STRICT, 0)])
async def test_a_bot_that_kills_the_keeper(level: Level, hit: int, confine: Confine, tmp_path: Path) -> None:
    """F-114: where it can, a successor is there; the match does not feel it."""
    outcome, (line,) = await play(KILLS_THE_KEEPER, confine(level), tmp_path)
    assert line["kind"] == "stale", line
    assert json.loads(line["received"])["how_many"] == hit
    assert outcome.forfeited == []


# ---- the machine


@pytest.mark.parametrize("level", CONFINED)
async def test_a_sandbox_that_can_be_had_no_more_is_the_machines_fault(
    level: Level, confine: Confine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-123: the program is gone, or no user number is free; the bot has no fault of it."""
    sandbox = confine(level)
    monkeypatch.setattr(launch, "missing", lambda level: "bwrap is missing: apt-get install bubblewrap")
    with pytest.raises(MatchFailed, match="bwrap is missing"):
        await play("play()", sandbox, tmp_path)
    monkeypatch.undo()

    def none_free() -> None:
        raise NoUid("no user number is free")

    monkeypatch.setattr(launch, "reserve", none_free)
    monkeypatch.setattr(launch, "is_root", lambda: True)
    with pytest.raises(MatchFailed, match="no user number is free"):
        await play("play()", sandbox, tmp_path)
    (fault,) = [line for line in read_log(tmp_path / "log").lines if line["type"] == "fault"]
    assert (fault["kind"], fault["seat"], fault["strikes"]) == ("host", 1, 0)


@pytest.mark.parametrize("level", CONFINED)
def test_a_level_that_the_machine_cannot_give_is_said_before_anything_starts(
    level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-122."""
    monkeypatch.setattr(launch, "missing", lambda level: "bwrap is missing: apt-get install bubblewrap")
    bot = Bot(name="b", command="random", limits=LIMITS, env={}, cwd=tmp_path, sandbox=Sandbox(level=level))
    problem = ProcessSeating().problem(bot)
    assert problem is not None
    assert "apt-get install bubblewrap" in problem


@pytest.mark.parametrize("level", CONFINED)
async def test_a_program_that_is_not_there_is_the_bots_fault_at_every_level(
    level: Level, confine: Confine, tmp_path: Path
) -> None:
    """F-01, beside F-123: what is missing is the bot's own."""
    sandbox, label = confine(level), uuid4().hex
    commands = (BotCommand("honest", (*PYTHON, PRELUDE + "play()")), BotCommand("gone", (str(tmp_path / "gone"),)))
    players = [
        player_of(command, LIMITS, Keeping(sandbox, (), Idle.RUN), seat=seat, match=label)
        for seat, command in enumerate(commands)
    ]
    log = MatchLog(None)
    outcome = await Table(players, ONE_ROUND, "h", log, match_id="m").play()
    await part_all(players, "over")
    (fault,) = outcome.faults
    assert (fault.kind, fault.seat) == ("startup", 1)
    assert os.strerror(errno.ENOENT) in fault.detail


# ---- the referee


@pytest.fixture
def referee(tmp_path: Path) -> Iterator["Callable[..., subprocess.Popen[bytes]]"]:
    """`referee(script, ...)`: `lastcard play` between two bots that run this script, in a process of its own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(script: str, *words: str) -> "subprocess.Popen[bytes]":
        (tmp_path / "bot.py").write_text(PRELUDE + script)
        bot = shlex.join([sys.executable, "-S", "-E", "-I", str(tmp_path / "bot.py")])
        command = [sys.executable, "-m", "lastcard.referee", "play", bot, bot, "--rounds", "1", "--seed", "h"]
        command += ["--log", str(tmp_path / "log"), "--json", *words]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path))
        return started[-1]

    yield start
    for process in started:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate()


def asked(log: Path) -> int:
    return log.read_bytes().count(b'"how":"asked"') if log.exists() else 0


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it did not get there"
        time.sleep(0.01)


THINKS = "play(lambda ask: (time.sleep(0.15), act(ask)))"


def bots_of(referee: int) -> list[int]:
    """The processes that the referee has started, but for its keeper."""
    children = Path(f"/proc/{referee}/task/{referee}/children").read_text().split()
    return [int(pid) for pid in children if b"keeper.py" not in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.parametrize("with_bots", [False, True], ids=["the referee alone", "its bots too"])
def test_a_referee_that_was_stopped_charges_nobody_for_it(
    with_bots: bool, tmp_path: Path, referee: "Callable[..., subprocess.Popen[bytes]]"
) -> None:
    """F-128: a second at a time, with half a second for a decision and a little in the bank."""
    process = referee(THINKS, "--move-ms", "500", "--bank-ms", "400")
    for number in (3, 7, 11):
        wait_until(lambda number=number: asked(tmp_path / "log") >= number)  # type: ignore[misc]  # a default binds the loop variable
        time.sleep(0.05)  # a bot is thinking
        stopped = [process.pid, *(bots_of(process.pid) if with_bots else [])]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(1.0)
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)
    out, _ = process.communicate(timeout=120)
    assert json.loads(out)["faults"] == []
    t = [
        line["t"]
        for line in map(json.loads, (tmp_path / "log").read_text().splitlines())
        if line["type"] == "decision" and "t" in line
    ]
    assert sum(one["lag_ms"] > 900 for one in t) >= 2, "a stop was not noticed"
    assert t[-1]["bank_ms"] == 400


def test_the_referee_is_killed_and_its_bots_end(
    tmp_path: Path, referee: "Callable[..., subprocess.Popen[bytes]]"
) -> None:
    """F-125."""
    process = referee(THINKS)
    wait_until(lambda: asked(tmp_path / "log") >= 2)
    assert left(str(tmp_path / "bot.py"))
    process.kill()
    process.wait()
    until = time.monotonic() + 2
    while left(str(tmp_path / "bot.py")):
        assert time.monotonic() < until
        time.sleep(0.01)
    verdict = verify(read_log(tmp_path / "log"))
    assert verdict.difference is None
    assert verdict.incomplete


# In place of bubblewrap: it cannot be set up, as where the machine has run out of namespaces.
BROKEN = """#!/bin/sh
echo 'bwrap: Creating new namespace failed: No space left on device' >&2
exit 1
"""
PRETENDS = "os.write(2, b'bwrap: Creating new namespace failed: No space left on device\\n'); sys.exit(1)"


async def test_a_sandbox_that_cannot_be_set_up_is_the_machines_fault(
    confine: Confine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-123: bubblewrap ends before the bot's program has run."""
    sandbox = confine(Level.STRICT)
    (tmp_path / "bwrap").write_text(BROKEN)
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setattr(
        "lastcard.referee.sandbox.strict.program",
        lambda name: str(tmp_path / name) if name == "bwrap" else program(name),
    )
    with pytest.raises(
        MatchFailed, match="the sandbox of bot other could not be set up: bwrap: Creating new namespace"
    ):
        await play("play()", sandbox, tmp_path)
    fault = json.loads((tmp_path / "log").read_text().splitlines()[-1])
    assert (fault["kind"], fault["seat"], fault["strikes"]) == ("host", 1, 0)


async def test_a_folder_that_is_gone_when_the_sandbox_is_set_up(
    confine: Confine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-123, with bubblewrap itself: the folder was there when it was looked at."""
    data, popen = tmp_path / "data", subprocess.Popen
    data.mkdir()
    sandbox = confine(Level.STRICT, read=(str(data),))
    outcome, faults = await play("play()", sandbox, tmp_path)
    assert (outcome.forfeited, faults) == ([], [])

    def start(argv: Any, *more: Any, **options: Any) -> Any:
        if "--args" in argv:
            data.rmdir()
        return popen(argv, *more, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(
        MatchFailed, match="the sandbox of bot other could not be set up: bwrap: Can't find source path"
    ):
        await play("play()", sandbox, tmp_path)


@pytest.mark.parametrize("level", Level)
async def test_a_bot_that_pretends_that_its_sandbox_failed(level: Level, confine: Confine, tmp_path: Path) -> None:
    """F-02, not F-123: the same words and the same exit status, but its program has run."""
    outcome, (fault,) = await play(PRETENDS, confine(level), tmp_path)
    assert (fault["kind"], fault["exit"]) == ("startup", "exit status 1")
    assert outcome.forfeited == [1]
