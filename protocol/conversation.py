"""What both ends of a conversation share: lines, state, and whose mistake a wrong step is. Knows no messages.

Sans I/O: bytes go in with `receive`, bytes to write come out of the methods that say something.
"""

from lastcard.protocol.errors import LocalProtocolError
from lastcard.protocol.framing import LineBuffer, Overflow
from lastcard.protocol.messages import HUGE_LINE, MAX_LINE
from lastcard.protocol.outcomes import NEED_DATA, Closed, NeedData, Refusal, RefusalKind
from lastcard.protocol.states import Said, State, after


class Conversation:
    """One end; `RefereeConversation` and `BotConversation` add what each says and hears."""

    __slots__ = ("_at_end", "_line_number", "_lines", "_pings", "_state")

    def __init__(self, *, max_line: int = MAX_LINE, huge_line: int = HUGE_LINE) -> None:
        self._lines = LineBuffer(max_line, huge_line)
        self._line_number: int = 0
        self._at_end = False
        self._pings: int = 0  # pings without their pong
        self._state = State.NEW

    @property
    def state(self) -> State:
        """How far the conversation is."""
        return self._state

    @property
    def unfinished(self) -> tuple[bytes, int]:
        """The head of a line whose LF has not come, and its length so far."""
        return self._lines.rest()

    def receive(self, data: bytes | bytearray) -> None:
        """Take bytes that the other end wrote, b"" once it closed its output. Never parses: see `next`."""
        if not data:
            self._at_end = True
        elif self._at_end:
            raise LocalProtocolError("received bytes after the end of input")
        else:
            self._lines.feed(data)

    def _said(self, said: Said) -> None:
        """Step to the state after what this end says, or find a bug of ours."""
        following = after(self._state, said)
        if following is None:
            raise LocalProtocolError(f"{said} may not be said in the state {self._state}")
        self._state = following

    def _heard(self, said: Said) -> bool:
        """Step to the state after what the other end says, if the table has it."""
        following = after(self._state, said)
        if following is not None:
            self._state = following
        return following is not None

    def _no_line(self) -> NeedData | Closed:
        if not self._at_end:
            return NEED_DATA
        partial, size = self._lines.rest()
        return Closed(partial, size)

    def _overflowed(self, overflow: Overflow, owed: bool) -> Refusal:
        """The refusal of a line that grew too long; it is counted when it is first reported."""
        if overflow.huge:
            kind, limit = RefusalKind.HUGE, self._lines.huge_line
        else:
            kind, limit = RefusalKind.OVERSIZE, self._lines.max_line
            self._line_number += 1
        detail = f"line {self._line_number}: longer than {limit} bytes; it is dropped up to its LF"
        return Refusal(kind, detail, raw=overflow.head, size=limit + 1, owed=owed)
