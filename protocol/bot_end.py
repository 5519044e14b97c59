"""The bot's end of a conversation, for bots written in Python and for tests. Knows no rules.

A bot needs none of this: eight lines of code make one. Here is what the words of the referee mean, checked
against the same table as the referee's end.
"""

from msgspec.structs import replace

from lastcard.protocol.conversation import Conversation
from lastcard.protocol.decoding import REFEREE_LINES, Unknown
from lastcard.protocol.errors import LocalProtocolError
from lastcard.protocol.messages import (
    HUGE_LINE,
    PROTOCOL_VERSION,
    Act,
    Ask,
    BotHello,
    Bye,
    End,
    Events,
    Fault,
    FromReferee,
    Ping,
    Pong,
    Ready,
    RefereeHello,
    Start,
    encode,
)
from lastcard.protocol.outcomes import RAW_HEAD, Closed, NeedData, Refusal, RefusalKind, Stale, StaleReason
from lastcard.protocol.states import Said

Heard = FromReferee | Stale | Refusal | Closed | NeedData

PLAIN_WORDS: dict[type[FromReferee], Said] = {
    RefereeHello: Said.REFEREE_HELLO,
    Events: Said.EVENTS,
    End: Said.END,
    Ping: Said.PING,
    Bye: Said.BYE,
}
"""The messages that say the same in whatever state."""


class BotConversation(Conversation):
    """One connection to a referee, whose lines may be long: an ask holds the events of many turns."""

    __slots__ = ("_features", "_open_id")

    def __init__(self, *, max_line: int = HUGE_LINE) -> None:
        super().__init__(max_line=max_line)
        self._features: frozenset[str] = frozenset()
        self._open_id = 0

    @property
    def open_id(self) -> int | None:
        """The id of the ask that is to be answered."""
        return self._open_id or None

    def hello(self, name: str = "", version: str = "", features: list[str] | None = None, *, token: str = "") -> bytes:
        """Answer the referee's hello."""
        self._said(Said.BOT_HELLO)
        self._features = frozenset(features or [])
        return encode(BotHello(PROTOCOL_VERSION, name, version, features or [], token))

    def ready(self) -> bytes:
        """Answer `start`, if `ready` was listed."""
        self._said(Said.READY)
        return encode(Ready())

    def act(self, action: str, note: str = "") -> bytes:
        """Answer the open ask."""
        self._said(Said.ACT)
        answered, self._open_id = self._open_id, 0
        return encode(Act(answered, action, note))

    def pong(self) -> bytes:
        """Answer a ping."""
        if not self._pings:
            raise LocalProtocolError("pong without a ping")
        self._said(Said.PONG)
        self._pings -= 1
        return encode(Pong())

    def next(self) -> Heard:
        """The next thing that the referee said. Never raises, whatever the bytes."""
        line = self._lines.next_line()
        if line is None:
            return self._no_line()
        owed = self._open_id != 0
        if not isinstance(line, bytes):
            return self._overflowed(line, owed)
        self._line_number += 1
        if not line.strip(b" \t\r"):
            return Stale(StaleReason.BLANK, line[:RAW_HEAD], len(line))
        message = REFEREE_LINES.decode(line)
        if isinstance(message, Refusal):
            return replace(message, detail=f"line {self._line_number}: {message.detail}", owed=owed)
        if isinstance(message, Unknown):
            return Stale(StaleReason.UNKNOWN_TYPE, line[:RAW_HEAD], len(line))
        if self._follow(message):
            return message
        detail = f"line {self._line_number}: {type(message).__name__} may not come in the state {self._state}"
        return Refusal(RefusalKind.MALFORMED, detail, line[:RAW_HEAD], len(line), owed)

    def _follow(self, message: FromReferee) -> bool:
        """Step with the message; False if the table does not have it here."""
        match message:
            case Ask():
                return self._follow_ask(message)
            case Start():
                return self._heard(Said.START_READY if "ready" in self._features else Said.START)
            case Fault():
                if self._open_id and message.id == self._open_id:
                    self._heard(Said.CLOSE_ASK)
                    self._open_id = 0
                return self._heard(Said.FAULT)
            case _:
                followed = self._heard(PLAIN_WORDS[type(message)])
                self._pings += followed and isinstance(message, Ping)
                if isinstance(message, (End, Bye)):
                    self._open_id = 0
                return followed

    def _follow_ask(self, ask: Ask) -> bool:
        """The same id again is the same ask again; another id says that the open one was closed untold."""
        if self._open_id == ask.id:
            return self._heard(Said.ASK_AGAIN)
        if self._open_id:
            self._heard(Said.CLOSE_ASK)
            self._open_id = 0
        followed = self._heard(Said.ASK)
        if followed:
            self._open_id = ask.id
        return followed
