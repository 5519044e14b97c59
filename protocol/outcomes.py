"""What a conversation reports beside messages: refusals, stale lines, the end, nothing yet. Knows no strikes.

All are values. A bot can make this room return any of them and raise nothing.
"""

from enum import Enum, StrEnum
from typing import Final, Literal

from msgspec import Struct

RAW_HEAD: Final = 512
"""Bytes of an offending line that are kept as evidence."""


class RefusalKind(StrEnum):
    """Why a line was refused."""

    MALFORMED = "malformed"
    """Not an object with a known type and right fields, not UTF-8 anywhere, or too deep."""
    OVERSIZE = "oversize"
    """Longer than `max_line`; told once, when it becomes so; the rest is dropped up to its LF."""
    HUGE = "huge"
    """The same line grew past 1 MiB: the fault `oversize`, but it costs the match."""
    VERSION = "version"
    """A hello of another protocol number."""


class StaleReason(StrEnum):
    """Why a line that breaks no rule of form counts for nothing. All of them are the fault `stale`."""

    BLANK = "blank"
    OLDER = "older"
    """An answer to an ask before the last one."""
    ANSWERED = "answered"
    """A second answer to the last ask."""
    LATE = "late"
    """The last ask was closed without an answer: a time-out or another fault came first."""
    FUTURE = "future"
    """An id that has not been asked yet."""
    EARLY = "early"
    """The right id, but the line lay here before the ask was written: a guess, not an answer."""
    UNASKED = "unasked"
    """A second hello, a `ready` or `pong` that nobody waits for."""
    UNKNOWN_TYPE = "unknown_type"
    """A type that this version does not know: ignored, as the two ends promise each other."""


class Refusal(Struct, frozen=True):
    """A line that was refused, with a sentence for its author. `owed`: whether an answer was owed then."""

    kind: RefusalKind
    detail: str
    raw: bytes = b""
    size: int = 0
    owed: bool = False


class Stale(Struct, frozen=True):
    """A line that counts for nothing. `raw` is the head of the line, `size` its whole length."""

    reason: StaleReason
    raw: bytes = b""
    size: int = 0


class Closed(Struct, frozen=True):
    """The other end closed its output; `partial` is the head of a last line that had no LF."""

    partial: bytes = b""
    size: int = 0


class Signal(Enum):
    """What is not a line at all."""

    NEED_DATA = "need_data"


NEED_DATA: Final = Signal.NEED_DATA
"""No whole line is here: read and `receive` first."""

NeedData = Literal[Signal.NEED_DATA]
