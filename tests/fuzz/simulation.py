"""Whole evenings of matches from one number: every bot, every delay and every accident by lot, in mock time.

`play(seed, folder)` plays an evening and proves it; a broken invariant is an AssertionError. Everything that is drawn
comes from the seed, and so does the order in which trio runs its tasks: the same call does the same again.
"""

from collections.abc import Awaitable, Callable, Sequence
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import trio
from trio.testing import MockClock

from lastcard.referee.log_reader import read_log
from lastcard.referee.player import Connection, Player
from lastcard.referee.replay import verify
from lastcard.referee.seating import SeatedTable, part_all
from lastcard.referee.start_error import StartError
from lastcard.referee.tournament import MatchCall, MatchRecord
from tests.fuzz.invariants import check_match
from tests.fuzz.judge import Judge
from tests.fuzz.lots import FULL_DISK, MatchPlan, PlayerPlan, TablePlan, tables_by_lot
from tests.fuzz.sim_bots import SimBot
from tests.fuzz.wire import Process, Trace

VOIDS = 2
"""So many void attempts may follow each other at a table; no more accidents of ours are planned."""


class Report(msgspec.Struct):
    """How one match that counts came out: all that has to be the same in every run of the same seed."""

    digest: str
    faults: list[tuple[int, str]]
    forfeited: list[int]
    places: list[int]
    reason: str


class Evening:
    """All tables of one seed. `allowed` names the deeds that bots may do; `schedule` varies the order of tasks."""

    def __init__(
        self,
        seed: int,
        folder: Path,
        *,
        allowed: frozenset[str] | None = None,
        schedule: int = 0,
        checked: bool = True,
    ) -> None:
        self.seed, self.folder, self.allowed = seed, folder, allowed
        self.schedule, self.checked = schedule, checked
        self.plans = tables_by_lot(seed)
        self.traces: list[Trace] = []
        self.processes: list[Process] = []
        self.reports: dict[str, Report] = {}
        self.voids = 0

    def run(self) -> None:
        """Play it, in a time that jumps over every wait."""
        in_mock_time(self._evening, f"{self.seed} {self.schedule}")
        planned = {f"{number}-{place}" for number, plan in enumerate(self.plans) for place in range(len(plan.matches))}
        assert set(self.reports) == planned, "a match has no record"

    async def _evening(self) -> None:
        async with trio.open_nursery() as bots:
            with trio.fail_after(1e7):
                async with trio.open_nursery() as tables:
                    for number, plan in enumerate(self.plans):
                        tables.start_soon(self._table, plan, number, bots)
            assert not bots.child_tasks, f"{len(bots.child_tasks)} bots are still there"
        assert all(process.closed for process in self.processes), "a process was not let go of"

    async def _table(self, plan: TablePlan, number: int, bots: trio.Nursery) -> None:
        """All matches of a table; after a void one with bots started anew, as the tournament's runner does it."""
        await trio.sleep(plan.pause)
        left = [(f"{number}-{place}", match) for place, match in enumerate(plan.matches)]
        for attempt in range(1 + VOIDS * len(left)):
            players, traces = self._players(plan, attempt, bots)
            try:
                left = await self._play_on(SeatedTable(players), left, traces, plan, attempt)
            finally:
                with trio.CancelScope(shield=True):
                    await part_all(players, "no more matches at this table")
            if not left:
                return
        raise AssertionError(f"{left} was void too often")

    def _players(self, plan: TablePlan, attempt: int, bots: trio.Nursery) -> tuple[list[Player], list[Trace]]:
        """The table's players, nobody started yet."""
        traces = [Trace(player.name) for player in plan.players]
        self.traces += traces
        players = [
            Player(one.name, ("sim", one.name), one.limits, self._launcher(one, trace, attempt, bots), idle=one.idle)
            for one, trace in zip(plan.players, traces, strict=True)
        ]
        return players, traces

    def _launcher(self, plan: PlayerPlan, trace: Trace, attempt: int, bots: trio.Nursery) -> Any:
        """What starts a player's processes; starts fail and bots are killed at the first attempt only."""
        started = 0

        def launch() -> Connection:
            nonlocal started
            started += 1
            if attempt == 0 and started - 1 in plan.failing:
                trace.add("no launch")
                raise StartError(f"bot {plan.name}: cannot start", host=plan.failing[started - 1])
            script = SimBot(plan.character, started, plan.limits, self.allowed)
            life = plan.lives.get(started - 1, inf) if attempt == 0 else inf
            process = Process(bots, script, trace, life=life)
            self.processes.append(process)
            return process

        return launch

    async def _play_on(
        self,
        table: SeatedTable,
        left: list[tuple[str, MatchPlan]],
        traces: Sequence[Trace],
        plan: TablePlan,
        attempt: int,
    ) -> list[tuple[str, MatchPlan]]:
        """Match after match until all are played or one is void; which are left."""
        judges = [Judge(trace, player.limits) for trace, player in zip(traces, plan.players, strict=True)]
        for done, (name, match) in enumerate(left):
            await trio.sleep(match.pause)
            path = FULL_DISK if attempt < match.full_disks else self.folder / f"{self.schedule}-{name}-{attempt}"
            call = MatchCall(match_id=name, rules=match.rules, seed=match.seed, bots=match.order, log_path=path)
            for trace in traces:
                trace.add("begin")
            record = await table.play(call)
            for trace in traces:
                trace.add("over")
            if record.void:
                self.voids += 1
                self._check_void(call, record, plan, attempt)
                return left[done:]
            self._keep(call, record)
            if self.checked:
                check_match(call, record, [judges[place] for place in match.order])
        return []

    def _keep(self, call: MatchCall, record: MatchRecord) -> None:
        """Every match has one record."""
        assert call.match_id not in self.reports, f"match {call.match_id} counts twice"
        self.reports[call.match_id] = Report(
            digest=record.digest,
            faults=sorted((fault.seat, fault.kind) for fault in record.faults),
            forfeited=sorted(record.forfeited),
            places=list(record.places),
            reason=record.reason,
        )

    def _check_void(self, call: MatchCall, record: MatchRecord, plan: TablePlan, attempt: int) -> None:
        """A match is void only where the machine was made to fail, and its log is right so far."""
        assert attempt < VOIDS, f"match {call.match_id} is void: {record.void_reason}"
        if call.log_path == FULL_DISK:
            assert "No space left" in record.void_reason, record.void_reason
            return
        assert any(True in one.failing.values() for one in plan.players), record.void_reason
        verdict = verify(read_log(call.log_path))
        assert verdict.difference is None, verdict
        assert verdict.incomplete, "the log of a void match is complete"


def in_mock_time(function: Callable[[], Awaitable[None]], order: str) -> None:
    """Runs it in a time that jumps over every wait. The text decides in which order tasks run that are ready."""
    core: Any = trio._core._run
    before = core._ALLOW_DETERMINISTIC_SCHEDULING, core._r
    core._ALLOW_DETERMINISTIC_SCHEDULING, core._r = True, Random(order)
    try:
        trio.run(function, clock=MockClock(autojump_threshold=0))
    finally:
        core._ALLOW_DETERMINISTIC_SCHEDULING, core._r = before


def play(seed: int, folder: Path, **how: Any) -> Evening:
    """The evening of this seed, played and proved. Raises AssertionError, or whatever the referee raised."""
    evening = Evening(seed, folder, **how)
    try:
        evening.run()
    except BaseExceptionGroup as group:
        raise first(group) from group
    return evening


def first(error: BaseException) -> BaseException:
    """The first error in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
