"""Real probes in real levels: what they can do differs as promised, and a weakened sandbox is found out."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trio

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.cages import Cage
from lastcard.referee.doctor import trial
from lastcard.referee.doctor.bait import Bait
from lastcard.referee.doctor.costs import costs
from lastcard.referee.doctor.rows import ROWS, Outcome, Promise, Row
from lastcard.referee.doctor.trial import Column, column_of
from lastcard.referee.hardening import harden
from lastcard.referee.processes import BotProcess, start_bot
from lastcard.referee.sandbox import basic, launch, strict
from lastcard.referee.sandbox.levels import Level
from lastcard.referee.sandbox.mounts import file_words

RequireDebian = Callable[[str, str], str]

harden()

ROOT = os.geteuid() == 0
COULD, COULD_NOT = Outcome.COULD, Outcome.COULD_NOT
ALWAYS = frozenset("descriptors environment terminal outlive".split())
"""What no bot may do, confined or not."""
BY_ROOT = frozenset("referee-environ referee-memory referee-files capabilities leave-cage".split())
"""What a bot without a sandbox can do if the referee is root."""
DEPENDS = frozenset("route cpu raise-limits".split())
"""On a network, on how busy the machine is, on limits that somebody has set for us."""
NEEDED = {"cpu": "the machine is too busy", "leave-cage": "it has no cgroup of its own"}
"""What may be missing for a row to be tried."""


@pytest.fixture(scope="module", autouse=True)
def _programs(require_debian: RequireDebian) -> None:
    require_debian("bwrap", "bubblewrap")
    require_debian("setpriv", "util-linux")


@cache
def examined(level: Level) -> Column:
    column = trio.run(column_of, level)
    assert (column.unavailable, column.fault) == ("", "")
    return column


def broken_in(column: Column) -> set[str]:
    assert column.fault == ""
    return {row for row, cell in column.cells.items() if cell.broken}


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_level_keeps_its_promise(level: Level, row: Row) -> None:
    cell = examined(level).cells[row.id]
    assert not cell.broken, cell
    if cell.outcome is Outcome.NOT_TRIED:
        assert cell.promise is Promise.NOTHING or cell.detail.startswith(NEEDED.get(row.id, "nothing")), cell


@pytest.mark.parametrize("row", [row.id for row in ROWS if row.id not in ALWAYS | DEPENDS], ids=str)
def test_without_a_sandbox_the_probe_can_do_it(row: str) -> None:
    """Or its failing inside one would prove nothing."""
    if row in BY_ROOT and not ROOT:
        assert examined(Level.NONE).cells[row].outcome is not COULD
    else:
        assert examined(Level.NONE).cells[row].outcome is COULD, examined(Level.NONE).cells[row]


def test_strict_is_examined_in_every_row() -> None:
    cells = examined(Level.STRICT).cells
    assert set(cells) == {row.id for row in ROWS}
    assert {row for row, cell in cells.items() if cell.outcome is COULD} == {"tmp", "child"}


def test_descriptions_say_how_the_bot_was_run() -> None:
    assert examined(Level.NONE).description == "none"
    assert examined(Level.BASIC).description.startswith("basic, ")
    assert examined(Level.STRICT).description.startswith("strict, ")


def test_a_bot_that_cannot_have_a_uid_of_its_own_is_promised_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Basic keeps the referee's then: always for an ordinary user, for root where the uid could not reach the files."""
    monkeypatch.setattr(launch, "way_for_uid", lambda *_: None)
    column = trio.run(column_of, Level.BASIC)
    assert column.description.startswith("basic, own uid")
    assert broken_in(column) == set()
    assert column.cells["signal"] == trial.Cell(COULD, Promise.NOTHING, broken=False)
    assert column.cells["referee-memory"].outcome is COULD_NOT


# ---- tampering: each protection taken away is noticed in its row


def without(words: tuple[str, ...], *dropped: str) -> tuple[str, ...]:
    assert set(dropped) <= set(words)
    return tuple(word for word in words if word not in dropped)


@pytest.mark.parametrize(
    ("dropped", "rows"),
    [
        ("--unshare-net", {"tcp", "udp", "unix-abstract"}),
        ("--unshare-pid", {"see-processes"}),
    ],
)
def test_a_namespace_that_is_missing_is_noticed(monkeypatch: pytest.MonkeyPatch, dropped: str, rows: set[str]) -> None:
    monkeypatch.setattr(strict, "ALONE", without(strict.ALONE, dropped))
    column = trio.run(column_of, Level.STRICT, [*rows, "hidden-file"])
    assert not column.kept
    assert broken_in(column) == rows


def test_limits_that_are_missing_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basic, "limit_words", lambda *_, **__: ())
    column = trio.run(column_of, Level.BASIC, ["raise-limits", "large-file", "signal"])
    assert broken_in(column) == {"raise-limits", "large-file"}


