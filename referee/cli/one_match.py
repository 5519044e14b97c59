"""One match of real processes, ended in good order whatever happens, and how it looks in a terminal."""

import secrets
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import cast

import trio

from lastcard.engine import Event, Match, Rules
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.cli.bug_report import report_of
from lastcard.referee.cli.terminal import nobody_reads, say
from lastcard.referee.describe import describe, describe_fault
from lastcard.referee.limits import Limits
from lastcard.referee.match_log import MatchLog
from lastcard.referee.process_players import Keeping, part_all, player_of
from lastcard.referee.table import MatchFailed, Opening, Outcome, Table, fault_line


class OneMatch:
    """Plays once; afterwards `stopped` says what ended it before its time, and `unread` that its reader left.

    Without a title it is played in silence.
    """

    def __init__(
        self,
        commands: Sequence[BotCommand],
        rules: Rules,
        seed: str,
        log: MatchLog,
        log_path: Path | None,
        limits: Limits,
        keeping: Keeping,
        *,
        opening: Opening | None,
        title: str,
        pace: float,
    ) -> None:
        match_id = secrets.token_hex(4)
        self.names = [command.name for command in commands]
        self.players = [
            player_of(command, limits, keeping, seat=seat, match=match_id) for seat, command in enumerate(commands)
        ]
        self.log_path = log_path
        self.log = log
        self.table = Table(
            self.players, rules, seed, self.log, match_id=match_id, opening=opening, watcher=self._watch, pace=pace
        )
        self.title = title
        self.shown = bool(title)
        self.shown_faults = 0
        self.stopped = ""
        self.unread = False
        self._playing = trio.CancelScope()
        self._parting = trio.CancelScope(shield=True)

    def run(self) -> Outcome | None:
        """Play it; None if it did not come to its end."""
        try:
            return trio.run(self._play)
        except KeyboardInterrupt:  # before signals are received, or after
            self.stopped = "stopped by SIGINT"
            return None
        finally:
            self.log.close()

    async def _play(self) -> Outcome | None:
        outcome = None
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            if self.shown:
                self._show(lambda: say(self.title))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._obey, signals)
                try:
                    with self._playing:
                        outcome = await self.table.play()
                except MatchFailed as failure:
                    self.stopped = f"the match is void: {failure}"
                except Exception as error:
                    self.stopped = report_of(error, self.log.path)
                finally:
                    with self._parting:
                        await part_all(self.players, "the match is over" if outcome else "the match was stopped")
                nursery.cancel_scope.cancel()
        return outcome

    async def _obey(self, signals: AsyncIterator[int]) -> None:
        """The first signal ends the match, the second does not wait for bots to leave."""
        async for number in signals:
            if self._playing.cancel_called:
                self._parting.cancel()
            elif not self.table.match.over:
                self.stopped = f"stopped by {signal.Signals(number).name}"
            self._playing.cancel()

    # ---- what is seen of it

    def _watch(self, _: Match, events: Sequence[Event]) -> None:
        """One step."""
        if self.shown:
            self._show(lambda: self._step(events))

    def show_rest(self) -> None:
        """Faults after the last step."""
        if self.shown:
            self._show(lambda: self._step(()))

    def _step(self, events: Sequence[Event]) -> None:
        for fault in self.table.faults[self.shown_faults :]:
            say(describe_fault(fault_line(fault), self.names))
        self.shown_faults = len(self.table.faults)
        for event in events:
            say(describe(cast("dict[str, object]", event), self.names))

    def _show(self, show: Callable[[], None]) -> None:
        """A reader who leaves ends a match that nobody else will hear of; one with a log is played to its end."""
        try:
            show()
        except BrokenPipeError:
            nobody_reads()
            self.shown = False
            self.unread = True
            if self.log_path is None:
                self._playing.cancel()
