"""What one match of one player has to look like in its log: decisions, faults and times; fed by `judge`.

The tables of the referee are restated here from `spec.md`, not imported.
"""

from math import inf
from typing import NamedTuple

from lastcard.referee.limits import Limits
from tests.fuzz.wire import Line

STRIKES = frozenset({"timeout", "malformed", "illegal", "oversize", "eof", "crash"})
GONE = frozenset({"eof", "crash"})
MOST_STALE = 16
MOST_LINES_BEFORE_HELLO = 16
HARD_CAP_MS = 60_000.0
PATIENCE = 0.2
"""Seconds that an exit status is waited for."""
PING_EVERY = 5.0
HAIR = 1e-7
"""Seconds: sums of floats in another order."""


class Entry(NamedTuple):
    """One asked decision of a seat as it has to stand in the log: an answer, or a fault of one of these kinds."""

    kinds: frozenset[str]
    ms: float | None = None
    """What it cost; None if that is not known."""
    action: str = ""
    forfeits: bool = False
    """There is no fallback: the seat leaves."""
    bank: float | None = None
    """What is left of the bank after it, where that is known."""


BY_THE_BOT = frozenset({"said", "ended", "output closed", "input closed", "input full"})

ANSWER = frozenset({"answer"})


class Clock:
    """What a seat has used of its limits in one match."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bank = float(limits.bank_ms or 0)
        self.thought = self.used = 0.0

    @property
    def budget(self) -> float:
        """Milliseconds for the next decision."""
        limits = self.limits
        if not limits.enforced:
            return inf
        untimed = limits.move_ms is None and limits.bank_ms is None
        budget = HARD_CAP_MS if untimed else (limits.move_ms or 0) + self.bank + limits.margin_ms
        return min(budget, limits.seat_ms - self.thought)

    def charge(self, ms: float) -> None:
        """It took so long."""
        self.used = ms
        self.thought += ms
        self.bank = max(0.0, self.bank - max(0.0, ms - (self.limits.move_ms or 0) - self.limits.margin_ms))


class Asked(NamedTuple):
    """An ask that waits for its answer."""

    number: int
    legal: list[str]
    since: float
    budget: float
    """Seconds."""


class Course:
    """One match of one player, as its wire tells it."""

    def __init__(self, limits: Limits) -> None:
        self.clock = Clock(limits)
        self.entries: list[Entry] = []
        self.due = 0
        """So many of them have to be in the log: they were paid before something else was asked."""
        self.owed = 0
        """So many faults the referee has seen while nothing was asked, and has not made the seat pay."""
        self.unread: list[str] = []
        """What lies in its buffers: stale, costly or huge."""
        self.stale = self.stale_due = self.heard = 0
        self.launches = 0
        self.asks: list[Line] = []
        self.told: list[Line] = []
        """Events, to the process that was started last."""
        self.silent_ping = False
        """A ping was not answered in its time."""
        self.shown: list[tuple[float, float]] = []
        """For each ask: the bank and the time of the last decision as they were."""
        self.was_there = False
        """It began with a process that had played before."""

    def add(self, entry: Entry, *, now: bool) -> None:
        """Something to be found in the log; with `now` whatever comes after."""
        self.entries.append(entry._replace(bank=self.clock.bank) if now else entry)
        if now:
            self.settle()

    def look(self) -> None:
        """The referee goes through what lies there, up to the first line that costs something."""
        if self.owed:
            return
        while self.unread:
            stale = self.unread.pop(0) == "stale"
            self.heard += stale
            if not stale or self.heard > MOST_STALE:
                self.owed += 1
                return

    def forget_owed(self) -> None:
        """The seat leaves before the deal: it pays for nothing more."""
        del self.entries[len(self.entries) - self.owed :]
        self.owed = 0

    def settle(self) -> None:
        """All that was said up to here has been dealt with."""
        self.due, self.stale_due, self.heard = len(self.entries), min(self.stale, MOST_STALE), self.stale
        self.unread.clear()

    def count_stale(self, *, now: bool) -> bool:
        """One more line that counts for nothing. True if it is one too many."""
        self.stale += 1
        if now:
            self.heard += 1
        else:
            self.unread.append("stale")
        if self.stale == MOST_STALE + 1:
            self.add(Entry(frozenset({"flood"}), forfeits=True), now=now)
        return self.stale > MOST_STALE


def is_legal(action: str, legal: list[str]) -> bool:
    """Whether the action is one of these; a play may end in a call."""
    return action in legal or (action.startswith("play ") and action.removesuffix(" uno") in legal)
