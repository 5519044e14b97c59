"""Faults that are no bot's: exceptions in our own code and refusals of the system, in the log and in what is raised.

F-132 and F-124; that such a match is played again is shown in tests/tournament/test_void_matches.py.
"""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
import trio

from lastcard.engine import Match
from lastcard.referee.describe import describe_fault
from lastcard.referee.failures import LONGEST_TRACEBACK, MatchFailed, failure_of, traceback_of
from lastcard.referee.faults import FaultKind
from lastcard.referee.log_reader import read_log
from lastcard.referee.match_log import MatchLog
from lastcard.referee.replay import verify
from lastcard.referee.seat import Seat
from lastcard.referee.table import Table
from tests.referee.scripted import ONE_ROUND, honest, mock_time, seated


class Bug(Exception):
    """What only our own code can raise."""


def breaks(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, error: BaseException, at: int = 1) -> None:
    """The method raises at its call number `at`."""
    works, calls = getattr(owner, name), iter(range(1, 1_000_000))

    def method(*args: Any, **more: Any) -> Any:
        if next(calls) == at:
            raise error
        return works(*args, **more)

    monkeypatch.setattr(owner, name, method)


def last_fault(path: Path) -> dict[str, Any]:
    """The last line of the log, which is a fault of ours."""
    found: dict[str, Any] = json.loads(path.read_text().splitlines()[-1])
    assert found["type"] == "fault"
    return found


@pytest.mark.parametrize(
    ("owner", "name", "at", "phase"),
    [
        (Seat, "_tell_start", 1, "hello"),
        (Table, "sort_by_features", 1, "start"),
        (Match, "deal", 1, "between asks"),
        (Match, "act", 9, "asked"),
        (Match, "view", 5, "asked"),
        (Seat, "tell_end", 1, "end"),
    ],
)
@mock_time
async def test_a_bug_is_the_last_line_of_its_log(
    owner: type, name: str, at: int, phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-124: it is raised, and what was played up to it is right."""
    breaks(monkeypatch, owner, name, Bug("seven is\nnot eight"), at)
    async with seated(honest(), honest()) as hall:
        with pytest.RaisesGroup(Bug, allow_unwrapped=True, flatten_subgroups=True):
            await hall.play(tmp_path / "log")
        for player in hall.players:
            await player.part("the match was stopped")
        assert all(bots[0].bot.heard[-1]["type"] == "bye" for bots in hall.connections), "they part in good order"
    monkeypatch.undo()
    fault = last_fault(tmp_path / "log")
    assert (fault["kind"], fault["phase"]) == ("referee", phase)
    assert fault["detail"].startswith("Bug: seven is not eight (test_our_faults.py:")
    assert "Traceback (most recent call last)" in fault["t"]["traceback"]
    assert "seat" not in fault
    log = read_log(tmp_path / "log")
    verdict = verify(log)
    assert verdict.difference is None
    assert "with a fault of lastcard: Bug: seven is not eight" in verdict.incomplete


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC, errno.EIO])
@mock_time
async def test_what_the_system_refuses_us_is_no_bug(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-132: the machine's fault, in a log that can still be written."""
    breaks(monkeypatch, Match, "act", OSError(number, os.strerror(number), "/x\udcff"), 3)
    async with seated(honest(), honest()) as hall:
        with pytest.raises(MatchFailed, match="the system refused the referee what it needs: /x"):
            await hall.play(tmp_path / "log")
    fault = last_fault(tmp_path / "log")
    assert (fault["kind"], fault["phase"]) == ("host", "asked")
    assert fault["detail"].endswith(os.strerror(number))
    assert "with a fault of the machine" in read_log(tmp_path / "log").problem


@pytest.mark.parametrize(
    ("error", "kind", "detail"),
    [
        (MemoryError(), "host", "the referee has run out of memory"),
        (OSError(errno.EMFILE, "Too many open files"), "host",
         "the system refused the referee what it needs: Too many open files"),
        (OSError(errno.EBADF, "Bad file descriptor"), "referee", "OSError: [Errno 9] Bad file descriptor"),
        (ValueError(), "referee", "ValueError"),
        (AssertionError("a\tb\n\nc"), "referee", "AssertionError: a b c"),
        (ExceptionGroup("two", [ExceptionGroup("in", [KeyError("k")]), MemoryError()]), "referee", "KeyError: 'k'"),
        (RecursionError("deep"), "referee", "RecursionError: deep"),
    ],
)  # fmt: skip
def test_whose_fault_an_exception_is(error: BaseException, kind: str, detail: str) -> None:
    assert failure_of(error) == (FaultKind(kind), detail)


def test_a_traceback_is_bounded_and_keeps_its_end() -> None:
    text = traceback_of(ValueError("x" * 100_000 + " the end"))
    assert len(text) == LONGEST_TRACEBACK
    assert text.endswith(" the end\n")


@mock_time
async def test_a_bug_that_cannot_even_be_logged_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-124: the exception is not lost behind that of the log."""
    async with seated(honest(), honest()) as hall:
        log = MatchLog(None)
        breaks(monkeypatch, Match, "deal", Bug("b"))
        log.flush()
        log._fd = os.open("/dev/full", os.O_WRONLY)
        monkeypatch.setattr(Table, "log_match", lambda table: None)
        with pytest.raises(Bug, match="b"):
            await Table(hall.players, ONE_ROUND, "s", log, match_id="m").play()
        log.close()


@mock_time
async def test_a_match_that_is_cancelled_has_no_fault(tmp_path: Path) -> None:
    """A user who stops it is no bug."""

    async def waits(*_: object) -> None:
        await trio.sleep(1000)

    async with seated(honest(), honest(on={"start": waits}, features=["ready"])) as hall:
        with trio.move_on_after(1):
            await hall.play(tmp_path / "log")
    assert "fault" not in (tmp_path / "log").read_text()


def test_a_fault_of_nobody_in_words() -> None:
    fault: dict[str, object] = {"type": "fault", "kind": "referee", "phase": "asked", "detail": "Bug: b"}
    assert describe_fault(fault, ["a", "b"]) == "! no bot: referee: Bug: b"
