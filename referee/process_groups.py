"""Every process group that this referee has started and not yet ended; it knows not what runs in them.

Three nets, from fine to coarse: `BotProcess.close` ends a group in good order; `kill_all` runs when the
interpreter exits, by whatever exception; and the keeper, a small process beside us, acts when we could not
(see `keeper.py`).
"""

import atexit
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

KEEPER = [sys.executable, "-S", "-E", "-I", str(Path(__file__).with_name("keeper.py"))]
KEEPER_LIMIT = 1.0


class ProcessGroups:
    """The list, and the pipe to the keeper, which is started together with the first group."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._groups: set[int] = set()
        self._keeper: subprocess.Popen[bytes] | None = None

    def __len__(self) -> int:
        return len(self._groups)

    def add(self, group: int) -> None:
        """A group has been started."""
        self._groups.add(group)
        if self._keeper is None:
            self._start_keeper()
        else:
            self._tell(f"+{group}\n")

    def _start_keeper(self) -> None:
        with suppress(OSError):  # no free descriptor, say: two nets are left, and the next group tries again
            self._keeper = subprocess.Popen(
                KEEPER, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                bufsize=0, start_new_session=True, cwd="/", env={},
            )  # fmt: skip
            self._tell("".join(f"+{group}\n" for group in self._groups))

    def remove(self, group: int) -> None:
        """A group has been ended; its number may soon be somebody else's."""
        self._groups.discard(group)
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        if self._keeper is not None and self._keeper.stdin is not None:
            with suppress(OSError):  # somebody killed the keeper: two nets are left
                self._keeper.stdin.write(line.encode())

    def kill_all(self) -> None:
        """Kill what is left and dismiss the keeper. Blocks for the keeper's exit only, some milliseconds."""
        if os.getpid() != self._owner:
            return  # a fork of the referee: the groups are not its own
        for group in self._groups:
            kill_group(group)
        self._groups.clear()
        keeper, self._keeper = self._keeper, None
        if keeper is not None and keeper.stdin is not None:
            with suppress(OSError):
                keeper.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                keeper.wait(KEEPER_LIMIT)


def kill_group(group: int) -> None:
    """SIGKILL to all its members at once; the system lets no fork slip through."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


GROUPS = ProcessGroups()
atexit.register(GROUPS.kill_all)
