"""Whether bubblewrap has come so far that a bot's own program ran: told by itself, so that no bot can pretend.

It writes the exit code of what it ran to a descriptor that nothing inside the sandbox has. Without that line an exit of
bubblewrap is its own failure, which is the machine's fault.
"""

import fcntl
import os
from contextlib import suppress

from lastcard.referee.sandbox.chain import FIRST_FREE_FD

LONGEST = 4096
RAN = b'"exit-code"'


class Status:
    """A pipe; `writing` is for bubblewrap, and is closed by whoever has started it."""

    def __init__(self) -> None:
        self._reading, end = os.pipe()
        try:
            self.writing = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD)
        except OSError:
            os.close(self._reading)
            raise
        finally:
            os.close(end)
        os.set_blocking(self._reading, False)
        self._said = b""
        self._open = True

    def ran(self) -> bool:
        """Whether something inside has run to its end. Asked once bubblewrap has ended."""
        if self._open and len(self._said) < LONGEST:
            with suppress(BlockingIOError):
                self._said += os.read(self._reading, LONGEST)
        return RAN in self._said

    def close(self) -> None:
        """Let go of the reading end, and keep what was said."""
        if self._open:
            self.ran()
            self._open = False
            os.close(self._reading)
