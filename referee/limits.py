"""Limits of a bot and the clock of a seat: arithmetic only. Knows no task, no channel and no bot."""

from enum import StrEnum
from math import inf
from typing import Final

from msgspec import Struct

HARD_CAP_MS: Final = 60_000
"""What a decision may take where no limit is set."""


DEFAULT_CLOCK: Final = {"move_ms": 1000, "bank_ms": 10_000}
"""Where neither is given; one given alone means that there is no other."""


class Idle(StrEnum):
    """What a bot may do while it owes no answer."""

    RUN = "run"
    """Whatever it likes."""
    FREEZE = "freeze"
    """Nothing: all its processes are stopped until it is spoken to again."""


class Limits(Struct, frozen=True, kw_only=True):
    """Time in milliseconds, and patience. Without `move_ms` and `bank_ms` the hard cap alone holds."""

    move_ms: int | None = None
    bank_ms: int | None = None
    start_ms: int = 30_000
    strikes: int = 3
    margin_ms: int = 50
    """What an answer may be late without being charged."""
    seat_ms: int = 600_000
    """All of a seat's thinking in one match."""
    restarts: int = 0
    enforced: bool = True
    """False for debugging: nothing is ever late."""


class Clock:
    """What one seat has used of its limits in one match."""

    __slots__ = ("bank_ms", "limits", "thought_ms", "used_ms")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bank_ms = float(limits.bank_ms or 0)
        self.thought_ms = 0.0
        self.used_ms = 0.0
        """By the last decision."""

    @property
    def shown_bank_ms(self) -> int | None:
        """The bank as a bot is told it; None if there is none."""
        return None if self.limits.bank_ms is None else int(self.bank_ms)

    def budget_ms(self) -> float:
        """How long the next decision may take."""
        limits = self.limits
        if not limits.enforced:
            return inf
        if limits.move_ms is None and limits.bank_ms is None:
            budget = float(HARD_CAP_MS)
        else:
            budget = (limits.move_ms or 0) + self.bank_ms + limits.margin_ms
        return max(0.0, min(budget, limits.seat_ms - self.thought_ms))

    def remaining_ms(self, used_ms: float) -> tuple[int | None, int | None]:
        """What is left of `move_ms` and of the bank so long into a decision, as a bot is told it; None without."""
        limits = self.limits
        move_ms = None if limits.move_ms is None else max(0, int(limits.move_ms - used_ms))
        over = max(0.0, used_ms - (limits.move_ms or 0) - limits.margin_ms)
        bank_ms = None if limits.bank_ms is None else max(0, int(self.bank_ms - over))
        return move_ms, bank_ms

    def charge(self, used_ms: float) -> None:
        """A decision has taken so long: what goes beyond `move_ms` and the margin comes from the bank."""
        limits = self.limits
        self.used_ms = used_ms = max(0.0, used_ms)
        self.thought_ms += used_ms
        over = used_ms - (limits.move_ms or 0) - limits.margin_ms
        if limits.bank_ms is not None and over > 0:
            self.bank_ms = max(0.0, self.bank_ms - over)
