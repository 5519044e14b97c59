"""Plays a plan: several stretches at a time, each match committed when done. Knows no rules and no processes.

What becomes of a match is decided without looking at its score: it counts, or it is void and played again
with bots started anew, or a suspended bot forfeits it unplayed.
"""

import traceback
from collections.abc import Sequence
from enum import Enum
from typing import TypeGuard

import trio

from lastcard.engine import Rules
from lastcard.referee.tournament.errors import LedgerError
from lastcard.referee.tournament.folder import Folder
from lastcard.referee.tournament.ledger import Ledger
from lastcard.referee.tournament.lineups import LineUp
from lastcard.referee.tournament.plan import Plan, PlannedMatch, Stretch
from lastcard.referee.tournament.ports import FAILED_START, Bot, MatchCall, MatchPlayer, MatchRecord, Table
from lastcard.referee.tournament.progress import Reporter
from lastcard.referee.tournament.rows import VoidRow, fault_rows, match_row, unplayed_row
from lastcard.referee.tournament.suspensions import FAILED_STARTS, Suspensions

VOIDS_IN_A_ROW = 2
SECONDS_BETWEEN_TICKS = 0.5


class Ending(Enum):
    """Why a run is over."""

    DONE = "all matches are played"
    DRAINED = "stopped: running matches were finished, no others begun"
    STOPPED = "stopped at once: running matches were given up"
    VOIDS = "stopped: a match was void twice in a row"
    BROKEN = "stopped: the ledger cannot be written"