def test_privileges_that_are_kept_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basic, "privilege_words", lambda _: ())
    column = trio.run(column_of, Level.BASIC, ["capabilities", "new-privileges", "signal", "large-file"])
    assert "new-privileges" in broken_in(column)
    assert ("capabilities" in broken_in(column)) == ROOT
    assert "large-file" not in broken_in(column)


def test_what_is_hidden_and_shown_all_the_same_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict, "file_words", lambda shown, _hidden, size: file_words(shown, (), size))
    column = trio.run(column_of, Level.STRICT, ["hidden-file", "private-file"])
    assert broken_in(column) == {"hidden-file"}


def test_what_bots_inherit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A descriptor and a variable of the referee's that slip through."""
    number = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(number, True)

    def leaking(command: BotCommand, **more: Any) -> BotProcess:
        return start_bot(replace(command, env={"A_KEY": "secret"}), **more)

    monkeypatch.setattr(trial, "start_bot", leaking)
    monkeypatch.setattr("lastcard.referee.processes.subprocess.Popen", passing(number))
    try:
        column = trio.run(column_of, Level.NONE, ["descriptors", "environment", "terminal"])
    finally:
        os.close(number)
    assert broken_in(column) == {"descriptors", "environment"}
    assert column.cells["environment"].detail == "A_KEY"
    assert f"{number} (/dev/null)" in column.cells["descriptors"].detail


def passing(number: int) -> Callable[..., object]:
    """A way to start programs that forgets to close a descriptor."""
    popen: Any = subprocess.Popen

    def start(*args: Any, pass_fds: tuple[int, ...] = (), **more: Any) -> object:
        return popen(*args, pass_fds=(*pass_fds, number), **more)

    return start


# ---- what goes wrong


def test_a_probe_that_does_not_report_is_a_fault_of_the_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumb = tmp_path / "dumb.py"
    dumb.write_text("import sys\nsys.exit('no mood')\n")
    monkeypatch.setattr(trial, "PROBE", dumb)
    column = trio.run(column_of, Level.NONE)
    assert column.fault == "the probe says nothing (exit status 1: no mood)"
    assert not column.kept


def test_a_level_without_its_program_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "the program bwrap is missing (Debian: apt-get install bubblewrap)"
    monkeypatch.setattr(trial, "problem", lambda *_: why)
    column = trio.run(column_of, Level.STRICT)
    assert (column.unavailable, column.cells, column.kept) == (why, {}, True)


def test_a_machine_without_cgroups_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cage, "make", classmethod(lambda *_, **__: None))
    column = trio.run(column_of, Level.BASIC)
    assert column.fault == ""
    assert broken_in(column) == set()
    assert column.cells["leave-cage"].outcome is Outcome.NOT_TRIED
    assert column.cells["memory"].outcome is COULD_NOT


@pytest.fixture
def bait() -> Iterator[Bait]:
    with Bait() as bait:
        yield bait


def told(could: bool | None, proof: str = "") -> trial.Line:
    return {"could": could, "detail": "", "proof": proof}


def test_what_the_probe_says_is_not_simply_believed(bait: Bait) -> None:
    """A claim needs the secret, or something that is seen from outside."""
    right = bait.proofs["private-file"]
    assert trial.outcome_of("private-file", told(True, right), bait)[0] is COULD
    assert trial.outcome_of("private-file", told(True, right[::-1]), bait)[0] is COULD_NOT
    assert trial.outcome_of("private-file", told(False), bait)[0] is COULD_NOT
    assert trial.outcome_of("private-file", told(None), bait)[0] is Outcome.NOT_TRIED
    for row in ("tcp", "udp", "unix-path", "unix-abstract", "signal", "own-folder", "tmp-seen", "outlive"):
        assert trial.outcome_of(row, told(True), bait)[0] is COULD_NOT, row


def test_what_is_seen_counts_whatever_the_probe_says(bait: Bait) -> None:
    (bait.own / bait.mark).write_text(bait.mark)
    assert trial.outcome_of("own-folder", told(False), bait)[0] is COULD


def test_the_bait_is_taken_away() -> None:
    with Bait() as bait:
        assert bait.private.stat().st_mode & 0o777 == 0o600
        top = bait.top
        Path(f"/tmp/{bait.mark}-0").write_text("left by a probe that was killed")
    assert not top.exists()
    assert not list(Path("/tmp").glob(f"{bait.mark}*"))


def test_levels_cost_what_they_cost() -> None:
    """Figures there are for each level; how large they are depends on the machine."""
    found = trio.run(costs, [Level.NONE, Level.STRICT])
    assert list(found) == [Level.NONE, Level.STRICT]
    assert found[Level.NONE].relative == 1
    assert all(cost.start_ms > 0 and cost.trips_per_s > 0 and cost.relative > 0 for cost in found.values())


def test_nothing_is_left_of_the_probes() -> None:
    examined(Level.NONE)
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.parent.name.isdigit()]
    assert not [line for line in lines if str(trial.PROBE).encode() in line]
