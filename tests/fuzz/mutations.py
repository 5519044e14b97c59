"""Lines of bots and of the referee, and what a mistaken or hostile program could make of them; judges nothing."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

BOT_MESSAGES: list[dict[str, Any]] = [
    {"type": "hello", "protocol": 1},
    {"type": "hello", "protocol": 1, "name": "Жук", "version": "1.0", "features": ["events", "ready", "ping"]},
    {"type": "ready"},
    {"type": "act", "id": 1, "action": "draw"},
    {"type": "act", "id": 1, "action": "play W R", "note": "why not"},
    {"type": "act", "id": 2, "action": "play R7 uno", "note": "é"},
    {"type": "pong"},
    {"type": "later", "id": 1},
]

REFEREE_MESSAGES: list[dict[str, Any]] = [
    {"type": "hello", "protocol": 1, "referee": "lastcard 0.1.0", "start_ms": 1000, "max_line": 65_536},
    {
        "type": "start",
        "match": "m",
        "edition": "classic",
        "options": {"rounds": 1, "catch": "asked"},
        "seat": 0,
        "players": ["a", "b"],
        "limits": {"move_ms": 1000},
        "bot_seed": 7,
    },
    {"type": "ask", "id": 1, "kind": "turn", "legal": ["draw"], "state": {"hand": ["R7"]}, "events": [{"type": "x"}]},
    {"type": "events", "events": [{"type": "skip", "seat": 0}]},
    {"type": "fault", "id": 1, "kind": "illegal", "detail": "d", "strikes": 1, "of": 3, "applied": "draw"},
    {"type": "end", "match": "m", "places": [1, 2], "scores": [5, 0], "events": []},
    {"type": "ping"},
    {"type": "bye", "reason": "done"},
]

SURPRISES = [
    *("\u2028", "\u0085", "\u00a0", "\u202e", "\ufeff", "\uffff", "\U0001f0cf", "\x7f"),
    *("\\u0000", "\\ud800", "\\ud83c\\udccf", "\\udfff\\ud800", "\\", '"', "\t", "\r", "\n", "\0", "{", "]", ",", "//"),
]
BAD_BYTES = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x80", b"\xf4\x90\x80\x80"]

ints = st.sampled_from([0, 1, 2, -1, 17, 2**53 - 1, 2**53, 2**64, 10**30])
texts = st.sampled_from(["", "draw", "act", "hello", "ask", "x" * 64, "x" * 65, "é" * 600, "\u2028"]) | st.text(
    max_size=9
)
scalars = st.none() | st.booleans() | ints | st.sampled_from([1.0, 1.5, -0.0, 1e300]) | texts
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)


def of_object(draw: st.DrawFn, message: dict[str, Any]) -> None:
    """Changes one thing about what the object holds."""
    name = draw(st.sampled_from(sorted(message) or ["type"]))
    match draw(st.integers(0, 8)):
        case 0:
            message[name] = draw(values)
        case 1:
            message.pop(name, None)
        case 2:
            message[draw(texts)] = draw(values)
        case 3:
            message[name] = [message.get(name)]
        case 4:
            message[name] = {name: message.get(name)}
        case 5:
            message[name] = str(message.get(name))
        case 6:
            message.update({"type": message.pop("type", "act")})  # the type comes last
        case _:
            message["x"] = draw(values)


def of_text(draw: st.DrawFn, line: bytes) -> bytes:
    """Changes one thing about how it is written."""
    place = draw(st.integers(0, len(line)))
    end = draw(st.integers(place, min(len(line), place + 8)))
    changes: list[Callable[[], bytes]] = [
        lambda: line[:place],
        lambda: line[:place] + line[end:],
        lambda: line[:end] + line[place:],
        lambda: line[:place] + draw(st.sampled_from(SURPRISES)).encode() + line[place:],
        lambda: line[:place] + draw(st.sampled_from(BAD_BYTES)) + line[end:],
        lambda: line[:place] + draw(st.binary(max_size=4)) + line[end:],
        lambda: line.replace(b"{", b'{"type":"act",', 1),
        lambda: line.replace(b":", b":" + b"[" * draw(st.sampled_from([3, 498, 499, 500, 2000])), 1),
        lambda: line[:-1] + b',"x":' + deep(draw(st.sampled_from([1, 498, 499, 500, 1200]))) + b"}",
        lambda: line + line,
        lambda: line.replace(b",", b" \t,\r "),
        lambda: line.replace(b'"a', b'"\\u0061'),
        lambda: b" " + line + b" ",
    ]
    return draw(st.sampled_from(changes))()


def deep(levels: int) -> bytes:
    """Arrays inside arrays."""
    return b"[" * levels + b"]" * levels


@st.composite
def near(draw: st.DrawFn, messages: list[dict[str, Any]]) -> bytes:
    """A line that is, or is nearly, one of these messages; without its LF."""
    message = dict(draw(st.sampled_from(messages)))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        of_object(draw, message)
    line = json.dumps(message, ensure_ascii=draw(st.booleans())).encode()
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        line = of_text(draw, line)
    return line


@st.composite
def streams(draw: st.DrawFn, messages: list[dict[str, Any]]) -> bytes:
    """Several of such lines, and bytes that are none; some lines too long, the last one perhaps unfinished."""
    piece = near(messages) | st.binary(max_size=9)
    long = st.sampled_from([60_000, 65_536, 65_537, 70_000]).map(lambda size: b"y" * size)
    pieces = draw(
        st.lists(st.tuples(st.one_of(piece, piece, piece, long), st.sampled_from([b"\n", b"\r\n", b"\n\n", b""])))
    )
    return b"".join(text + end for text, end in pieces)


@st.composite
def chunks(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    """The stream, cut somewhere."""
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True) if start < end]
