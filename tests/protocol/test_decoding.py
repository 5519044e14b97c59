"""One line, one verdict: the table of what a bot may send and what becomes of it."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcard.protocol import (
    BOT_LINES,
    REFEREE_LINES,
    Act,
    Ask,
    BotHello,
    Bye,
    Pong,
    Ready,
    Refusal,
    RefusalKind,
    Unknown,
)
from lastcard.protocol.decoding import fast_act
from lastcard.protocol.hints import SHOWN

ACT = Act(17, "play R7")
NAME_64 = "n" * 64


def act(field: str, value: str) -> bytes:
    """An act with one of its fields replaced by this JSON text."""
    texts = {"type": '"act"', "id": "17", "action": '"play R7"', field: value}
    return ("{" + ",".join(f'"{name}":{text}' for name, text in texts.items()) + "}").encode()


def deep(levels: int) -> bytes:
    """An act that is nested as deep, in a field that is ignored."""
    return act("x", "[" * (levels - 1) + "]" * (levels - 1))


def hello(field: str, value: object) -> bytes:
    """A hello with this field."""
    return json.dumps({"type": "hello", "protocol": 1, field: value}).encode()


GOOD: list[tuple[str, bytes, object]] = [
    ("plain", b'{"type":"act","id":17,"action":"play R7"}', ACT),
    ("fields in any order", b'{"action":"play R7","id":17,"type":"act"}', ACT),
    ("blanks around and between", b' \t{ "type" :\t"act", "id": 17 , "action":"play R7" } ', ACT),
    ("a CR before the LF", b'{"type":"act","id":17,"action":"play R7"}\r', ACT),
    ("unknown field", act("x", "1.5"), ACT),
    ("unknown field of every kind", act("x", '{"a":[null,true,{"type":"bye"}]}'), ACT),
    ("huge int in an unknown field", act("x", "9" * 5000), ACT),
    ("as deep as may be", deep(500), ACT),
    ("many brackets side by side", act("x", "[" + "[]," * 2000 + "{}]"), ACT),
    ("brackets in a text", act("x", '"' + "[" * 2000 + '"'), ACT),
    ("equal keys, the last counts", b'{"type":"act","id":3,"id":17,"action":"x","action":"play R7"}', ACT),
    ("equal types, the last counts", b'{"type":"log","type":"act","id":17,"action":"play R7"}', ACT),
    ("escapes", b'{"\\u0074ype":"act","id":17,"action":"play\\u0020R7"}', ACT),
    ("largest id", act("id", str(2**53 - 1)), Act(2**53 - 1, "play R7")),
    ("id zero is an old one", act("id", "0"), Act(0, "play R7")),
    ("empty action is for the rules to refuse", act("action", '""'), Act(17, "")),
    ("control characters by escape", act("action", '"\\u0000\\u001b[2J"'), Act(17, "\x00\x1b[2J")),
    ("line separators in a text", act("action", '"\u2028\u0085"'), Act(17, "\u2028\u0085")),
    ("note", act("note", '"caf\u00e9"'), Act(17, "play R7", "caf\u00e9")),
    ("note of 1 KiB", act("note", '"' + "\u00e9" * 512 + '"'), Act(17, "play R7", "\u00e9" * 512)),
    ("surrogate pair by escapes", act("note", '"\\ud83c\\udccf"'), Act(17, "play R7", "\U0001f0cf")),
    ("hello with what is required", b'{"type":"hello","protocol":1}', BotHello(1)),
    (
        "hello in full",
        '{"type":"hello","protocol":1,"name":"Жук 🃏","version":"1.0","features":["events","x"]}'.encode(),
        BotHello(1, "Жук 🃏", "1.0", ["events", "x"]),
    ),
    ("longest name", f'{{"type":"hello","protocol":1,"name":"{NAME_64}"}}'.encode(), BotHello(1, NAME_64)),
    ("ready", b'{"type":"ready","match":"6f0c"}', Ready()),
    ("pong", b'{"type":"pong"}', Pong()),
    ("unknown type", b'{"type":"log","text":"hi"}', Unknown("log")),
    ("unknown type with wrong fields of ours", b'{"type":"Act","id":"17"}', Unknown("Act")),
    ("empty type", b'{"type":""}', Unknown("")),
    ("unknown type is cut", b'{"type":"' + b"x" * 100 + b'"}', Unknown("x" * 64)),
]

# name, line, words that the detail must hold
MALFORMED: list[tuple[str, bytes, str]] = [
    ("empty", b"", "not one JSON object"),
    ("words", b"I will play R7", "stderr"),
    ("traceback", b"Traceback (most recent call last):", "traceback"),
    ("python's repr", b"{'type': 'act'}", "double quotes"),
    ("indented JSON", b"{", "one line"),
    ("HTTP request", b"GET / HTTP/1.1\r", "HTTP"),
    ("HTTP answer", b"HTTP/1.1 200 OK\r", "HTTP"),
    ("header of a language server", b"Content-Length: 52\r", "header"),
    ("UCI", b"id name Stockfish 16", "UCI"),
    ("GTP", b"= play", "GTP"),
    ("XML", b"<move>R7</move>", "XML"),
    ("TLS", b"\x16\x03\x01\x02\x00\x01", "TLS"),
    ("byte order mark", b'\xef\xbb\xbf{"type":"pong"}', "byte order mark"),
    ("UTF-16", '{"type":"pong"}'.encode("utf-16"), "UTF-16"),
    ("UTF-16 without a mark", '{"type":"pong"}'.encode("utf-16-le"), "UTF-16"),
    ("NUL before", b'\0{"type":"pong"}', "UTF-16"),
    ("NUL in a text", b'{"type":"act","id":17,"action":"a\0b"}', "byte"),
    ("NUL after", b'{"type":"pong"}\0', "trailing"),
    ("Latin-1 in the action", b'{"type":"act","id":17,"action":"caf\xe9"}', "byte 0xe9 at offset 35"),
    ("bad UTF-8 in an ignored field", act("x", '"?"').replace(b"?", b"\xff"), "byte 0xff"),
    ("bad UTF-8 in an ignored key", b'{"type":"pong","\xc0\x80":1}', "byte 0xc0"),
    ("UTF-8 of a surrogate", b'{"type":"pong","x":"\xed\xa0\x80"}', "byte 0xed"),
    ("half a surrogate pair by escape", act("action", '"\\ud800"'), "surrogate"),
    ("half a pair in an ignored field", act("x", '"\\udfff"'), "surrogate"),
    ("truncated", b'{"type":"act","id":17', "too early"),
    ("text after the object", b'{"type":"pong"} x', "trailing"),
    ("two objects", b'{"type":"pong"}{"type":"pong"}', "a line of its own"),
    ("two objects parted by CR", b'{"type":"pong"}\r{"type":"pong"}', "a line of its own"),
    ("trailing comma", b'{"type":"pong",}', "trailing comma"),
    ("comment", b'{"type":"pong"}//', "trailing"),
    ("NaN", act("x", "NaN"), "byte"),
    ("Infinity", act("x", "Infinity"), "byte"),
    ("leading zero", act("x", "017"), "number"),
    ("raw control character", act("x", '"\x01"'), "byte"),
    ("form feed around", b'\x0c{"type":"pong"}', "byte 0"),
    ("too deep", deep(501), "too deep"),
    ("much too deep", deep(30_000), "too deep"),
    ("too deep behind a text", act("x", '["]]]\\"]",' + "[" * 499 + "]" * 500), "too deep"),
    ("brackets without end", b"[" * 100_000, "not one JSON object: expected object"),
    ("array", b"[]", "expected object, got array"),
    ("text", b'"play R7"', "expected object, got str"),
    ("number", b"17", "expected object, got int"),
    ("null", b"null", "expected object, got null"),
    ("true", b"true", "expected object, got bool"),
    ("no fields", b"{}", "$.type: expected hello or ready or act or pong, got no such field"),
    ("no type", b'{"id":17,"action":"draw"}', "$.type"),
    ("type null", b'{"type":null}', "$.type"),
    ("type a number", b'{"type":5}', "got '5'"),
    ("type of the other end: an echo", b'{"type":"ask","id":17}', "got '\"ask\"'"),
    ("no id", b'{"type":"act","action":"draw"}', "$.id: required"),
    ("no action", b'{"type":"act","id":17}', "$.action: required"),
    ("id with a point", act("id", "17.0"), "$.id: expected int, got float"),
    ("id with an exponent", act("id", "17e0"), "$.id: expected int, got float"),
    ("id too large for a float", act("id", "1e400"), "$.id: number out of range"),
    ("id true", act("id", "true"), "$.id: expected int, got bool"),
    ("id a text", act("id", '"17"'), "$.id: expected int, got str"),
    ("id null", act("id", "null"), "$.id: expected int, got null"),
    ("id negative", act("id", "-1"), "$.id: expected int >= 0, got '-1'"),
    ("id of 2**53", act("id", str(2**53)), "$.id: expected int <= 9007199254740991, got"),
    ("id of 5000 digits", act("id", "9" * 5000), "$.id: integer value out of range"),
    ("action null", act("action", "null"), "$.action: expected str, got null"),
    ("action a list", act("action", '["play","R7"]'), "$.action: expected str, got array"),
    ("action of 65 characters", act("action", '"' + "x" * 65 + '"'), "$.action: expected str of length <="),
    ("note null", act("note", "null"), "$.note: expected str, got null"),
    ("note of 1025 characters", act("note", '"' + "x" * 1025 + '"'), "$.note: expected str of length <="),
    ("note of 1026 bytes", act("note", '"' + "\u00e9" * 513 + '"'), "at most 1024 bytes of UTF-8, got 1026"),
    ("hello without protocol", b'{"type":"hello"}', "$.protocol: required"),
    ("protocol a text", b'{"type":"hello","protocol":"1"}', "$.protocol: expected int, got str"),
    ("protocol true", b'{"type":"hello","protocol":true}', "$.protocol: expected int, got bool"),
    ("protocol negative", b'{"type":"hello","protocol":-1}', "$.protocol"),
    ("name of 65", hello("name", "n" * 65), "$.name: expected str of length <= 64"),
    ("name with a line break", hello("name", "a\n"), r"$.name: character 2 of 'a\n' is U+000A, expected printable"),
    ("name with an escape sequence", hello("name", "\x1b[2J"), r"character 1 of '\x1b[2J' is U+001B, expected"),
    ("name that turns the writing", hello("name", "a\u202eb"), r"character 2 of 'a\u202eb' is U+202E, expected"),
    ("version that hides something", hello("version", "1.0\u200b"), "$.version: character 4 of"),
    ("version a number", hello("version", 1), "$.version: expected str, got int"),
    ("features a text", hello("features", "events"), "$.features: expected array"),
    ("a feature a number", hello("features", ["ping", 5]), "$.features[1]: expected str"),
    ("a feature too long", hello("features", ["f" * 33]), "$.features[0]"),
    ("too many features", hello("features", ["f"] * 17), "$.features"),
]  # fmt: skip


def rows(table: list[Any]) -> pytest.MarkDecorator:
    """The table's rows as cases, named by their first column."""
    return pytest.mark.parametrize(("line", "expected"), [row[1:] for row in table], ids=[row[0] for row in table])


