"""A user number of its own for each live bot, reserved among all referees of the machine; only root needs it.

A reservation is a lock on a file in a folder that only root can enter: it ends with the process that holds
it, however that ends, and no bot can take all numbers away (an abstract socket could be bound by anybody).
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

FIRST = 60600
"""Debian gives 60000-64999 to nobody, and systemd hands out neither 60600 nor any of those after it."""

COUNT = 500

PARENTS = (Path("/run"), Path(tempfile.gettempdir()))


class NoUid(Exception):
    """No number is free, or there is no place for the locks. The text is half a sentence."""


class Reservation:
    """A number that is ours until `release`."""

    def __init__(self, uid: int, lock: int) -> None:
        self.uid = uid
        self._lock: int | None = lock

    def release(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def reserve() -> Reservation:
    """The next number that nobody uses. Raises NoUid."""
    folder = _folder()
    for uid in _order():
        lock = os.open(folder / str(uid), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
        else:
            return Reservation(uid, lock)
    raise NoUid(f"all {COUNT} user numbers from {FIRST} are in use")


_given = count()
"""How many numbers were given out, so that the next one is another."""


def _order() -> Iterator[int]:
    # What was killed may live for a moment longer than its lock, and counts against the next of its number: each
    # referee begins elsewhere, and each of its bots.
    start = os.getpid() * 41 + next(_given)
    return (FIRST + (start + number) % COUNT for number in range(COUNT))


def _folder() -> Path:
    for parent in PARENTS:
        folder = parent / "lastcard-uids"
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
            # A folder that somebody else has prepared would let him take every number.
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077:
                return folder
    raise NoUid("neither /run nor the temporary folder can hold the locks of user numbers")
