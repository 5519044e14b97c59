"""Kills every bot when the referee itself is killed; a program of its own, it imports nothing of ours.

The referee writes `+GROUP` when it has started a process group and `-GROUP` when it has ended it. The end
of that input means that the referee is gone, however it went (SIGKILL, out of memory, a crash): what is
left dies too. A parent-death signal would reach the bot but not its children, and would need another
program in front of each bot.
"""

import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Keep the list until the input ends, then kill."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        number = int(line[1:])
        if line.startswith(b"+"):
            groups.add(number)
        else:
            groups.discard(number)
    for number in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(number, signal.SIGKILL)


if __name__ == "__main__":
    main()