@rows(GOOD)
def test_line_says(line: bytes, expected: object) -> None:
    assert BOT_LINES.decode(line) == expected


@rows(MALFORMED)
def test_line_is_malformed(line: bytes, expected: str) -> None:
    refusal = BOT_LINES.decode(line)
    assert isinstance(refusal, Refusal)
    assert refusal.kind is RefusalKind.MALFORMED
    assert expected in refusal.detail
    assert refusal.raw == line[:512]
    assert refusal.size == len(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"hello","protocol":2}',
        b'{"type":"hello","protocol":0}',
        b'{"type":"hello","protocol":1,"protocol":2,"name":5,"features":{"what":"later"}}',
    ],
)
def test_another_protocol_number_is_told_from_malformed(line: bytes) -> None:
    refusal = BOT_LINES.decode(line)
    assert isinstance(refusal, Refusal)
    assert refusal.kind is RefusalKind.VERSION
    assert "protocol 1" in refusal.detail
    assert "protocol 2" in refusal.detail or "protocol 0" in refusal.detail


def test_referee_lines_are_decoded_as_strictly() -> None:
    assert REFEREE_LINES.decode(b'{"type":"bye","reason":"done","x":1}') == Bye("done")
    assert isinstance(REFEREE_LINES.decode(b'{"type":"act","id":1,"action":"draw"}'), Refusal)
    refusal = REFEREE_LINES.decode(b'{"type":"hello","protocol":2}')
    assert isinstance(refusal, Refusal)
    assert refusal.kind is RefusalKind.VERSION
    ask = REFEREE_LINES.decode(
        b'{"type":"ask","id":1,"kind":"turn","legal":["draw"],"state":{"top":"R3"},"events":[{"type":"x"}]}'
    )
    assert isinstance(ask, Ask)
    assert bytes(ask.events[0]) == b'{"type":"x"}'


