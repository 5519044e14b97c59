"""Faults of lastcard and of the machine, through the tournament's runner and with real bots: a match is void and
played again by bots started anew, and two in a row stop the run.
"""

import errno
import io
import json
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from lastcard.engine import Match
from lastcard.referee.seating import ProcessSeating
from lastcard.referee.tournament import LedgerError, run
from lastcard.referee.tournament.commands import DONE, RESUMES
from lastcard.referee.tournament.ledger import Ledger
from tests.tournament.fakes import WriteConfig

BOT = """
import json, os, sys
with open("starts", "a") as starts:
    starts.write(f"{os.getpid()}\\n")
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif ask["type"] == "ask":
        print(json.dumps({"type": "act", "id": ask["id"], "action": ask["legal"][0]}), flush=True)
    elif ask["type"] == "bye":
        open("byes", "a").write(ask["reason"] + "\\n")
"""


class Cup:
    """A tournament of two bots that keep a list of their starts, and what it left."""

    def __init__(self, folder: Path, config: Path) -> None:
        self.home, self.config, self.folder = folder, config, folder / "run"
        self.output = io.StringIO()

    def run(self) -> int:
        """Play it; the exit code."""
        return run(self.config, self.folder, 1, plain=True, player=ProcessSeating(), stream=self.output)

    def rows(self, columns: str, table: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "ledger.sqlite")) as database:
            return list(database.execute(f"SELECT {columns} FROM {table}"))

    def starts(self) -> list[str]:
        """The numbers of all processes that the bots were."""
        return (self.home / "starts").read_text().split()

    def byes(self) -> list[str]:
        return (self.home / "byes").read_text().splitlines()

    def last_line(self, log: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / log).read_text().splitlines()[-1])
        return found


@pytest.fixture
def cup(tmp_path: Path, write_config: WriteConfig) -> Cup:
    (tmp_path / "bot.py").write_text(BOT)
    bots = "".join(f'[[bot]]\nname = "b{n}"\ncommand = "./bot.py"\n' for n in range(2))
    return Cup(tmp_path, write_config(bots=0, blocks=1, rounds=1, extra=bots))


def call_numbers() -> Callable[[], int]:
    numbers = iter(range(1, 1_000_000))
    return lambda: next(numbers)


def breaks(monkeypatch: pytest.MonkeyPatch, error: Exception, *at: int) -> None:
    """The engine raises at its steps of these numbers, in whichever match they are."""
    act, number = Match.act, call_numbers()

    def acts(match: Match, actions: dict[int, str]) -> object:
        if number() in at:
            raise error
        return act(match, actions)

    monkeypatch.setattr(Match, "act", acts)