class Run:
    """One run over the matches of a plan that the ledger does not have."""

    def __init__(
        self,
        *,
        plan: Plan,
        rules: Rules,
        bots: Sequence[Bot],
        player: MatchPlayer,
        ledger: Ledger,
        folder: Folder,
        reporter: Reporter,
        jobs: int,
    ) -> None:
        self._plan = plan
        self._rules = rules
        self._bots = bots
        self._player = player
        self._ledger = ledger
        self._folder = folder
        self._reporter = reporter
        self._jobs = jobs
        self._stretches = plan.stretches()
        self._suspensions = Suspensions()
        self._voids: dict[tuple[int, int], int] = {}
        self._ending = Ending.DONE
        self._at_play = 0
        """Matches that are being played."""
        self.broken: LedgerError | None = None
        self._work = trio.CancelScope()

    @property
    def _draining(self) -> bool:
        return self._ending is not Ending.DONE

    def drain(self, ending: Ending = Ending.DRAINED) -> None:
        """Finish the running matches and begin no others."""
        if not self._draining:
            self._ending = ending

    def stop(self) -> None:
        """Give up the running matches too; they are not in the ledger and will be played again."""
        if self._ending in (Ending.DONE, Ending.DRAINED):
            self._ending = Ending.STOPPED
        self._work.cancel()

    def interrupt(self) -> None:
        """What the first SIGINT does, and the second. Where no match runs yet, there is nothing to finish."""
        if self._draining:
            self.stop()
            return
        self.drain()
        if not self._at_play:
            self._work.cancel()
        else:
            self._reporter.say("finishing the running matches; interrupt once more to give them up")

    async def play(self) -> Ending:
        """Play what is missing. With Ending.BROKEN, `broken` says why."""
        self._remember()
        self._reporter.begin(self._plan.matches, self._ledger.count())
        try:
            async with trio.open_nursery() as around:
                around.start_soon(self._tick)
                with self._work:
                    async with trio.open_nursery() as workers:
                        for _ in range(self._jobs):
                            workers.start_soon(self._worker)
                around.cancel_scope.cancel()
        finally:
            self._reporter.end()
        if self._draining and self.broken is None and self._ledger.count() == self._plan.matches:
            return Ending.DONE
        return self._ending

    def _remember(self) -> None:
        """Go on counting failed starts where an earlier run stopped."""
        self._suspensions = Suspensions(frozenset(self._ledger.suspended()))
        if self._ledger.has_fault(FAILED_START):
            for row in self._ledger.rows("number"):
                self._suspensions.count(row)

    async def _tick(self) -> None:
        while True:
            await trio.sleep(SECONDS_BETWEEN_TICKS)
            self._reporter.tick()

    async def _worker(self) -> None:
        for stretch in self._stretches:  # shared: each stretch goes to one worker
            if self._draining:
                return
            await trio.lowlevel.checkpoint()
            left = self._missing(stretch)
            while left and not self._draining:
                left = await self._play_with_fresh_bots(stretch.line_up, left)

    def _missing(self, stretch: Stretch) -> list[PlannedMatch]:
        first = stretch.matches[0]
        played = self._ledger.played([match.block for match in stretch.matches], first.rotation)
        return [match for match in stretch.matches if match.block not in played]

    def _absent(self, line_up: LineUp) -> frozenset[str]:
        return self._suspensions.suspended & {self._bots[number].name for number in line_up}

    async def _play_with_fresh_bots(self, line_up: LineUp, left: list[PlannedMatch]) -> list[PlannedMatch]:
        """Start the bots and play on until something calls for others; what is left then."""
        if self._absent(line_up):
            for match in left:
                self._close_unplayed(match)
            return []
        seated = False
        try:
            async with self._player.open_table([self._bots[number] for number in line_up]) as table:
                seated = True
                while left and not self._draining and not self._absent(line_up):
                    if not await self._play(table, line_up, left[0]):
                        break
                    left = left[1:]
        except* Exception as failure:
            if seated:
                self._reporter.say(f"bots could not be ended: {last_line(failure)}")
            else:
                self._void(left[0], failure)
        return left

    async def _play(self, table: Table, line_up: LineUp, match: PlannedMatch) -> bool:
        """Play a match; whether it counts. An exception is a fault of ours and voids the match."""
        call = MatchCall(
            match_id=match.match_id,
            rules=self._rules,
            seed=match.seed,
            bots=tuple(line_up.index(bot) for bot in match.bots),
            log_path=self._folder.log(match.block, match.rotation),
        )
        begun = trio.current_time()
        record: MatchRecord | None = None
        self._at_play += 1
        try:
            record = await table.play(call)
        except* Exception as failure:
            self._void(match, failure)
        finally:
            self._at_play -= 1
        if record is None:
            return False
        if record.void:
            self._void(match, record.void_reason)
            return False
        self._commit(match, record, round(1000 * (trio.current_time() - begun)))
        return True

    def _names(self, match: PlannedMatch) -> tuple[str, ...]:
        return tuple(self._bots[bot].name for bot in match.bots)

    def _commit(self, match: PlannedMatch, record: MatchRecord, ms: int) -> None:
        log = str(self._folder.log(match.block, match.rotation).relative_to(self._folder.path))
        try:
            voids = self._ledger.void_attempts(match.block, match.rotation)
            row = match_row(match, self._names(match), record, log=log, voids=voids, ms=ms)
            self._ledger.commit(row, fault_rows(row, record))
            for bot in self._suspensions.count(row):
                reason = f"{FAILED_STARTS} failed starts in a row"
                self._ledger.suspend(bot, reason)
                self._reporter.say(f"{bot} is suspended: {reason}; its open matches are forfeited unplayed")
        except LedgerError as error:
            self._break(error)
        self._reporter.advance(len(record.faults))

    def _close_unplayed(self, match: PlannedMatch) -> None:
        names = self._names(match)
        try:
            self._ledger.commit(unplayed_row(match, names, self._suspensions.suspended & set(names)))
        except LedgerError as error:
            self._break(error)
        self._reporter.advance(0)

    def _void(self, match: PlannedMatch, why: str | BaseException) -> None:
        """Keep an attempt that counts for nobody; two in a row stop the run."""
        key = (match.block, match.rotation)
        self._voids[key] = self._voids.get(key, 0) + 1
        summary, reason = (why, why) if isinstance(why, str) else (last_line(why), whole_text(why))
        try:
            log = self._folder.keep_void_log(*key, self._ledger.void_attempts(*key) + 1)
            self._ledger.commit_void(
                VoidRow(
                    block=match.block,
                    rotation=match.rotation,
                    bots=self._names(match),
                    reason=reason,
                    log=log,
                )
            )
        except LedgerError as error:
            self._break(error)
        self._reporter.say(f"match {match.block}-{match.rotation} is void: {summary}")
        if self._voids[key] >= VOIDS_IN_A_ROW:
            self.drain(Ending.VOIDS)

    def _break(self, error: LedgerError) -> None:
        """Without a ledger nothing that is played counts: finish, and let whoever started the run speak."""
        self.broken = self.broken or error
        self.drain(Ending.BROKEN)


def whole_text(failure: BaseException) -> str:
    return "".join(traceback.format_exception(failure))


def is_group(failure: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(failure, BaseExceptionGroup)


def last_line(failure: BaseException) -> str:
    """The first error in a group, in one line."""
    while is_group(failure):
        failure = failure.exceptions[0]
    return " ".join(f"{type(failure).__name__}: {failure}".split())
