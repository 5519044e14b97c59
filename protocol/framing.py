"""Lines out of bytes: LF ends one, a CR before it is dropped, memory is bounded. Knows no JSON.

What comes out depends on the bytes alone, never on how they were cut into chunks: a line that grows too long
is reported where it does, at its byte number `max_line` + 1 (a CR counts), not when its LF arrives.
"""

from msgspec import Struct

from lastcard.protocol.messages import HUGE_LINE, MAX_LINE
from lastcard.protocol.outcomes import RAW_HEAD


class Overflow(Struct, frozen=True):
    """A line passed a limit; `huge` tells which. Its bytes are dropped up to and with its LF."""

    huge: bool
    head: bytes


class LineBuffer:
    """Bytes in, lines out. Take lines until None after a `feed`: then it holds at most `max_line` bytes."""

    __slots__ = (
        "_chunk",
        "_dropped",
        "_head",
        "_held",
        "_marked",
        "_searched",
        "early",
        "huge_line",
        "max_line",
    )

    def __init__(self, max_line: int = MAX_LINE, huge_line: int = HUGE_LINE) -> None:
        self.max_line = max_line
        self.huge_line = max(huge_line, max_line)
        self._chunk = b""  # what came while nothing was held, untouched: nearly always exactly one line
        self._held = bytearray()  # everything else: a bytearray appends and drops its front in linear time
        self._searched = 0  # so many bytes of _held are known to hold no LF
        self._dropped = 0  # bytes of the long line that is being dropped; 0 when none is
        self._head = b""
        self._marked = -1  # bytes of _held that belong to lines that were whole at `mark`
        self.early = False
        """Whether the line returned last was whole when `mark` was called."""

    def feed(self, data: bytes | bytearray) -> None:
        """Take bytes. No limit is looked at before the next line is asked for."""
        if not self._chunk and not self._held and not self._dropped:
            self._chunk = bytes(data)
            return
        self._held += self._chunk
        self._held += data
        self._chunk = b""

    def next_line(self) -> bytes | Overflow | None:
        """The next line without its LF and CR, an overflow, or None when no whole line is here."""
        chunk = self._chunk
        if chunk:
            self._chunk = b""
            self.early = False
            end = len(chunk) - 1
            if chunk.find(b"\n") == end <= self.max_line:
                return chunk[:-1] if chunk[-2:] != b"\r\n" else chunk[:-2]
            self._held += chunk
        elif not self._held:
            return None
        return self._drop() if self._dropped else self._split()

    def mark(self) -> None:
        """From now on `early` tells the lines that were whole already from those that were not."""
        if self._chunk or self._held:
            self._held += self._chunk
            self._chunk = b""
            self._marked = self._held.rfind(b"\n") + 1 or -1
        else:
            self._marked = -1

    def rest(self) -> tuple[bytes, int]:
        """The head and the length so far of a line whose LF has not come."""
        if self._dropped:
            return self._head, self._dropped
        held = self._chunk or self._held
        return bytes(held[:RAW_HEAD]), len(held)

    def _split(self) -> bytes | Overflow | None:
        held = self._held
        end = held.find(b"\n", self._searched)
        size = end if end >= 0 else len(held)
        if size > self.max_line:
            return self._overflow()
        if end < 0:
            self._searched = size
            return None
        line = bytes(held[:end])
        self._take(end + 1)
        return line[:-1] if line.endswith(b"\r") else line

    def _overflow(self) -> Overflow:
        """Start dropping; what is here of the line is looked at again, in `_drop`, for the second limit."""
        self._head = bytes(self._held[: min(RAW_HEAD, self.max_line + 1)])
        self._dropped = self.max_line + 1
        self._take(self.max_line + 1)
        return Overflow(huge=False, head=self._head)

    def _drop(self) -> bytes | Overflow | None:
        held = self._held
        end = held.find(b"\n")
        size = end if end >= 0 else len(held)
        was_huge = self._dropped > self.huge_line
        self._dropped += size
        self._take(size)
        if self._dropped > self.huge_line and not was_huge:
            return Overflow(huge=True, head=self._head)
        if end < 0:
            return None
        self._take(1)
        self._dropped = 0
        return self._split()

    def _take(self, size: int) -> None:
        del self._held[:size]
        self._searched = 0
        self._marked -= size
        self.early = self._marked >= 0
