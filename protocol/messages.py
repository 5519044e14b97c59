"""The messages on the wire, version 1, in both directions. Knows neither rules nor who may speak when.

Every message is one JSON object on one line, told apart by its `type`. Unknown fields are ignored, every int
and every text is bounded, and a field that does not apply is absent, never null.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from msgspec.json import Encoder

PROTOCOL_VERSION: Final = 1

MAX_LINE: Final = 65_536
"""Bytes of a line before its LF; a longer one is the fault `oversize`. Told to the bot in hello."""

HUGE_LINE: Final = 1_048_576
"""A line longer than this costs the match."""

EVENTS_WAIT: Final = 32_768
"""Bytes of waiting events after which they go to the bot as a line of their own, whatever it listed."""

LARGEST: Final = 2**53 - 1
"""The largest int that every JSON library reads exactly."""

# "Printable" by a fixed list, not by a Unicode table: the same verdict in every version of every language.
# Kept out are controls, line and paragraph separators, and what turns the direction of writing or shows
# nothing. It is a lookahead because `$` would let a final LF pass.
PRINTABLE: Final = (
    r"^(?![\s\S]*[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb])"
)

Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Number = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Version = Annotated[int, Meta(ge=0, le=LARGEST, extra_json_schema={"const": PROTOCOL_VERSION})]
Label = Annotated[str, Meta(max_length=64, pattern=PRINTABLE)]
Token = Annotated[str, Meta(max_length=64)]
Word = Annotated[str, Meta(max_length=32)]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,32}$")]
NOTE_BYTES: Final = 1024
Action = Annotated[str, Meta(max_length=64, description="One of `legal`; a play may add ` uno`.")]
Note = Annotated[str, Meta(max_length=NOTE_BYTES, description=f"At most {NOTE_BYTES} bytes of UTF-8.")]
Seat = Annotated[int, Meta(ge=0, le=9)]
# Kinds stay open text when decoded: a bot must live with kinds that a later version brings.
Kind = Annotated[
    str,
    Meta(extra_json_schema={"enum": ["turn", "drawn", "extra", "color", "target", "challenge", "catch"]}),
]
FaultKind = Annotated[
    str,
    Meta(
        extra_json_schema={
            "enum": [
                *("startup", "version", "timeout", "malformed", "illegal", "oversize"),
                *("stale", "flood", "stall", "eof", "crash"),
            ]
        }
    ),
]
# Any: the engine makes these objects and the bot reads them; the protocol passes them on unopened. `shapes`
# says what is in them and the JSON Schema points there.
ViewObject = Annotated[Mapping[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/View"})]
EventText = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/$defs/Event"})]
Option = bool | Number | Annotated[str, Meta(max_length=64)]


class Message(Struct, frozen=True, tag_field="type"):
    """One line of the conversation."""


class RefereeHello(Message, frozen=True, tag="hello"):
    """The referee speaks first: who it is, how long the bot may take to answer, how long a line may be."""

    protocol: Version
    referee: Label
    start_ms: Count
    max_line: Count


class Limits(Struct, frozen=True):
    """The limits of one match for one bot; an absent one does not apply."""

    move_ms: Count | UnsetType = UNSET
    bank_ms: Count | UnsetType = UNSET
    strikes: Count | UnsetType = UNSET


class Start(Message, frozen=True, kw_only=True, tag="start"):
    """A match begins; with `resumed` it goes on with a new process or connection."""

    match: Label
    edition: Label
    options: dict[str, Option]
    seat: Seat
    players: list[Name]
    limits: Limits
    bot_seed: Count
    resumed: bool | UnsetType = UNSET


class Ask(Message, frozen=True, tag="ask", gc=False):
    """The bot has to choose one of `legal`; `events` is what it may know since the last line sent to it."""

    id: Count
    kind: Kind
    legal: Sequence[str]
    state: ViewObject
    events: list[EventText]
    move_ms: Count | UnsetType = UNSET
    bank_ms: Count | UnsetType = UNSET
    used_ms: Count | UnsetType = UNSET


class Events(Message, frozen=True, tag="events"):
    """What happened, to a bot that listed `events` or whose waiting events grew long; nothing is asked."""

    events: list[EventText]


class Fault(Message, frozen=True, kw_only=True, tag="fault"):
    """What the bot did wrong, its strikes so far, and the action that was applied in place of its answer."""

    id: Count | UnsetType = UNSET
    kind: FaultKind
    detail: str
    strikes: Count
    of: Count
    applied: str | UnsetType = UNSET


class End(Message, frozen=True, kw_only=True, tag="end"):
    """The match is over; `places` are competition ranks, 1 the best."""

    match: Label
    places: list[Count]
    scores: list[Number]
    events: list[EventText]


class Ping(Message, frozen=True, tag="ping"):
    """Are you there? Sent only to a bot that listed `ping`, while it owes nothing."""


class Bye(Message, frozen=True, tag="bye"):
    """The last line of the referee; the end of input follows. `again`: log in again, another match may follow."""

    reason: str
    again: bool | UnsetType = UNSET


class BotHello(Message, frozen=True, omit_defaults=True, tag="hello"):
    """The bot's answer to hello. Over TCP `token` says who it is; all else but `protocol` is only informative."""

    protocol: Version
    name: Label = ""
    version: Label = ""
    features: Annotated[list[Word], Meta(max_length=16)] = []
    token: Token = ""


class Ready(Message, frozen=True, tag="ready"):
    """The answer to `start` of a bot that listed `ready`."""


class Act(Message, frozen=True, omit_defaults=True, tag="act", gc=False):
    """The answer to the ask of this id."""

    id: Count
    action: Action
    note: Note = ""


class Pong(Message, frozen=True, tag="pong"):
    """The answer to ping."""


FromReferee = RefereeHello | Start | Ask | Events | Fault | End | Ping | Bye
FromBot = BotHello | Ready | Act | Pong
FROM_REFEREE: Final[tuple[type[FromReferee], ...]] = (RefereeHello, Start, Ask, Events, Fault, End, Ping, Bye)
FROM_BOT: Final[tuple[type[FromBot], ...]] = (BotHello, Ready, Act, Pong)

ENCODER: Final = Encoder()


def encode_event(event: object) -> Raw:
    """One event, already redacted, as the JSON that goes into `ask`, `events` and `end`."""
    return Raw(ENCODER.encode(event))


def encode(message: FromReferee | FromBot) -> bytes:
    """The line that carries the message, with its LF."""
    return ENCODER.encode(message) + b"\n"


def type_of(message: type[Message]) -> str:
    """The `type` that messages of this class carry."""
    return str(message.__struct_config__.tag)
