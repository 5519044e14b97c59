"""What a cgroup of a bot's own can do on this machine, seen by making one; it puts nobody into it."""

import os
from itertools import count

from msgspec import Struct

from lastcard.referee.cages import PREFIX, Cage

_numbers = count(1_000_000)
"""Far from those of bots."""


class Powers(Struct, frozen=True, kw_only=True):
    """Of a cage with limits; all false where there are no cages."""

    folders: list[str] = []
    """The cgroups below which cages are made."""
    memory: bool = False
    processes: bool = False
    kill: bool = False
    """All members at once, by the kernel."""
    freeze: bool = False


def powers() -> Powers:
    """Tries now."""
    cage = Cage.make(f"{PREFIX}-{os.getpid()}-{next(_numbers)}", memory_mb=64, processes=16)
    if cage is None:
        return Powers()
    try:
        names = {name for folder in cage.folders for name in os.listdir(folder)}
        return Powers(
            folders=[os.path.dirname(folder) for folder in cage.folders],
            memory=cage.limits_memory,
            processes=cage.limits_processes,
            kill="cgroup.kill" in names,
            freeze=bool(names & {"cgroup.freeze", "freezer.state"}),
        )
    finally:
        cage.remove()
