"""The words on the wire: messages, decoding, framing, both ends of a conversation, schema. Knows no rules.

Sans I/O: no clock, no files, no tasks. `spec.md` describes what is said here to people.
"""

from lastcard.protocol.bot_end import BotConversation, Heard
from lastcard.protocol.decoding import BOT_LINES, REFEREE_LINES, LineDecoder, Unknown
from lastcard.protocol.errors import LocalProtocolError, ProtocolError
from lastcard.protocol.framing import LineBuffer, Overflow
from lastcard.protocol.hints import FLUSH, STALE_WORDS, meant, unfinished
from lastcard.protocol.messages import (
    EVENTS_WAIT,
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
    FromBot,
    FromReferee,
    Limits,
    Ping,
    Pong,
    Ready,
    RefereeHello,
    Start,
    encode,
    encode_event,
)
from lastcard.protocol.outcomes import (
    NEED_DATA,
    Closed,
    NeedData,
    Refusal,
    RefusalKind,
    Signal,
    Stale,
    StaleReason,
)
from lastcard.protocol.referee_end import Received, RefereeConversation
from lastcard.protocol.schema import schema
from lastcard.protocol.states import TABLE, Said, State

__all__ = [
    "BOT_LINES",
    "EVENTS_WAIT",
    "FLUSH",
    "HUGE_LINE",
    "MAX_LINE",
    "NEED_DATA",
    "PROTOCOL_VERSION",
    "REFEREE_LINES",
    "STALE_WORDS",
    "TABLE",
    "Act",
    "Ask",
    "BotConversation",
    "BotHello",
    "Bye",
    "Closed",
    "End",
    "Events",
    "Fault",
    "FromBot",
    "FromReferee",
    "Heard",
    "Limits",
    "LineBuffer",
    "LineDecoder",
    "LocalProtocolError",
    "NeedData",
    "Overflow",
    "Ping",
    "Pong",
    "ProtocolError",
    "Ready",
    "Received",
    "RefereeConversation",
    "RefereeHello",
    "Refusal",
    "RefusalKind",
    "Said",
    "Signal",
    "Stale",
    "StaleReason",
    "Start",
    "State",
    "Unknown",
    "encode",
    "encode_event",
    "meant",
    "schema",
    "unfinished",
]
