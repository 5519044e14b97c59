"""What the doctor says: the words, their width, and the fields of its JSON, from made-up findings."""

import json
from typing import Any

import msgspec
import pytest

from lastcard.referee.doctor.cage_powers import Powers
from lastcard.referee.doctor.costs import Cost
from lastcard.referee.doctor.machine import Machine, machine
from lastcard.referee.doctor.own_bot import ComesUp
from lastcard.referee.doctor.report import (
    BotReport,
    Report,
    bot_lines,
    cost_lines,
    machine_lines,
    matrix_lines,
    report_of,
    verdict,
)
from lastcard.referee.doctor.rows import ROWS, Outcome, Promise
from lastcard.referee.doctor.trial import Cell, Column
from lastcard.referee.escape import escaped
from lastcard.referee.sandbox.levels import Level

MOST = 99
LONG = "/a/very/long/path" * 20
MACHINE = Machine(
    lastcard="0.1.0",
    python="CPython 3.11.7",
    interpreter=LONG,
    platform="Linux-6.1-x86_64",
    cores=2,
    memory_mb=None,
    uid=1000,
    programs={"bwrap": None, "setpriv": "2.38.1", "prlimit": "2.38.1"},
    cage=Powers(),
    user_namespaces="on",
    pressure=True,
    pidfd=True,
    subreaper=False,
    open_files=1024,
    clock_ns=40,
    runtimes={"node": "/usr/bin/node", "lua": None},
)
KEPT = Cell(Outcome.COULD_NOT, Promise.NO, broken=False)
BROKEN = Cell(Outcome.COULD, Promise.NO, broken=True, detail=f"at {LONG}")
COSTS = {Level.NONE: Cost(20.0, 50_000, 1.0), Level.STRICT: Cost(40.0, 49_000, 0.98)}


def column(level: Level, **changed: Cell) -> Column:
    cells = {row.id: KEPT for row in ROWS} | {row.replace("_", "-"): cell for row, cell in changed.items()}
    return Column(level=level, cells=cells, description=str(level))


def report(*columns: Column, by_name: bool = False) -> Report:
    return report_of(MACHINE, list(columns), COSTS, by_name=by_name)


def test_the_machine_in_words() -> None:
    lines = [*machine_lines(MACHINE)]
    assert lines[0] == "lastcard         0.1.0, run by an ordinary user (uid 1000)"
    assert "bwrap            not installed (Debian: bubblewrap)" in lines
    assert "cgroups          none that can be written; trees are ended by looking for them" in lines
    assert "runtimes         node yes, lua no" in lines
    assert max(map(len, lines)) <= MOST


def test_this_machine_in_words() -> None:
    lines = [*machine_lines(machine())]
    assert max(map(len, lines)) <= MOST


def test_a_broken_promise_is_marked_in_its_cell_and_told_below() -> None:
    columns = [column(Level.NONE), column(Level.STRICT, tcp=BROKEN)]
    lines = [*matrix_lines(columns)]
    (row,) = [line for line in lines if line.startswith("  reach a TCP listener")]
    assert row.split("machine")[1].split() == ["could", "not", "+", "could", "!"]
    told = " ".join(line.strip() for line in lines[lines.index("strict: the bot was run as: strict") + 1 :])
    assert told.startswith("! strict: reach a TCP listener of this machine: could (at /a/very/long/path")
    assert told.endswith("expected: could not")
    assert max(map(len, lines)) <= MOST
    assert report(*columns).ok is False
    assert verdict(report(*columns)) == "1 broken promise: see the lines with ! above"


def test_the_head_stands_over_the_columns() -> None:
    lines = [*matrix_lines([column(Level.BASIC), column(Level.STRICT)])]
    (row,) = [line for line in lines if line.startswith("  use /tmp")]
    assert [lines[0].index(level) for level in ("basic", "strict")] == [
        place for place in range(len(row)) if row.startswith("could", place)
    ]


