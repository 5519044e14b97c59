"""What a line of a bot says, worked out anew with Python's own JSON reader; a second opinion on the decoder."""

import json
import re
from typing import Any

LARGEST = 2**53 - 1
DEPTH = 500
HIDDEN = re.compile(
    r"[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
"""What a name may not hold."""


class Broken(ValueError):
    """Not one JSON object that version 1 accepts anywhere."""


def broken(word: str) -> Any:
    """NaN and its kin."""
    raise Broken(word)


def checked(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses halves of pairs, in members too that a later one of the same name replaces."""
    for text in (text for name, value in members for text in texts_of([name, value])):
        if re.search("[\ud800-\udfff]", text):
            raise Broken("half of a pair")
    return dict(members)


def texts_of(value: Any) -> list[str]:
    """The texts in arrays; those in objects have been checked."""
    if isinstance(value, str):
        return [value]
    return [text for inner in value for text in texts_of(inner)] if isinstance(value, list) else []


def depth_of(line: str) -> int:
    """How many brackets are open at the most, in members too that a later one replaces."""
    deepest = depth = 0
    in_text = escaped = False
    for sign in line:
        if in_text:
            in_text = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        else:
            in_text = sign == '"'
            depth += (sign in "[{") - (sign in "]}")
            deepest = max(deepest, depth)
    return deepest


def integer(value: Any) -> bool:
    """An int from 0 that every reader knows exactly."""
    return type(value) is int and 0 <= value <= LARGEST


def text(value: Any, most: int) -> bool:
    """A text of so many characters."""
    return isinstance(value, str) and len(value) <= most


def label(value: Any) -> bool:
    """A printable text of 64 characters."""
    return text(value, 64) and not HIDDEN.search(value)


def act(members: dict[str, Any]) -> bool:
    """Whether the members are those of an act."""
    note = members.get("note", "")
    good = integer(members.get("id")) and text(members.get("action"), 64)
    return good and isinstance(note, str) and len(note.encode()) <= 1024


def hello(members: dict[str, Any]) -> bool:
    """Whether the members are those of a hello."""
    features = members.get("features", [])
    words = isinstance(features, list) and len(features) <= 16 and all(text(word, 32) for word in features)
    return (
        words
        and label(members.get("name", ""))
        and label(members.get("version", ""))
        and text(members.get("token", ""), 64)
    )


def parsed(line: bytes) -> dict[str, Any]:
    """The members of the line. Raises ValueError."""
    members = json.loads(
        line.decode(),
        parse_constant=broken,
        parse_int=lambda digits: int(digits) if len(digits) < 30 else 10**30,
        parse_float=float,
        object_pairs_hook=checked,
    )
    if not isinstance(members, dict) or depth_of(line.decode()) > DEPTH:
        raise Broken("no object, or too deep")
    return members


def kind_of(line: bytes) -> str:
    """act, hello, ready, pong, version, malformed or unknown."""
    try:
        members = parsed(line)
    except (ValueError, RecursionError):
        return "malformed"
    kind = members.get("type")
    match kind:
        case "act":
            return "act" if act(members) else "malformed"
        case "hello":
            number = members.get("protocol")
            if integer(number) and number != 1:
                return "version"
            return "hello" if integer(number) and hello(members) else "malformed"
        case "ready" | "pong":
            return str(kind)
        case _:
            known = not isinstance(kind, str) or kind in {"start", "ask", "events", "fault", "end", "ping", "bye"}
            return "malformed" if known else "unknown"
