"""What a user is told of a bug of ours that ended a match, and the file to report it with. Knows no match."""

import os
import tempfile
from pathlib import Path

from lastcard.referee.failures import failure_of, traceback_of
from lastcard.referee.version import VERSION


def report_of(error: BaseException, log: Path | None) -> str:
    """A sentence, for a match whose log may hold the traceback; where there is no log it goes into a file."""
    where = log if log is not None and holds_it(log) else file_with(traceback_of(error))
    told = f"; please report it with {where}, which holds the traceback" if where is not None else ""
    return f"this is a fault of lastcard, not of a bot: {failure_of(error).detail}{told}; the match is void"


def holds_it(log: Path) -> bool:
    """Whether the fault could be written into the log: on a full disk it could not."""
    try:
        return log.is_file() and b'"kind":"referee"' in log.read_bytes()
    except OSError:
        return False


def file_with(traceback: str) -> Path | None:
    """A new file of the user's own; None if there is no room for one."""
    try:
        number, name = tempfile.mkstemp(prefix="lastcard-fault-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(f"lastcard {VERSION}\n{traceback}")
    except OSError:
        return None
    return Path(name)
