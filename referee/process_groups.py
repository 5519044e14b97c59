"""Every bot that this referee has started and not yet ended, with all that descends from it; it speaks to none.

Three nets, from fine to coarse: `BotProcess.close` ends one bot in good order; `kill_all` runs when the
interpreter exits, by whatever exception; and the keeper, a small process beside us, acts when we could not
(see `keeper.py`).

What belongs to a bot: the members of its cage; its process group; its descendants; and of the orphans that the
system has given to us those of its cage, of its session, or with its mark in their environment. An orphan that
tells nothing of its origin is ended with the next bot. A child of ours that leads a session of its own and is
no bot's looks just like such an orphan: `spare` is for it.
"""

import atexit
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import trio

from lastcard.referee import cages, hardening, trees
from lastcard.referee.keeper_link import KeeperLink

QUICK_LOOKS = 5
"""Looks at a tree without a rest in between: what forks all the time has to be struck at once."""

REAP_EVERY = 1.0
"""Seconds between two burials of dead orphans while nothing is closed."""

REAP_SOON = 0.05
"""The same while many die.

What forks and exits without end leaves us ten thousand a second and more, each of which holds one of the machine's
numbers (often 32,768 in all).
"""

BURIED_AT_ONCE = 50
"""Dead orphans that are buried before others have their turn: one millisecond. So many are many."""

KILL_LIMIT = 1.0
"""A process that exists so long after SIGKILL is stuck in the kernel: it is left behind, and said so."""


class Tree(NamedTuple):
    """One bot as a tree of processes."""

    pid: int
    """Its first process, which leads its session and its group. We reap it last, so that the number is its own."""
    mark: tuple[str, str]
    """Seat and match in the environment of all that it starts."""
    cage: cages.Cage | None


class ProcessGroups:
    """The list of live bots."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._trees: dict[int, Tree] = {}
        self._spared: set[int] = set()
        self._since: int | None = None
        """When the first bot was started: children of ours older than it, and than our adopting, are no orphans."""
        self._keeper = KeeperLink()

    def __len__(self) -> int:
        return len(self._trees)

    @property
    def keeper(self) -> int | None:
        """The number of the keeper's process."""
        return self._keeper.pid

    def expect(self, mark: tuple[str, str], cage: cages.Cage | None) -> None:
        """A bot is about to be started: the keeper has to know, should we be killed before `add` or `forget`."""
        self._keeper.expected(mark, cage.folders if cage else ())

    def forget(self) -> None:
        """It could not be started."""
        self._keeper.withdrawn()

    def add(self, tree: Tree) -> None:
        """A bot has been started."""
        self._trees[tree.pid] = tree
        if self._since is None:
            leader = trees.process(tree.pid)
            self._since = 0 if leader is None else leader.started
        if tree.cage is None:
            hardening.adopt_orphans()
        self._keeper.started(tree.pid, tree.mark, tree.cage.folders if tree.cage else ())

    def remove(self, tree: Tree) -> None:
        """It has been ended; its number may soon be somebody else's."""
        self._trees.pop(tree.pid, None)
        self._keeper.ended(tree.pid)

    def spare(self, pid: int) -> None:
        """This child of ours leads a session of its own, and has nothing to do with any bot."""
        self._spared.add(pid)

    async def watch(self) -> None:
        """Replace a keeper that somebody kills, and bury what a bot's daemons leave; ends by cancellation only."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keeper.watch)
            rest = REAP_EVERY
            while True:
                await trio.sleep(rest)
                rest = REAP_SOON if await self._bury() >= BURIED_AT_ONCE else REAP_EVERY

    async def _bury(self) -> int:
        """Bury the dead orphans. Returns how many."""
        number = 0
        for number, pid in enumerate((orphan.pid for orphan in self._strangers() if orphan.dead), start=1):
            _reap(pid)
            if number % BURIED_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
        return number

    # ---- what belongs to a bot

    def members(self, tree: Tree) -> list[int]:
        """All of it that lives, its first process left aside. Reaps what is dead of it."""
        caged = tree.cage.members() if tree.cage else []
        found = dict.fromkeys([*caged, *trees.descendants(tree.pid), *self._orphans(tree)])
        found.pop(tree.pid, None)
        # The dying give their children away before they are dead: those that nobody else lists are ours by now.
        return [pid for pid in found if _lives(pid)] or self._orphans(tree)

    def _orphans(self, tree: Tree | None) -> list[int]:
        """The orphans of this bot and of none, with their descendants."""
        found: list[int] = []
        for orphan in self._strangers():
            if orphan.dead:
                _reap(orphan.pid)
            elif self._tree_of(orphan) in (tree, None):
                found += [orphan.pid, *trees.descendants(orphan.pid)]
        return found

    def _strangers(self) -> Iterator[trees.Process]:
        """Children that the system has given to us, each looked at when it is due: who buries them pauses."""
        for pid in trees.children(os.getpid()) if hardening.adopting() else ():
            if pid in self._trees or pid in self._spared or pid == self._keeper.pid:
                continue
            orphan = trees.process(pid)
            if orphan is not None and self._adopted(orphan):
                yield orphan

    def _adopted(self, child: trees.Process) -> bool:
        # Nobody can enter our session from outside, so whoever is in it was started by us.
        adopting = hardening.adopt_orphans() or 0
        since = adopting if self._since is None else min(self._since, adopting)
        return child.session != os.getsid(0) and child.started >= since

    def _tree_of(self, orphan: trees.Process) -> Tree | None:
        if orphan.session in self._trees:
            return self._trees[orphan.session]
        around, mark = cages.cages_of(orphan.pid), trees.mark_of(orphan.pid)
        for tree in self._trees.values():
            if tree.mark == mark or (tree.cage is not None and tree.cage.name in around):
                return tree
        return None

    # ---- ending

    def strike(self, tree: Tree) -> bool:
        """SIGKILL to all that belongs to a bot. True when nothing is left but its first process, dead or dying."""
        if tree.cage:
            tree.cage.kill()
        trees.send_group(tree.pid)
        for _ in range(QUICK_LOOKS):
            left = self.members(tree)
            if not left:
                return True
            trees.signal_all(left, signal.SIGKILL)
        return False

    def kill_all(self) -> None:
        """Kill what is left, then dismiss the keeper. Blocks, mostly for the keeper's exit: some milliseconds."""
        if os.getpid() != self._owner:
            return  # a fork of the referee: the bots are not its own
        until = time.monotonic() + KILL_LIMIT
        left = list(self._trees.values())
        while left and time.monotonic() < until:
            left = [tree for tree in left if not self.strike(tree) or _lives(tree.pid)]
            time.sleep(0.001 if left else 0)
        for tree in self._trees.values():
            if tree not in left:
                self._keeper.ended(tree.pid)
                if tree.cage:
                    tree.cage.remove()
        self._trees.clear()
        while (orphans := self._orphans(None)) and time.monotonic() < until:
            trees.signal_all(orphans, signal.SIGKILL)
            time.sleep(0.001)
        self._keeper.dismiss()


def _lives(pid: int) -> bool:
    found = trees.process(pid)
    return found is not None and not found.dead


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


GROUPS = ProcessGroups()
atexit.register(GROUPS.kill_all)


_WATCHED: trio.lowlevel.RunVar[bool] = trio.lowlevel.RunVar("process groups watched", default=False)


def watch_groups() -> None:
    """Have the keeper and the dead watched in this trio run."""
    if not _WATCHED.get():
        _WATCHED.set(True)
        trio.lowlevel.spawn_system_task(GROUPS.watch)
