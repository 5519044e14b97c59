"""The referee's end of a conversation with one bot. Knows neither time nor rules nor strikes.

The good case is short: `ask` gives the line to write, `receive` takes what was read, `next` gives the `Act`.
All else that a bot can do comes out of `next` as a value that says what it was; the caller decides what it
costs.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from lastcard.protocol.conversation import Conversation
from lastcard.protocol.decoding import BOT_LINES, Unknown, fast_act
from lastcard.protocol.errors import LocalProtocolError
from lastcard.protocol.messages import (
    ENCODER,
    HUGE_LINE,
    MAX_LINE,
    PROTOCOL_VERSION,
    Act,
    Ask,
    BotHello,
    Bye,
    End,
    Events,
    Fault,
    Ping,
    Pong,
    Ready,
    RefereeHello,
    Start,
    encode,
)
from lastcard.protocol.outcomes import RAW_HEAD, Closed, NeedData, Refusal, RefusalKind, Stale, StaleReason
from lastcard.protocol.states import Said, State

Received = BotHello | Ready | Act | Pong | Stale | Refusal | Closed | NeedData

PING_LINE: Final = encode(Ping())


class RefereeConversation(Conversation):
    """One connection to one bot, through as many matches as it plays.

    Ids count its asks. A connection that takes over from a lost one begins at the id of the ask open there.
    """

    __slots__ = ("_answered", "_buffer", "_features", "_last_id", "_open_id")

    def __init__(self, *, max_line: int = MAX_LINE, huge_line: int = HUGE_LINE, first_id: int = 1) -> None:
        super().__init__(max_line=max_line, huge_line=huge_line)
        self._last_id = first_id - 1
        self._open_id = 0
        self._answered = False
        self._features: frozenset[str] = frozenset()
        self._buffer = bytearray(2048)

    @property
    def open_id(self) -> int | None:
        """The id of the ask that the bot owes an answer to."""
        return self._open_id or None

    @property
    def last_id(self) -> int:
        """The id of the last ask; 0 before the first."""
        return self._last_id

    def go_on_from(self, lost: "RefereeConversation") -> None:
        """Take over from a connection that was lost: ids go on, and the ask open there is the next one here."""
        self._last_id = lost.last_id - (lost.open_id is not None)

    @property
    def features(self) -> frozenset[str]:
        """What the bot listed in its hello."""
        return self._features

    @property
    def pong_owed(self) -> bool:
        """Whether a ping has not been answered yet."""
        return self._pings > 0

    def hello(self, *, referee: str, start_ms: int) -> bytes:
        """The first line of a connection."""
        self._said(Said.REFEREE_HELLO)
        return encode(RefereeHello(PROTOCOL_VERSION, referee, start_ms, self._lines.max_line))

    def start(self, start: Start) -> bytes:
        """Tell a match; a bot that listed `ready` answers it."""
        self._said(Said.START_READY if "ready" in self._features else Said.START)
        return encode(start)

    def ask(
        self,
        kind: str,
        legal: Sequence[str],
        state: Mapping[str, object],
        events: list[Raw],
        *,
        move_ms: int | None = None,
        bank_ms: int | None = None,
        used_ms: int | None = None,
        again: bool = False,
    ) -> bytes:
        """Ask for a decision under the next id; `again` sends an open ask anew under its own."""
        self._said(Said.ASK_AGAIN if again else Said.ASK)
        number = self._last_id + (not again)
        message = Ask(
            number,
            kind,
            legal,
            state,
            events,
            UNSET if move_ms is None else move_ms,
            UNSET if bank_ms is None else bank_ms,
            UNSET if used_ms is None else used_ms,
        )
        buffer = self._buffer
        ENCODER.encode_into(message, buffer)
        buffer += b"\n"
        if not again:
            self._last_id = self._open_id = number
            self._answered = False
            self._lines.mark()
        return bytes(buffer)

    def events(self, events: list[Raw]) -> bytes:
        """Tell what happened; nothing is asked."""
        self._said(Said.EVENTS)
        return encode(Events(events))

    def fault(self, fault: Fault) -> bytes:
        """Tell the bot what it did wrong. A fault with the id of the open ask closes it."""
        if self._open_id and fault.id == self._open_id:
            self.close_ask()
        self._said(Said.FAULT)
        return encode(fault)

    def close_ask(self) -> None:
        """Take no answer to the open ask any more: a late one will be stale."""
        self._said(Said.CLOSE_ASK)
        self._open_id = 0

    def end(self, end: End) -> bytes:
        """The match is over, and an open ask with it."""
        self._said(Said.END)
        self._open_id = 0
        return encode(end)

    def ping(self) -> bytes:
        """Ask for a sign of life."""
        if "ping" not in self._features:
            raise LocalProtocolError("ping to a bot that did not list it")
        self._said(Said.PING)
        self._pings += 1
        return PING_LINE

    def bye(self, reason: str, *, again: bool = False) -> bytes:
        """The last line; `again` invites a remote bot to log in anew."""
        self._said(Said.BYE)
        self._open_id = 0
        return encode(Bye(reason, True if again else UNSET))

    def next(self) -> Received:
        """The next thing that the bot's bytes hold. Never raises, whatever they are."""
        line = self._lines.next_line()
        if line is None:
            return self._no_line()
        if not isinstance(line, bytes):
            return self._overflowed(line, owed=self._open_id != 0 and not self._lines.early)
        self._line_number += 1
        if self._open_id and not self._lines.early:  # the fast path, for what `_judge` would find too
            act = fast_act(line)
            if act is not None and act.id == self._open_id:
                self._answer()
                return act
        return self._judge(line)

    def _judge(self, line: bytes) -> Received:
        if not line.strip(b" \t\r"):
            return _stale(StaleReason.BLANK, line)
        message = BOT_LINES.decode(line)
        if isinstance(message, Refusal):
            return self._refused(message)
        if isinstance(message, Unknown):
            return _stale(StaleReason.UNKNOWN_TYPE, line)
        reason = self._reason(message)
        return message if reason is None else _stale(reason, line)

    def _refused(self, refusal: Refusal) -> Refusal | Stale:
        """A hello of another version is a refusal only where a hello is due."""
        if refusal.kind is RefusalKind.VERSION:
            due = self._state is State.GREETING
            return refusal if due else Stale(StaleReason.UNASKED, refusal.raw, refusal.size)
        owed = self._open_id != 0 and not self._lines.early
        return replace(refusal, detail=f"line {self._line_number}: {refusal.detail}", owed=owed)

    def _reason(self, message: BotHello | Ready | Act | Pong) -> StaleReason | None:
        """None if the message was due, and then it has taken effect; else why it counts for nothing."""
        match message:
            case Act():
                return self._take_act(message.id)
            case BotHello():
                due = self._heard(Said.BOT_HELLO)
                if due:
                    self._features = frozenset(message.features)
            case Ready():
                due = self._heard(Said.READY)
            case Pong():
                due = self._pings > 0 and self._heard(Said.PONG)
                self._pings -= due
        return None if due else StaleReason.UNASKED

    def _take_act(self, answered: int) -> StaleReason | None:
        if answered > self._last_id:
            return StaleReason.FUTURE
        if answered < self._last_id or answered == 0:
            return StaleReason.OLDER
        if not self._open_id:
            return StaleReason.ANSWERED if self._answered else StaleReason.LATE
        if self._lines.early:
            return StaleReason.EARLY
        self._answer()
        return None

    def _answer(self) -> None:
        self._heard(Said.ACT)
        self._open_id = 0
        self._answered = True


def _stale(reason: StaleReason, line: bytes) -> Stale:
    return Stale(reason, line[:RAW_HEAD], len(line))
