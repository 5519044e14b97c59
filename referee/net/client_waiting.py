"""Lines for a bot that has not taken them yet, in bounded memory. Knows no bot and no referee.

They are read ahead of the bot so that a `bye` is seen behind the asks that a hanging bot has left unread.
"""

from collections import deque
from typing import Final, Generic, TypeVar

import trio

MOST: Final = 1 << 20
"""Bytes that may wait before a line more has to; below them there is always room for one line, however long."""

T = TypeVar("T")


class WaitingLines(Generic[T]):
    """One task puts, one takes. Each line bears a note of its sender's for the taker."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lines: deque[tuple[T, bytes]] = deque()
        self._size = 0
        self._ended = False
        self._changed = trio.Event()

    async def put(self, note: T, line: bytes) -> None:
        """Add a line, when there is room."""
        while self._size >= self._most:
            await self._changed.wait()
        self._lines.append((note, line))
        self._size += len(line)
        self._tell()

    def end(self) -> None:
        """No line will follow."""
        self._ended = True
        self._tell()

    async def take(self) -> tuple[T, bytes] | None:
        """The next line, or None after the last."""
        while not self._lines:
            if self._ended:
                return None
            await self._changed.wait()
        note, line = self._lines.popleft()
        self._size -= len(line)
        self._tell()
        return note, line

    def _tell(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
