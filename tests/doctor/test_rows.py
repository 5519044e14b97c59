"""The table of rows: complete, and each promise meant for its situation. Nothing is started here."""

import pytest

from lastcard.referee.doctor import probe
from lastcard.referee.doctor.rows import BY_ID, ROWS, Outcome, Promise, Situation
from lastcard.referee.sandbox.levels import Level


def situation(level: Level, *, root: bool = True, shares: bool = False, counted: bool = True) -> Situation:
    return Situation(level, root=root, shares_uid=shares, counted=counted)


def test_every_row_has_an_attempt_and_every_attempt_a_row() -> None:
    assert [row.id for row in ROWS] == list(BY_ID)
    assert len(BY_ID) == len(ROWS)
    assert set(probe.ATTEMPTS) == set(BY_ID)
    groups = [row.group for row in ROWS]
    assert groups == sorted(groups, key=groups.index), "a group is in one piece"


def test_a_stricter_level_promises_no_less() -> None:
    """As the levels are explained: strict takes back nothing that basic gives, for root and for anybody else."""
    for root in (True, False):
        for row in ROWS:
            for weaker, stronger in ((Level.NONE, Level.BASIC), (Level.BASIC, Level.STRICT)):
                promised = row.promise(situation(weaker, root=root))
                assert promised in (Promise.NOTHING, row.promise(situation(stronger, root=root))), row.id


def test_strict_promises_something_about_every_row() -> None:
    assert [row.id for row in ROWS if row.promise(situation(Level.STRICT)) is Promise.NOTHING] == []


@pytest.mark.parametrize(
    ("row", "where", "promise"),
    [
        ("referee-memory", situation(Level.NONE), Promise.NOTHING),
        ("referee-memory", situation(Level.NONE, root=False), Promise.NO),
        ("referee-memory", situation(Level.BASIC), Promise.NO),
        ("bot-memory", situation(Level.BASIC), Promise.NO),
        ("bot-memory", situation(Level.BASIC, shares=True), Promise.NOTHING),
        ("bot-memory", situation(Level.STRICT, root=False), Promise.NO),
        ("processes", situation(Level.BASIC, shares=True, counted=False), Promise.NOTHING),
        ("processes", situation(Level.BASIC, shares=True), Promise.NO),
        ("processes", situation(Level.BASIC, counted=False), Promise.NO),
        ("tcp", situation(Level.BASIC), Promise.NOTHING),
        ("tcp", situation(Level.STRICT), Promise.NO),
        ("tmp", situation(Level.STRICT), Promise.YES),
        ("outlive", situation(Level.NONE), Promise.NO),
    ],
)
def test_what_is_promised(row: str, where: Situation, promise: Promise) -> None:
    assert BY_ID[row].promise(where) is promise


@pytest.mark.parametrize(
    ("row", "level", "outcome", "broken"),
    [
        ("tcp", Level.STRICT, Outcome.COULD, True),
        ("tcp", Level.STRICT, Outcome.COULD_NOT, False),
        ("tcp", Level.STRICT, Outcome.NOT_TRIED, False),
        ("tcp", Level.NONE, Outcome.COULD, False),
        ("tmp", Level.STRICT, Outcome.COULD_NOT, True),
        ("tmp", Level.STRICT, Outcome.COULD, False),
    ],
)
def test_when_a_promise_is_broken(row: str, level: Level, outcome: Outcome, broken: bool) -> None:
    assert BY_ID[row].broken(outcome, situation(level)) is broken