# Lines near the good ones: what a mistaken, an old or a hostile bot would write.
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=70)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
names = st.sampled_from(["type", "id", "action", "note", "protocol", "name", "version", "features", "x"])
types = st.sampled_from(["act", "hello", "ready", "pong", "ask", "later"])
ids = st.integers(0, 20)
likely = st.fixed_dictionaries({}, optional={"type": types, "id": ids, "action": st.text(max_size=70)})
objects = st.builds(lambda first, second: {**first, **second}, st.dictionaries(names, values, max_size=3), likely)


@given(st.binary(max_size=200) | objects.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_end_in_a_message_an_unknown_type_or_a_refusal(line: bytes) -> None:
    outcome = BOT_LINES.decode(line)
    assert isinstance(outcome, BotHello | Ready | Act | Pong | Unknown | Refusal)
    if isinstance(outcome, Refusal):
        assert outcome.detail.isascii()
        assert outcome.detail.isprintable()
        assert len(outcome.detail) < 300 + 4 * SHOWN


@given(objects, st.booleans())
def test_the_fast_path_finds_what_the_slow_one_finds(value: dict[str, Any], ascii_only: bool) -> None:
    line = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    fast = fast_act(line)
    assert fast is None or fast == BOT_LINES.decode(line)


@given(st.lists(st.tuples(names, values), max_size=6))
def test_of_equal_keys_the_last_counts(members: list[tuple[str, Any]]) -> None:
    """The same as if the earlier ones had not been written."""
    written = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in members)
    repeated = BOT_LINES.decode(f"{{{written}}}".encode())
    single = BOT_LINES.decode(json.dumps(dict(members)).encode())
    if isinstance(repeated, Refusal):
        assert isinstance(single, Refusal) or b"NaN" in repeated.raw or b"Infinity" in repeated.raw
    else:
        assert repeated == single


@given(st.builds(Act, st.integers(0, 2**53 - 1), st.text(max_size=64), st.text(max_size=256)))
def test_an_act_survives_the_wire(message: Act) -> None:
    line = msgspec.json.encode(message)
    assert BOT_LINES.decode(line) == message
    assert fast_act(line) in (message, None)