@pytest.mark.parametrize(("by_name", "ok"), [(False, True), (True, False)])
def test_a_level_that_is_not_there(by_name: bool, ok: bool) -> None:
    """Is no fault of the machine, unless it was asked for."""
    away = Column(level=Level.STRICT, unavailable="the program bwrap is missing (Debian: apt-get install bubblewrap)")
    lines = [*matrix_lines([column(Level.NONE), away])]
    assert "strict" not in lines[0]
    told = " ".join(line.strip() for line in lines)
    assert f"strict: not available: {away.unavailable}" in told
    found = report(column(Level.NONE), away, by_name=by_name)
    assert found.ok is ok
    assert verdict(found).startswith("every level that is available" if ok else "not every level could be examined")


def test_a_probe_that_failed_is_not_a_kept_promise() -> None:
    failed = Column(level=Level.BASIC, fault="the probe says nothing")
    assert report(failed).ok is False
    assert [*matrix_lines([failed])] == ["! basic: the probe says nothing"]


def test_what_was_not_tried_says_why() -> None:
    lines = [*matrix_lines([column(Level.NONE, cpu=Cell(Outcome.NOT_TRIED, Promise.NO, False, "too slow"))])]
    assert "- none: use more CPU time than its limit: not tried (too slow)" in lines


def test_costs_in_words() -> None:
    head, starts, trips = cost_lines(COSTS)
    assert head.split()[-2:] == ["none", "strict"]
    assert starts.split()[-4:] == ["20.0", "ms", "40.0", "ms"]
    assert trips.split()[-4:] == ["100", "%", "98", "%"]
    assert [*cost_lines({})] == []


def test_a_bot_in_words() -> None:
    found = BotReport(
        bot="mine",
        argv=("mine",),
        levels=[
            ComesUp(level=Level.NONE, name="mine", version="1", hello_ms=20.4, memory_mb=12.3, description="none"),
            ComesUp(level=Level.BASIC, fault="no hello within 10000 ms", stderr=["x" * 200]),
            ComesUp(level=Level.STRICT, unavailable="the program bwrap is missing"),
        ],
        ok=False,
    )
    assert [*bot_lines(found)] == [
        "none     comes up: hello after 20 ms, 12 MB of memory, as mine 1; run as: none",
        "basic    ! does not come up: no hello within 10000 ms",
        " " * 9 + "x" * 89,
        "strict   not available: the program bwrap is missing",
    ]


def test_what_a_probe_or_bot_says_moves_no_cursor() -> None:
    nasty = Cell(Outcome.COULD, Promise.NO, broken=True, detail="\x1b[2J\u202e")
    text = "\n".join(map(escaped, matrix_lines([column(Level.STRICT, tcp=nasty)])))
    assert "\\x1b[2J\\u202e" in text
    assert "\x1b" not in text


def test_the_json_has_these_fields() -> None:
    """Programs read it: a field that goes or is renamed is a change of the format."""
    found: dict[str, Any] = json.loads(msgspec.json.encode(report(column(Level.STRICT, tcp=BROKEN))))
    assert list(found) == ["machine", "limits", "rows", "levels", "costs", "ok"]
    assert set(found["machine"]) == {
        *("lastcard", "python", "interpreter", "platform", "cores", "memory_mb", "uid", "programs", "cage"),
        *("user_namespaces", "pressure", "pidfd", "subreaper", "open_files", "clock_ns", "runtimes"),
    }
    assert set(found["machine"]["cage"]) == {"folders", "memory", "processes", "kill", "freeze"}
    assert found["limits"] == {"memory_mb": 128, "processes": 24, "file_mb": 2, "cpu_s": 1}
    assert [set(row) for row in found["rows"]] == [{"id", "group", "what"}] * len(ROWS)
    (level,) = found["levels"]
    assert set(level) == {"level", "unavailable", "fault", "description", "cells"}
    assert set(level["cells"]) == {row["id"] for row in found["rows"]}
    assert level["cells"]["udp"] == {"outcome": "could not", "promise": "could not", "broken": False, "detail": ""}
    assert set(found["costs"]["strict"]) == {"start_ms", "trips_per_s", "relative"}
    assert found["ok"] is False