def test_a_bug_of_ours_makes_the_match_void_and_it_is_played_again(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-124."""
    breaks(monkeypatch, ZeroDivisionError("by nothing"), 5)
    assert cup.run() == DONE
    ((reason, log),) = cup.rows("reason, log", "voids")
    assert "Traceback (most recent call last)" in reason
    assert "ZeroDivisionError: by nothing" in reason
    fault = cup.last_line(log)
    assert (fault["type"], fault["kind"], fault["phase"]) == ("fault", "referee", "asked")
    assert "match 0-0 is void: ZeroDivisionError: by nothing\n" in cup.output.getvalue()
    assert [row[0] for row in cup.rows("void_attempts", "matches ORDER BY rotation")] == [1, 0]
    assert cup.rows("seat", "faults") == [], "no bot has a fault of it"
    # Two bots for the void attempt, two for the match, two for the other rotation: nobody sees a deal twice.
    assert len(cup.starts()) == len(set(cup.starts())) == 6
    assert len(cup.byes()) == 6, "all were told to go, those of the void attempt too"


def test_two_bugs_in_a_row_stop_the_run_and_the_next_run_goes_on(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-90."""
    breaks(monkeypatch, ZeroDivisionError("by nothing"), 5, 9)
    assert cup.run() == RESUMES
    assert len(cup.rows("reason", "voids")) == 2
    assert cup.rows("seat", "faults") == cup.rows("number", "matches") == []
    assert "stopped: a match was void twice in a row; to go on:" in cup.output.getvalue()
    monkeypatch.undo()
    assert cup.run() == DONE
    assert [row[0] for row in cup.rows("void_attempts", "matches ORDER BY rotation")] == [2, 0]


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@contextmanager
def no_more_files() -> Iterator[None]:
    """This process can open no file, since its limit is the first number that is free."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = next(number for number in range(limits[1]) if not is_open(number))
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("refused", ["descriptors", "processes", "memory"])
def test_no_room_for_another_bot_is_the_machines_fault(refused: str, cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-121: at the start of the second bot, in both attempts; no bot pays for it."""
    popen, number = subprocess.Popen, call_numbers()

    def starts(argv: Any, *more: Any, **options: Any) -> Any:
        if "LASTCARD_SEAT=1" not in (*argv, *(f"{name}={value}" for name, value in (options.get("env") or {}).items())):
            return popen(argv, *more, **options)
        number()
        if refused == "descriptors":
            with no_more_files():
                return popen(argv, *more, **options)  # refused by the system itself
        code = errno.EAGAIN if refused == "processes" else errno.ENOMEM
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(subprocess, "Popen", starts)
    assert cup.run() == RESUMES
    assert number() == 3, "two attempts"
    words = {"descriptors": "Too many open files", "processes": "Resource temporarily unavailable"}
    for reason, log in cup.rows("reason, log", "voids"):
        assert words.get(refused, "Cannot allocate memory") in reason
        fault = cup.last_line(log)
        assert (fault["kind"], fault["seat"]) == ("host", 1)
    assert len(cup.rows("reason", "voids")) == 2
    assert cup.rows("seat", "faults") == cup.rows("number", "matches") == []


def test_a_log_that_cannot_be_written_makes_the_match_void(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-120: the disk is full once, then there is room again."""
    write, number = os.write, call_numbers()

    def writes(fd: int, data: bytes) -> int:
        if bytes(data[:19]) == b'{"type":"decision",' and number() == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, data)

    monkeypatch.setattr(os, "write", writes)
    assert cup.run() == DONE
    ((reason, log),) = cup.rows("reason, log", "voids")
    assert reason.endswith("0-0.jsonl cannot be written: No space left on device")
    assert cup.last_line(log)["type"] != "end"
    assert len(cup.starts()) == len(set(cup.starts())) == 6


def test_a_ledger_that_cannot_be_written_stops_the_run(
    cup: Cup, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """F-130: nothing that is played would count; the next run plays it."""

    def full(ledger: Ledger, *_: object) -> None:
        raise LedgerError("ledger.sqlite: the disk is full")

    monkeypatch.setattr(Ledger, "commit", full)
    assert cup.run() == RESUMES
    assert "the disk is full" in capsys.readouterr().err
    monkeypatch.undo()
    assert cup.run() == DONE
    assert len(cup.rows("number", "matches")) == 2


def is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(true: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not get there"
        time.sleep(0.005)


def test_a_referee_that_is_killed_is_resumed(cup: Cup) -> None:
    """F-125: in the first match of the second rotation; what it had not finished is played, and nothing twice."""
    command = [sys.executable, "-m", "lastcard.referee", "tournament", "run", str(cup.config)]
    with subprocess.Popen([*command, "--dir", str(cup.folder), "--plain"], stdout=subprocess.DEVNULL) as process:
        starts = cup.home / "starts"
        wait_until(lambda: starts.exists() and len(cup.starts()) >= 3, 60)
        process.kill()
    wait_until(lambda: not any(map(is_alive, cup.starts())), 2)
    assert cup.run() == DONE
    assert [row[0] for row in cup.rows("rotation", "matches ORDER BY rotation")] == [0, 1]
    assert cup.rows("seat", "faults") == cup.rows("reason", "voids") == []
