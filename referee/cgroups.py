"""Cgroups as folders: who is in them, ended and removed; it knows not who made them, nor for what.

Standard library only, and no import of ours: the keeper runs it as a program of its own.
"""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress

FREEZE_LIMIT = 0.05
"""Seconds that members of a version 1 cgroup may take to stand still before they are killed one by one."""

LEAVE_LIMIT = 0.05
"""Seconds that the killed may take to be quite gone."""

MOST_KILLS = 100
"""Looks for members that are killed one by one."""

FREEZERS = (("cgroup.freeze", b"1", b"0"), ("freezer.state", b"FROZEN", b"THAWED"))
"""Version 2 and version 1: the file, and the words that stop and wake the members."""


def members(folders: Sequence[str]) -> list[int]:
    """Who is in them or below them, without zombies."""
    found: dict[int, None] = {}
    for folder in folders:
        for one in _with_subfolders(folder):
            found.update(dict.fromkeys(map(int, (read(f"{one}/cgroup.procs") or "").split())))
    return list(found)


def _with_subfolders(folder: str) -> list[str]:
    """A bot that is root can make some. A cgroup's count of links tells whether there are any."""
    with suppress(OSError):
        if os.stat(folder).st_nlink > 2:
            return [path for path, _, _ in os.walk(folder)]
    return [folder]


def kill(folders: Sequence[str]) -> bool:
    """SIGKILL to all members. False if some are out of our reach or keep slipping away."""
    for folder in folders:
        write(f"{folder}/cgroup.kill", b"1")
    if not members(folders):
        return True
    # Version 1: nobody forks while all stand still. Besides, root may have left one of its cgroups.
    set_frozen(folders, True)
    for folder in folders:
        _wait_until_frozen(f"{folder}/freezer.state")
    try:
        return _kill_each(folders)
    finally:
        set_frozen(folders, False)


def _wait_until_frozen(state: str) -> None:
    until = time.monotonic() + FREEZE_LIMIT
    while (read(state) or "").strip() == "FREEZING" and time.monotonic() < until:
        time.sleep(0.0005)


def _kill_each(folders: Sequence[str]) -> bool:
    struck: set[int] = set()
    for _ in range(MOST_KILLS):
        new = [pid for pid in members(folders) if pid not in struck]
        if not new:
            return True
        for pid in new:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        struck.update(new)
    return False


def set_frozen(folders: Sequence[str], frozen: bool) -> None:
    """Stop all members, or wake them."""
    for name, stop, go in FREEZERS:
        for folder in folders:
            write(f"{folder}/{name}", stop if frozen else go)


def remove(folder: str, patience: float = 0.0) -> bool:
    """Remove a cgroup, and those that a bot has made in it. False if somebody is still there after `patience` seconds.

    Who is listed no more may be there for the fraction of a millisecond in which he takes his leave of the kernel.
    """
    until = time.monotonic() + patience
    while not _removed(folder):
        if time.monotonic() >= until:
            return False
        time.sleep(0.0002)
    return True


def _removed(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        for path, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):
                os.rmdir(path)
    return not os.path.exists(folder)


# ---- files


def read(path: str) -> str | None:
    """The whole file; None if it is not there or not ours to read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return os.fsdecode(file.read())
    except OSError:
        return None


def write(path: str, data: bytes) -> bool:
    """Write into a file that exists. False if the system refuses."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.write(fd, data) == len(data)
    except OSError:
        return False
    finally:
        os.close(fd)


def number(path: str) -> int:
    """The one number in a file, 0 if there is no such file."""
    return int(read(path) or 0)


def count(path: str, name: str) -> int:
    """The number behind this name in a file of lines `name number`, 0 if it is not there."""
    for line in (read(path) or "").splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0
