"""What ends a match and is no bot's doing: the machine's refusals and our own bugs, as values for log and user.

Knows no match. Either makes it void; `table` writes the line, and whoever called it says so to the user.
"""

import errno
import os
import traceback
from typing import NamedTuple, cast

from lastcard.referee.faults import FaultKind, Phase, printable
from lastcard.referee.start_error import OUR_FAULT

MACHINE = frozenset(
    {
        *(*OUR_FAULT, errno.ENOBUFS),
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO),
    }
)
"""Errors of the system that say that something has run out; any other error of it is a call that we got wrong."""

LONGEST_TRACEBACK = 20_000
"""Characters; of a longer one the end is kept, which says what was wrong."""


class MatchFailed(Exception):
    """The match is void: the host was at fault. The text says how."""


class Failure(NamedTuple):
    """Whose fault it is, and what in one line."""

    kind: FaultKind
    detail: str


def failure_of(error: BaseException) -> Failure:
    """What an exception in a match amounts to."""
    while isinstance(error, BaseExceptionGroup):  # several tasks may have met it: the first speaks for all
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, MemoryError):
        return Failure(FaultKind.HOST, "the referee has run out of memory")
    if isinstance(error, OSError) and error.errno in MACHINE:
        about = f"{printable(os.fsdecode(error.filename))}: " if isinstance(error.filename, str | bytes) else ""
        return Failure(FaultKind.HOST, f"the system refused the referee what it needs: {about}{error.strerror}")
    return Failure(FaultKind.REFEREE, summary_of(error))


def summary_of(error: BaseException) -> str:
    """Type, text and place of an exception in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    frames = traceback.extract_tb(error.__traceback__)
    return printable(f"{text} ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else text)


def failure_line(failure: Failure, phase: Phase) -> dict[str, object]:
    """The `fault` line of a log: of no seat, and with nothing applied."""
    return {"type": "fault", "kind": failure.kind, "phase": phase, "detail": failure.detail}


def traceback_of(error: BaseException) -> str:
    """All of it, as Python prints it."""
    return printable("".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:])
