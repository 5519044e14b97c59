"""Ends every bot when the referee itself is killed; a program of its own, it imports nothing but its neighbours.

The referee writes a line of JSON before it starts a bot, when it has started it, and when it has ended it. The
end of that input means that the referee is gone, however it went (SIGKILL, out of memory, a crash): what is left
dies too. A parent-death signal would reach the bot but not its children, and would need another program in front.

A bot in a cage is ended through it. For one without the keeper looks every now and then who descends from the
referee, because of a process that leaves its group and its session and loses its parent nothing else tells
afterwards whose it was, but for the marks in its environment.
"""

import importlib
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # as in `typing`, which takes as long to import as all else here
if TYPE_CHECKING or __name__ != "__main__":
    from lastcard.referee import cgroups, trees
else:  # run by its path, without the package: the neighbours are found by theirs
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    cgroups, trees = importlib.import_module("cgroups"), importlib.import_module("trees")

FOLLOW_EVERY = 0.3
"""Seconds between two looks at the referee's descendants, while a bot without a cage lives."""

PARENT_LIMIT = 0.5
"""Seconds from the end of the referee's files to its end."""

START_LIMIT = 0.2
"""Seconds that a bot may take from its first program to its own, which bears its mark."""

LIMIT = 10.0
"""Whoever lives so long after the first SIGKILL is stuck in the kernel."""


class Bot:
    """What the referee has said of one bot."""

    def __init__(self, mark: tuple[str, str], folders: list[str]) -> None:
        self.mark = mark
        self.folders = folders


class Keeper:
    """The list of bots, and what is known of their trees."""

    def __init__(self, referee: int, session: int) -> None:
        self._referee = referee
        self._session = session
        self._bots: dict[int, Bot] = {}
        self._expected: Bot | None = None
        """What is about to be started, and may have been when nobody is left to say so."""
        self._seen: dict[int, int] = {}
        """When each process started that has been seen among the referee's descendants, while it lives."""
        self._looked_at = 0.0

    @property
    def _follows(self) -> bool:
        return any(not bot.folders for bot in self._bots.values())

    @property
    def _all(self) -> list[Bot]:
        return [*self._bots.values(), *([self._expected] if self._expected else [])]

    def keep(self, source: int) -> None:
        """Read what the referee says until its end, and follow those that need it."""
        poll = select.poll()
        poll.register(source, select.POLLIN)
        rest = b""
        while True:
            if poll.poll(FOLLOW_EVERY * 1000 if self._follows else None):
                data = os.read(source, 65536)
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._take(line)
            if self._follows and time.monotonic() - self._looked_at >= FOLLOW_EVERY:
                self._look()

    def _take(self, line: bytes) -> None:
        said = json.loads(line)
        self._expected = None
        if "mark" in said:
            seat, match = said["mark"]
            bot = Bot((seat, match), said["cage"])
            if said["start"] is None:
                self._expected = bot
            else:
                self._bots[said["start"]] = bot
        else:
            self._bots.pop(said["end"], None)
            self._seen = self._seen if self._follows else {}

    def _look(self) -> None:
        self._looked_at = time.monotonic()
        known = (trees.process(pid) for pid in [*self._seen, *trees.descendants(self._referee)])
        self._seen = {one.pid: one.started for one in known if one is not None and self._followed(one)}

    def _followed(self, one: trees.Process) -> bool:
        # A child of the referee that is neither a bot nor stems from one is of the referee's own session.
        same = self._seen.get(one.pid, one.started) == one.started
        return same and one.session != self._session and one.pid != os.getpid()

    # ---- the end

    def end(self) -> None:
        """Kill what is left of all bots, and remove their cages."""
        if not self._all:
            return
        self._kill_first()
        # Orphans are recognised by the parent that they get when the referee has quite gone.
        until = time.monotonic() + PARENT_LIMIT
        while os.getppid() == self._referee and time.monotonic() < until:
            time.sleep(0.001)
        if self._expected:
            time.sleep(START_LIMIT)
        until = time.monotonic() + LIMIT
        while (left := self._left()) and time.monotonic() < until:
            trees.signal_all(left, signal.SIGKILL)
            time.sleep(0.002)
        for bot in self._all:
            for folder in bot.folders:
                cgroups.remove(folder, cgroups.LEAVE_LIMIT)

    def _kill_first(self) -> None:
        for bot in self._all:
            cgroups.kill(bot.folders)
        for pid in self._bots:
            trees.send_group(pid)

    def _left(self) -> list[int]:
        """Who lives that is a bot's."""
        table = trees.everything()
        alive = [one for one in table.values() if not one.dead and one.pid != os.getpid()]
        found = {one.pid for one in alive if self._is_bots(one)}
        for bot in self._all:
            found.update(cgroups.members(bot.folders))
        grown = True
        while grown:
            more = {one.pid for one in alive if one.parent in found} - found
            found |= more
            grown = bool(more)
        return list(found)

    def _is_bots(self, one: trees.Process) -> bool:
        if one.session in self._bots or one.group in self._bots or self._seen.get(one.pid) == one.started:
            return True
        # Another referee may use the same marks; but his bots are his children, or their children.
        orphan = one.parent in (self._referee, os.getppid())
        return orphan and trees.mark_of(one.pid) in {bot.mark for bot in self._all}


def main() -> None:
    """Keep the list until the input ends, then kill."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_IGN)
    keeper = Keeper(referee=int(sys.argv[1]), session=int(sys.argv[2]))
    keeper.keep(sys.stdin.fileno())
    keeper.end()


if __name__ == "__main__":
    main()
