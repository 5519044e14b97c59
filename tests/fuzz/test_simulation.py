"""Evenings of matches from seeds: with honest and with hostile bots, restarts, kills, full disks, and none is lost.

A seed that fails is told with the command that plays it again, and with the few deeds of bots that it takes. The
environment sets `LASTCARD_SIM_SEED` to play one seed, `LASTCARD_SIM_SEEDS` for how many `make soak` plays.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lastcard.protocol import RefereeConversation, StaleReason
from lastcard.referee.faults import Fault
from lastcard.referee.hearing import Hearing
from lastcard.referee.limits import Clock
from lastcard.referee.match_log import MatchLog
from lastcard.referee.player import Player
from lastcard.referee.seat import Seat
from lastcard.referee.table import Table
from tests.fuzz.shrinking import story
from tests.fuzz.simulation import Evening, Report, play

ONE = os.environ.get("LASTCARD_SIM_SEED")
SUITE, BLOCK = 300, 50
SOAK = int(os.environ.get("LASTCARD_SIM_SEEDS", "5000"))
SOAK_FROM = 1000


def blocks(begin: int, count: int, size: int) -> list[range]:
    """The seeds in portions; only the one that was asked for, if one was."""
    if ONE is not None:
        return [range(int(ONE), int(ONE) + 1)]
    end = begin + count
    return [range(first, min(first + size, end)) for first in range(begin, end, size)]


def command(seed: int) -> str:
    """What plays a seed again."""
    return f"LASTCARD_SIM_SEED={seed} .venv/bin/python -m pytest tests/fuzz/test_simulation.py -k test_evenings"


def check(seed: int, folder: Path, *, twice: bool) -> Evening:
    """The evening of a seed holds, and comes out the same when its tasks run in another order."""
    try:
        evening = play(seed, folder)
        again = play(seed, folder, schedule=1, checked=False) if twice else evening
    except Exception:
        pytest.fail(story(seed, folder, command(seed)), pytrace=False)
    assert again.reports == evening.reports, f"seed {seed} comes out differently; to see it again: {command(seed)}"
    for path in folder.iterdir():
        path.unlink()
    return evening


class Summary(NamedTuple):
    """What is kept of an evening."""

    reports: list[Report]
    voids: int
    seats: list[int]
    launches: list[int]


PLAYED: dict[range, list[Summary]] = {}
"""What the suite has played, for those who ask what it reaches."""


def summaries(seeds: range, folder: Path) -> list[Summary]:
    """The evenings of these seeds, checked once; every fifth is played twice."""
    if seeds not in PLAYED:
        played: list[Summary] = []
        for seed in seeds:
            evening = check(seed, folder, twice=ONE is not None or seed % 5 == 0)
            launches = [[one.what for one in trace.happenings].count("launch") for trace in evening.traces]
            seats = [len(plan.players) for plan in evening.plans]
            played.append(Summary([*evening.reports.values()], evening.voids, seats, launches))
        PLAYED[seeds] = played
    return PLAYED[seeds]


@pytest.mark.parametrize("seeds", blocks(0, SUITE, BLOCK), ids=str)
def test_evenings(seeds: range, tmp_path: Path) -> None:
    assert len(summaries(seeds, tmp_path)) == len(seeds)


@pytest.mark.soak
@pytest.mark.parametrize("seeds", blocks(SOAK_FROM, SOAK, 200), ids=str)
def test_many_evenings(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        check(seed, tmp_path, twice=True)


@pytest.mark.parametrize("seed", [3, 24, 92])
def test_the_same_seed_does_the_same_again(seed: int, tmp_path: Path) -> None:
    """Each byte at its time, however long the bots of the first run live on."""
    one, other = play(seed, tmp_path), play(seed, tmp_path)
    assert [trace.happenings for trace in one.traces] == [trace.happenings for trace in other.traces]
    assert one.reports == other.reports


KINDS = "startup version timeout malformed illegal oversize stale flood stall eof crash".split()


def test_the_seeds_reach_everything(tmp_path: Path) -> None:
    """Every kind of fault, every end of a match, void matches, restarts, and matches in which nothing happens."""
    every = range(0, SUITE, BLOCK)
    evenings = [one for first in every for one in summaries(range(first, first + BLOCK), tmp_path)]
    reports = [report for evening in evenings for report in evening.reports]
    assert {kind for report in reports for _, kind in report.faults} == set(KINDS)
    assert {report.reason for report in reports} == {"target", "rounds", "max_rounds", "void_limit", "forfeit"}
    assert sum(not report.faults for report in reports) > 50
    assert sum(evening.voids for evening in evenings) > 5
    assert {seats for evening in evenings for seats in evening.seats} == {2, 3, 4, 5, 6, 10}
    assert max(max(evening.launches) for evening in evenings) >= 4


# ---- a simulation that cannot fail proves nothing: faults that are built into the referee are noticed

Patch = Callable[[pytest.MonkeyPatch], None]


def to_the_neighbour(patch: pytest.MonkeyPatch) -> None:
    """A fault is put down to the next seat."""
    right = Table.keep

    def keep(table: Table, fault: Fault) -> None:
        fault.seat = (fault.seat + 1) % len(table.seats)
        right(table, fault)

    patch.setattr(Table, "keep", keep)


def first_action_as_fallback(patch: pytest.MonkeyPatch) -> None:
    """The wrong end of the list of legal actions."""
    right = Table.take_fault

    async def take_fault(table: Table, seat: Seat, answer: Any, legal: Any, leaving: Any) -> None:
        await right(table, seat, answer, tuple(reversed(legal)), leaving)

    patch.setattr(Table, "take_fault", take_fault)


def forgets_a_decision(patch: pytest.MonkeyPatch) -> None:
    """One line of the log is lost."""
    right = MatchLog.line

    def line(log: MatchLog, fields: Any, t: Any = None) -> None:
        if fields.get("n") != 7:
            right(log, fields, t)

    patch.setattr(MatchLog, "line", line)


def charges_its_own_time(patch: pytest.MonkeyPatch) -> None:
    """A quarter of a millisecond is put on the bot's bill."""
    right = Clock.charge
    patch.setattr(Clock, "charge", lambda clock, ms: right(clock, ms + 0.25))


