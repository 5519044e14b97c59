"""Strict decoding of one line: it can only end in a message, an unknown type, or a refusal. Knows no state.

What "ignore unknown types" and "malformed: not an object with a known type" mean together:

* an object whose `type` is a text that version 1 does not know is ignored (`Unknown`): a later version may
  send it. From a bot it answers nothing and counts as an unasked line, so that it is bounded as chatter is;
* no `type`, a `type` that is no text, or a type that only the other end may send, is malformed.

Equal keys in one object: the last one counts, for `type` as for any other. Ints are written as ints: 17.0,
"17" and true are refused. UTF-8 is checked for the whole line first, since the decoder skips ignored fields
unread.
"""

import re
from itertools import accumulate
from typing import Final, Generic, TypeVar

from msgspec import DecodeError, Raw, Struct, ValidationError
from msgspec.json import Decoder

from lastcard.protocol.hints import not_json, not_utf8, quoted, with_hint, wrong_field
from lastcard.protocol.messages import (
    ENCODER,
    FROM_BOT,
    FROM_REFEREE,
    NOTE_BYTES,
    PROTOCOL_VERSION,
    Act,
    Count,
    FromBot,
    FromReferee,
    Message,
    Pong,
    type_of,
)
from lastcard.protocol.outcomes import RAW_HEAD, Refusal, RefusalKind

M = TypeVar("M", bound=Message)


class Unknown(Struct, frozen=True):
    """An object of a type that this version does not know: to be ignored."""

    type: str


Members = dict[str, Raw]
MEMBERS: Final = Decoder(Members)
TEXT: Final = Decoder(str)
COUNT: Final = Decoder(Count)
MAX_DEPTH: Final = 500
"""Brackets inside brackets; the decoder's own limit would depend on how deep the caller's stack is."""

TOKENS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]')  # a text without end is one token too: no way back
STEPS: Final = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}
FAST_ACT: Final = Decoder(Act | Pong)  # a union, since a decoder of one tagged struct lets `type` be absent


def fast_act(line: bytes) -> Act | None:
    """What `BOT_LINES.decode` gives where that is an act and plain to see, else None: then ask there.

    ASCII is good UTF-8 and has no note of more bytes than characters; a short line is not too deep.
    """
    if len(line) > MAX_DEPTH or not line.isascii():
        return None
    try:
        message = FAST_ACT.decode(line)
    except (DecodeError, RecursionError):
        return None
    return message if type(message) is Act else None


class LineDecoder(Generic[M]):
    """Decodes the lines of one end."""

    def __init__(self, messages: tuple[type[M], ...], other_end: tuple[type[Message], ...]) -> None:
        self._decoders: dict[str, Decoder[M]] = {type_of(message): Decoder(message) for message in messages}
        self._other_end = frozenset(map(type_of, other_end)) - self._decoders.keys()

    def decode(self, line: bytes) -> M | Unknown | Refusal:
        """What the line says. Never raises, whatever the bytes."""
        try:
            line.decode()
            members = MEMBERS.decode(line)
            return self._message(line, members) if not _too_deep(line) else refusal(line, _deep(line))
        except UnicodeDecodeError as error:
            return refusal(line, not_utf8(line, error))
        except RecursionError:  # not a DecodeError
            return refusal(line, _deep(line))
        except ValidationError as error:  # no object: found before its depth
            return refusal(line, not_json(line, str(error)))
        except DecodeError as error:  # how deep a broken line is read depends on the version of Python
            return refusal(line, _deep(line) if _too_deep(line) else not_json(line, str(error)))

    def _message(self, line: bytes, members: Members) -> M | Unknown | Refusal:
        try:
            kind = TEXT.decode(members.get("type", b"null"))
        except ValidationError:
            return refusal(line, self._no_type(members))
        decoder = self._decoders.get(kind)
        if decoder is None:
            return refusal(line, self._no_type(members)) if kind in self._other_end else Unknown(kind[:64])
        if kind == "hello" and (other := _other_version(members)):
            return refusal(line, other, RefusalKind.VERSION)
        try:
            # Encoded anew, every key is there once: the decoder would stumble over an earlier `type`.
            message = decoder.decode(ENCODER.encode(members))
        except ValidationError as error:
            return refusal(line, wrong_field(str(error), members))
        if isinstance(message, Act) and (size := len(message.note.encode())) > NOTE_BYTES:
            return refusal(line, f"$.note: expected at most {NOTE_BYTES} bytes of UTF-8, got {size}")
        return message

    def _no_type(self, members: Members) -> str:
        expected = " or ".join(self._decoders)
        got = quoted(bytes(members["type"])) if "type" in members else "no such field"
        return with_hint(f"$.type: expected {expected}, got {got}")


def refusal(line: bytes, detail: str, kind: RefusalKind = RefusalKind.MALFORMED) -> Refusal:
    """A refusal with the head of the line as evidence."""
    return Refusal(kind, detail, raw=line[:RAW_HEAD], size=len(line))


def _too_deep(line: bytes) -> bool:
    """Whether brackets of the line are nested too deep; it may be broken JSON, and is then read as far as it goes."""
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return False
    return max(accumulate(STEPS.get(token[0], 0) for token in TOKENS.finditer(line))) > MAX_DEPTH


def _deep(line: bytes) -> str:
    return f"nested too deep: {quoted(line)}"


def _other_version(members: Members) -> str | None:
    """What is wrong with the protocol number of a hello, whatever else a hello of that version may hold."""
    try:
        number = COUNT.decode(members.get("protocol", b"null"))
    except ValidationError:
        return None
    if number == PROTOCOL_VERSION:
        return None
    return f"this end speaks protocol {PROTOCOL_VERSION}, the other end speaks protocol {number}"


BOT_LINES: Final[LineDecoder[FromBot]] = LineDecoder(FROM_BOT, FROM_REFEREE)
REFEREE_LINES: Final[LineDecoder[FromReferee]] = LineDecoder(FROM_REFEREE, FROM_BOT)
