"""A cgroup for each bot, on whatever hierarchies we may write; it knows no bot, only numbers of processes.

A cage kills all its members at once, stops and wakes them, and limits their memory and their number, where the
machine has the controllers: version 2 of cgroups if it is there, and the hierarchies of version 1 for what it
lacks. Everything is made below our own cgroup, and nothing of the machine's settings is changed. Where nothing
is writable there are no cages, and trees are ended by looking for them (see `trees`).
"""

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from lastcard.referee import cgroups
from lastcard.referee.cgroups import read, remove, write

PREFIX = "lastcard"
OURS = re.compile(r"lastcard-(\d+)-\d+")
"""Names of cages: `lastcard-PID-N`, by the number of the referee."""

USEFUL = frozenset({"memory", "pids", "cpu", "freezer"})
"""Controllers of version 1 that a cage can do something with."""

MEBIBYTE = 1 << 20

JOIN_TEST = 'for file; do echo 0 > "$file" && echo "$file"; done'
"""A process of ours that joins each test cage, and says which it could. 0 is the writer itself."""


class Hierarchy(NamedTuple):
    """One tree of cgroups, and where we are in it."""

    folder: str
    controllers: frozenset[str]
    """Of version 1. Version 2 has none here: what it limits is seen by the files of a cage."""

    @property
    def unified(self) -> bool:
        """It is version 2."""
        return not self.controllers


class Cage:
    """The cgroups of one bot, one in each hierarchy that is of use."""

    def __init__(self, folders: Sequence[str], *, memory: bool = False, processes: bool = False) -> None:
        self.folders = tuple(folders)
        self.joins = tuple(f"{folder}/cgroup.procs" for folder in folders)
        self.limits_memory = memory
        self.limits_processes = processes
        self._freezer: tuple[int, bytes, bytes] | None = None

    @property
    def name(self) -> str:
        """The same in all hierarchies."""
        return os.path.basename(self.folders[0])

    @classmethod
    def make(cls, name: str, *, memory_mb: int | None, processes: int | None) -> "Cage | None":
        """A cage under this name; None where the machine offers nothing. A limit of None is no limit."""
        folders: list[str] = []
        memory = count = False
        for tree in _useful(memory_mb is not None, processes is not None):
            folder = f"{tree.folder}/{name}"
            try:
                os.mkdir(folder)
            except OSError:
                continue
            folders.append(folder)
            memory = memory or (memory_mb is not None and _limit_memory(folder, memory_mb * MEBIBYTE))
            count = count or (processes is not None and _limit_processes(folder, processes))
        return cls(folders, memory=memory, processes=count) if folders else None

    def members(self) -> list[int]:
        """Who is in it, without zombies."""
        return cgroups.members(self.folders)

    def kill(self) -> bool:
        """SIGKILL to all members. False if some are out of our reach or keep slipping away."""
        return cgroups.kill(self.folders)

    def freeze(self) -> bool:
        """Stop all members. False if this cage cannot: then it has to be done by signals."""
        return self._set_frozen(True)

    def thaw(self) -> bool:
        """Let all members run again; they do when this returns."""
        return self._set_frozen(False)

    def _set_frozen(self, frozen: bool) -> bool:
        if self._freezer is None:
            self._freezer = self._open_freezer()
        fd, stop, go = self._freezer
        try:
            return fd >= 0 and os.pwrite(fd, stop if frozen else go, 0) > 0
        except OSError:
            return False

    def _open_freezer(self) -> tuple[int, bytes, bytes]:
        # Kept open: that halves the cost, and it is paid twice an answer.
        for name, stop, go in cgroups.FREEZERS:
            for folder in self.folders:
                with suppress(OSError):
                    return os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CLOEXEC), stop, go
        return -1, b"", b""

    def out_of_memory(self) -> bool:
        """Whether a member was killed because this cage, not the machine, was out of memory."""
        return any(_out_of_memory(folder) for folder in self.folders)

    def remove(self) -> bool:
        """Take it away, after `kill`. False if somebody is still in it."""
        if self._freezer is not None and self._freezer[0] >= 0:
            os.close(self._freezer[0])
        self._freezer = None
        return [folder for folder in self.folders if not remove(folder, cgroups.LEAVE_LIMIT)] == []


def _useful(memory: bool, processes: bool) -> Iterable[Hierarchy]:
    """The hierarchies that a cage with these limits needs. Each costs a fraction of a millisecond a start."""
    trees = hierarchies()
    unified = any(tree.unified for tree in trees)
    wanted = {"memory"} if memory else set[str]()
    if processes:
        wanted.add("pids")
    if memory or processes:
        wanted.add("cpu")  # bots that compete for a core get equal shares, however many processes they have
    if not unified:
        wanted.add("freezer" if any("freezer" in tree.controllers for tree in trees) else "pids")
    return [tree for tree in trees if tree.unified or tree.controllers & wanted]


