"""What the referee's own process asks of the system at start-up; it knows no bot, and a refusal is ignored.

It owns nothing that a bot gets: limits and namespaces of bots belong to the sandbox.
"""

import ctypes
import resource
import sys
from contextlib import suppress

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
ENOUGH_FILES = 16384


def harden() -> None:
    """Close the referee's memory to its children, adopt their orphans, and raise the limit of open files."""
    if sys.platform == "linux":
        # A bot of our own uid could otherwise read every hand out of /proc/REFEREE/mem (it was done).
        _prctl(PR_SET_DUMPABLE, 0)
        # Children of a dead bot become ours, so that we can bury those that we kill.
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
    _raise_file_limit()


def _prctl(option: int, value: int) -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _raise_file_limit() -> None:
    # Four descriptors a bot: the usual limit of 1024 ends at sixty tables, and looks like "cannot start".
    with suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
