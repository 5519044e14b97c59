"""Faults as values: their kinds, what each costs, and all that is kept of one. `spec.md` has the same table.

A bot can raise nothing in the referee; whatever it does becomes one of these.
"""

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct


class FaultKind(StrEnum):
    """What went wrong. The last two are ours and make the match void."""

    STARTUP = "startup"
    VERSION = "version"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    ILLEGAL = "illegal"
    OVERSIZE = "oversize"
    STALE = "stale"
    FLOOD = "flood"
    STALL = "stall"
    EOF = "eof"
    CRASH = "crash"
    HOST = "host"
    REFEREE = "referee"


class Cost(NamedTuple):
    """What a fault costs its seat."""

    strike: bool
    ends: bool
    """Whether the seat leaves the match: at once, or once it has no restart left where a process ended."""


COST: dict[FaultKind, Cost] = {
    FaultKind.STARTUP: Cost(strike=False, ends=True),
    FaultKind.VERSION: Cost(strike=False, ends=True),
    FaultKind.TIMEOUT: Cost(strike=True, ends=False),
    FaultKind.MALFORMED: Cost(strike=True, ends=False),
    FaultKind.ILLEGAL: Cost(strike=True, ends=False),
    FaultKind.OVERSIZE: Cost(strike=True, ends=False),
    FaultKind.STALE: Cost(strike=False, ends=False),
    FaultKind.FLOOD: Cost(strike=False, ends=True),
    FaultKind.STALL: Cost(strike=False, ends=True),
    FaultKind.EOF: Cost(strike=True, ends=True),
    FaultKind.CRASH: Cost(strike=True, ends=True),
    FaultKind.HOST: Cost(strike=False, ends=False),
    FaultKind.REFEREE: Cost(strike=False, ends=False),
}

GONE = frozenset({FaultKind.EOF, FaultKind.CRASH})
"""The process is lost: the decision gets the fallback, and a restart may follow."""

MOST_STALE = 16
"""Lines that count for nothing in one match; the next one is a flood."""

PING_EVERY = 5.0
"""Seconds between two pings to a bot that listed `ping`; so long it has for its pong."""


class Phase(StrEnum):
    """When it happened."""

    HELLO = "hello"
    START = "start"
    ASKED = "asked"
    BETWEEN = "between asks"
    END = "end"


class Fault(Struct, kw_only=True):
    """One fault of one seat, with its evidence."""

    seat: int
    kind: FaultKind
    phase: Phase
    detail: str
    limit_ms: int | None = None
    elapsed_ms: int | None = None
    received: bytes = b""
    """The head of the offending line."""
    size: int = 0
    """Its whole length."""
    forfeits: bool = False
    """It ends the seat's match without a fallback first."""
    exit_status: str | None = None
    stderr: str = ""
    strikes: int = 0
    of: int = 0
    applied: str | None = None
    repeat: str = ""
    """The command that starts this bot by hand."""

    @property
    def costs_strike(self) -> bool:
        """Whether it counts towards the strikes at which a seat is forfeited."""
        return COST[self.kind].strike and not self.forfeits


LAST_LINES = 20
LONGEST_STDERR = 4096


def printable(text: str) -> str:
    """Text from the system that may hold bytes which are no UTF-8: as paths do; escaped, so that it can be logged."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def last_lines(stderr: bytes) -> str:
    """The end of a bot's standard error as text."""
    text = stderr[-LONGEST_STDERR:].decode("utf-8", "backslashreplace")
    return "\n".join(text.splitlines()[-LAST_LINES:])
