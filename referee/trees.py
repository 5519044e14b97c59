"""Who descends from whom, read out of /proc, and signals to whole trees; it knows no bot and no referee.

Standard library only, and no import of ours: the keeper runs it as a program of its own. Where there is no
/proc (macOS) everything here finds nothing, and process groups have to do.
"""

import os
import signal
import time
from collections.abc import Iterable
from typing import NamedTuple

SEAT, MATCH = "LASTCARD_SEAT", "LASTCARD_MATCH"
"""The two variables that mark whatever a bot starts, unless it takes pains to clear them."""

DEAD = "ZX"
"""States of a process that runs no more and only waits for its parent to notice."""

STILL = "Tt"
"""States of a process that is stopped."""

STOP_LIMIT = 0.005
"""Seconds to wait until all stand still: for so long the referee can afford to do nothing else."""


class Process(NamedTuple):
    """One line of the process table."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    started: int
    """In ticks since boot: with the number it names one process for ever."""

    @property
    def dead(self) -> bool:
        """It is a zombie."""
        return self.state in DEAD


def process(pid: int) -> Process | None:
    """The process of this number, or None if there is none."""
    data = _read(f"/proc/{pid}/stat") or b""
    # The second field is the program's name in brackets, which may hold blanks and brackets.
    fields = data[data.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    state = fields[0].decode()
    if state in DEAD and int(fields[17]) > 1:
        state = _state_of_threads(pid)
    return Process(pid, state, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def _state_of_threads(pid: int) -> str:
    """Whose first thread has left looks dead and is not: the state of one that runs, else of one that is stopped."""
    stats = (_read(f"/proc/{pid}/task/{task}/stat") or b"" for task in _numbers(f"/proc/{pid}/task"))
    states = [data[data.rfind(b")") + 2 :][:1].decode() for data in stats if data]
    alive = [state for state in states if state not in DEAD]
    return next((state for state in alive if state not in STILL), alive[0] if alive else DEAD[0])


def everything() -> dict[int, Process]:
    """The whole process table."""
    found = (process(pid) for pid in _numbers("/proc"))
    return {one.pid: one for one in found if one is not None}


def children(pid: int) -> list[int]:
    """The children of a process, zombies included."""
    found: list[int] = []
    for task in _numbers(f"/proc/{pid}/task"):
        listed = _read(f"/proc/{pid}/task/{task}/children")
        if listed is None:  # a kernel without that file, or the thread has just ended
            return [one.pid for one in everything().values() if one.parent == pid]
        found += map(int, listed.split())
    return found


def descendants(pid: int) -> list[int]:
    """Children, their children and so on, each after its parent. The process itself is not among them."""
    return with_descendants([pid])[1:]


def with_descendants(roots: Iterable[int]) -> list[int]:
    """These processes and all that descends from them, each once."""
    found = list(dict.fromkeys(roots))
    known = set(found)
    for pid in found:  # grows while it is walked
        new = [child for child in children(pid) if child not in known]
        known.update(new)
        found += new
    return found


def mark_of(pid: int) -> tuple[str, str] | None:
    """Seat and match out of the environment that a process was started with; None if it does not tell."""
    values: dict[str, str] = {}
    for entry in _environment(pid).split(b"\0"):
        name, _, value = os.fsdecode(entry).partition("=")
        values.setdefault(name, value)
    return (values[SEAT], values[MATCH]) if SEAT in values and MATCH in values else None


def _environment(pid: int) -> bytes:
    # Where the first thread has left, the others have it.
    others = (f"/proc/{pid}/task/{task}/environ" for task in _numbers(f"/proc/{pid}/task"))
    return _read(f"/proc/{pid}/environ") or next(filter(None, map(_read, others)), b"")


def send(pid: int, number: signal.Signals) -> bool:
    """Signal one process. False if there is none, or if it is out of our reach."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def send_group(group: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Signal all members of a process group at once; the system lets no fork slip through."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def stop(roots: Iterable[int]) -> list[int]:
    """SIGSTOP to these processes and all their descendants. Returns whom, for `signal_all` to wake them.

    Who is in the middle of a fork finishes it first; so it looks until all stand still and nobody is new.
    """
    stopped: dict[int, None] = {}
    tops = list(roots)
    until = time.monotonic() + STOP_LIMIT
    while True:
        moving = [pid for pid in with_descendants(tops) if not _stands(pid)]
        for pid in moving:
            if pid not in stopped:
                send(pid, signal.SIGSTOP)
                stopped[pid] = None
        if not moving or time.monotonic() > until:
            return list(stopped)
        time.sleep(0)


def _stands(pid: int) -> bool:
    found = process(pid)
    return found is None or found.state in STILL or found.dead


def signal_all(pids: Iterable[int], number: signal.Signals) -> None:
    """Signal each of these processes."""
    for pid in pids:
        send(pid, number)


def _numbers(folder: str) -> list[int]:
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:
        return []


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:  # it has just ended, or its environment is none of our business
        return None