def gives_more_time(patch: pytest.MonkeyPatch) -> None:
    """The margin counts twice."""
    right = Clock.budget_ms
    patch.setattr(Clock, "budget_ms", lambda clock: right(clock) + clock.limits.margin_ms)


def forgets_the_bank(patch: pytest.MonkeyPatch) -> None:
    """What goes beyond the move costs nothing."""

    def charge(clock: Clock, ms: float) -> None:
        clock.used_ms = ms
        clock.thought_ms += ms

    patch.setattr(Clock, "charge", charge)


def overlooks_stale_lines(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Hearing, "_count_stale", lambda *_: None)


def takes_late_answers(patch: pytest.MonkeyPatch) -> None:
    """An answer to an older ask counts for the open one."""
    right = RefereeConversation._take_act

    def take(end: RefereeConversation, answered: int) -> StaleReason | None:
        return right(end, end._last_id if answered == end._last_id - 1 else answered)

    patch.setattr(RefereeConversation, "_take_act", take)


def forgets_strikes(patch: pytest.MonkeyPatch) -> None:
    """A restarted bot begins anew."""
    right = Seat.restart

    async def restart(seat: Seat, start: Any) -> Fault | None:
        seat.strikes = 0
        return await right(seat, start)

    patch.setattr(Seat, "restart", restart)


def tells_all(patch: pytest.MonkeyPatch) -> None:
    """Nothing is hidden from seat 0."""
    right = Table.redacted
    patch.setattr(
        Table, "redacted", lambda table, events, full, seat: right(table, events, full, seat) if seat else list(full)
    )


def tells_twice(patch: pytest.MonkeyPatch) -> None:
    """What was told as turns end comes once more with the next ask."""
    right = Seat.flush

    def flush(seat: Seat) -> None:
        waiting = list(seat._waiting)
        right(seat)
        seat._waiting = waiting

    patch.setattr(Seat, "flush", flush)


def leaves_bots_behind(patch: pytest.MonkeyPatch) -> None:
    """A forfeited bot is forgotten and not ended."""

    async def close(player: Player, grace: float = 0.0) -> None:
        player.connection = None

    patch.setattr(Player, "close", close)


def keeps_who_has_left(patch: pytest.MonkeyPatch) -> None:
    """Strikes are counted, and nobody ever leaves for them."""
    right = Seat.strike

    def strike(seat: Seat, fault: Fault) -> bool:
        return right(seat, fault) and seat.strikes < seat.player.limits.strikes

    patch.setattr(Seat, "strike", strike)


FAULTS: list[tuple[Patch, str]] = [
    (to_the_neighbour, "without its fault"),
    (first_action_as_fallback, "the action taken as fallback"),
    (forgets_a_decision, "replay"),
    (charges_its_own_time, r"kind='answer', ms=.*, expected Entry\(kinds=frozenset\({'answer'}\), ms="),
    (gives_more_time, r"(timeout|answer)'.*expected Entry\(kinds=frozenset\({'timeout'}\)"),
    (forgets_the_bank, r"kind='answer', ms=.*, bank=.*, expected Entry\(kinds=frozenset\({'answer'}\), ms="),
    (overlooks_stale_lines, "0 stale lines, expected"),
    (takes_late_answers, "expected Entry|while an answer was owed"),
    (forgets_strikes, "strikes at"),
    (tells_all, "event 3 that it was told"),
    (tells_twice, "that it was told"),
    (leaves_bots_behind, "bots are still there|not let go of"),
    (keeps_who_has_left, "after it had left"),
]
"""A fault, and what the simulation says of it."""


def play_until_one_fails(folder: Path) -> None:
    """The seeds of the suite."""
    for seed in range(SUITE):
        play(seed, folder)


@pytest.mark.parametrize(("fault", "says"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
def test_a_fault_of_the_referee_is_noticed(
    fault: Patch, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By one of the first seeds, all of which hold without it."""
    fault(monkeypatch)
    with pytest.raises(AssertionError, match=says):
        play_until_one_fails(tmp_path)


def test_a_failing_seed_tells_how_to_see_it_again_and_what_it_takes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the deeds of all bots those are told without which nothing fails."""
    keeps_who_has_left(monkeypatch)
    seed = next(seed for seed in range(SUITE) if fails(seed, tmp_path))
    told = story(seed, tmp_path, command(seed))
    first, second, *rest = told.splitlines()
    assert first.startswith(f"seed {seed}: AssertionError: match ")
    assert second == f"to see it again: {command(seed)}"
    deeds = [line for line in rest if line.startswith("  ") and not line.startswith("    ")]
    assert 1 <= len(deeds) < 10, told
    assert any("told fault" in line for line in rest), told


def fails(seed: int, folder: Path) -> bool:
    """Whether anything is wrong with the evening of this seed."""
    try:
        play(seed, folder)
    except AssertionError:
        return True
    return False
