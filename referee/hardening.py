"""What the referee's own process asks of the system; it knows no bot, and a refusal is ignored.

It owns nothing that a bot gets: limits and namespaces of bots belong to the sandbox. What a bot would inherit
against its will (ignored signals, blocked ones) is put right here, because nothing can be between fork and exec.
"""

import ctypes
import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from types import FrameType

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
ENOUGH_FILES = 16384

RESTORED = {"SIGPIPE", "SIGXFZ", "SIGXFSZ"}
"""Signals that Python ignores, and that `Popen` gives back to the child by itself."""


def harden() -> None:
    """Close the referee's memory to its children, adopt their orphans, and raise the limit of open files."""
    if sys.platform == "linux":
        # A bot of our own uid could otherwise read every hand out of /proc/REFEREE/mem (it was done).
        _prctl(PR_SET_DUMPABLE, 0)
        adopt_orphans()
    clean_signals()
    _raise_file_limit()


@cache
def adopt_orphans() -> int | None:
    """Children of a dead bot become ours, so that we find those that we have to end.

    Returns since when, in ticks since boot as the process table has them; None if they do not.
    """
    if sys.platform != "linux":
        return None
    now = int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
    return now if _prctl(PR_SET_CHILD_SUBREAPER, 1) else None


def adopting() -> bool:
    """Whether `adopt_orphans` has been called."""
    return adopt_orphans.cache_info().currsize > 0


def clean_signals() -> None:
    """Whatever we ignore or block, a bot does not: exec passes both on, but no handlers.

    So a signal that we were started to ignore (`nohup`, a shell's background job) gets a handler that does
    nothing: for us it is the same.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may, and whoever runs a referee elsewhere has signals of his own
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN and signal.Signals(number).name not in RESTORED:
            with suppress(OSError, ValueError):
                # An ignored SIGCHLD would moreover make the system forget how our children ended.
                signal.signal(number, signal.SIG_DFL if number == signal.SIGCHLD else _ignore)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _ignore(number: int, frame: FrameType | None) -> None:
    """Take no notice of a signal."""


def _prctl(option: int, value: int) -> bool:
    with suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    return False


def _raise_file_limit() -> None:
    # Four descriptors a bot: the usual limit of 1024 ends at sixty tables, and looks like "cannot start".
    with suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
