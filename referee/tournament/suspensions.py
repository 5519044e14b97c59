"""The circuit breaker: three failed starts in a row suspend a bot. Knows no process; counts what rows say."""

from lastcard.referee.tournament.ports import FAILED_START
from lastcard.referee.tournament.rows import UNPLAYED, MatchRow

FAILED_STARTS = 3


class Suspensions:
    """Failed starts in a row by bot, in the order in which matches were committed, and who is suspended."""

    def __init__(self, suspended: frozenset[str] = frozenset()) -> None:
        self.suspended = suspended
        self._in_a_row: dict[str, int] = {}

    def count(self, row: MatchRow) -> list[str]:
        """Look at one more match; the bots that it has suspended."""
        if row.reason == UNPLAYED:
            return []
        new: list[str] = []
        for bot, faults in zip(row.bots, row.faults, strict=True):
            failed = not FAILED_START.isdisjoint(faults)
            self._in_a_row[bot] = self._in_a_row.get(bot, 0) + 1 if failed else 0
            if self._in_a_row[bot] >= FAILED_STARTS and bot not in self.suspended:
                new.append(bot)
        self.suspended |= frozenset(new)
        return new