def _out_of_memory(folder: str) -> bool:
    if cgroups.count(f"{folder}/memory.events", "oom_kill"):
        return cgroups.count(f"{folder}/memory.events", "oom") > 0
    # Version 1 counts the killed but not whose limit it was (failcnt stays 0 on recent kernels).
    return cgroups.count(f"{folder}/memory.oom_control", "oom_kill") > 0 and any(
        cgroups.number(f"{folder}/{kind}.max_usage_in_bytes") + MEBIBYTE
        > cgroups.number(f"{folder}/{kind}.limit_in_bytes")
        for kind in ("memory", "memory.memsw")
        if os.path.exists(f"{folder}/{kind}.limit_in_bytes")
    )


def _limit_memory(folder: str, limit: int) -> bool:
    """Memory and swap together."""
    data = b"%d" % limit
    if write(f"{folder}/memory.max", data):
        write(f"{folder}/memory.swap.max", b"0")
        return True
    if write(f"{folder}/memory.limit_in_bytes", data):
        write(f"{folder}/memory.memsw.limit_in_bytes", data)
        return True
    return False


def _limit_processes(folder: str, limit: int) -> bool:
    return write(f"{folder}/pids.max", b"%d" % limit)


# ---- what this machine has


@cache
def hierarchies() -> tuple[Hierarchy, ...]:
    """Those in which we make cages, tried out once."""
    trees = mounted()
    if any(tree.unified and os.access(tree.folder, os.W_OK) for tree in trees):
        trees = [tree for tree in trees if "freezer" not in tree.controllers]  # to join it takes longest of all
    for tree in trees:
        remove_leftovers(tree.folder)
    return usable(trees)


def usable(trees: Iterable[Hierarchy]) -> tuple[Hierarchy, ...]:
    """Those of them that are of use, and whose cages a process of ours can join."""
    name = f"{PREFIX}-{os.getpid()}-0"
    tests: dict[str, Hierarchy] = {}
    for tree in filter(_of_use, trees):
        with suppress(OSError):
            os.mkdir(f"{tree.folder}/{name}")
            tests[f"{tree.folder}/{name}/cgroup.procs"] = tree
    try:
        joined = _joined(list(tests))
    finally:
        for file in tests:
            remove(os.path.dirname(file))
    return tuple(tree for file, tree in tests.items() if file in joined)


def _joined(files: Sequence[str]) -> frozenset[str]:
    if not files:
        return frozenset()
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            ["/bin/sh", "-c", JOIN_TEST, "sh", *files],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=False, timeout=10,
        )  # fmt: skip
        return frozenset(os.fsdecode(done.stdout).splitlines())
    return frozenset()


def _of_use(tree: Hierarchy) -> bool:
    # A line break in a path would make two of what the test says.
    return "\n" not in tree.folder and (tree.unified or not USEFUL.isdisjoint(tree.controllers))


def mounted() -> list[Hierarchy]:
    """Where we are in each hierarchy that is mounted."""
    ours = _own_cgroups()
    found: list[Hierarchy] = []
    for line in (read("/proc/self/mountinfo") or "").splitlines():
        mount, _, system = line.partition(" - ")
        kind, _, options = system.split(" ", 2)
        if kind not in ("cgroup", "cgroup2"):
            continue
        root, point = (_unescaped(word) for word in mount.split(" ")[3:5])
        controllers = frozenset(options.split(",")) & ours.keys() if kind == "cgroup" else frozenset[str]()
        path = ours.get(next(iter(controllers), "")) if controllers or kind == "cgroup2" else None
        if path is None or not (path == root or path.startswith(root.rstrip("/") + "/")):
            continue  # a named hierarchy, or we are not below what is mounted here
        found.append(Hierarchy(os.path.normpath(f"{point}/{path[len(root.rstrip('/')) :]}"), controllers))
    return found


def _own_cgroups() -> dict[str, str]:
    """Our cgroup by controller of version 1; under "" that of version 2."""
    paths: dict[str, str] = {}
    for line in (read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            if not controller.startswith("name="):
                paths[controller] = path
    return paths


def _unescaped(word: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), word)


def cages_of(pid: int) -> set[str]:
    """The names of the cages that a process is in: a bot may be a referee itself, and have its own inside ours."""
    return {found[0] for found in OURS.finditer(read(f"/proc/{pid}/cgroup") or "")}


def remove_leftovers(folder: str) -> None:
    """Remove the empty cages that dead referees have left here. Those in use stay: removing them fails."""
    with suppress(OSError):
        for name in os.listdir(folder):
            match = OURS.fullmatch(name)
            if match and not _alive(int(match[1])):
                remove(f"{folder}/{name}")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
