"""What a bot author is told of the commonest mistakes: one line of printable ASCII, with the way out of it."""

import time

import pytest

from lastcard.protocol import BOT_LINES, MAX_LINE, REFEREE_LINES, STALE_WORDS, Refusal, StaleReason
from lastcard.protocol.hints import FLUSH, meant, unfinished

ACT = b'{"type":"act","id":17,"action":"play R7"}'

# what was written, and the hint in the detail
HINTS: list[tuple[bytes, str]] = [
    (b"play R7", 'an answer is a JSON object, as {"type":"act"'),
    (b"draw", "an answer is a JSON object"),
    (b"Drawing conclusions", "did the program print to stdout? Only messages belong there, all else goes to stderr"),
    (b"DEBUG my hand is R7", "all else goes to stderr"),
    (b"17", "all else goes to stderr"),
    (b"Traceback (most recent call last):", "traceback: errors belong on stderr"),
    (b"ValueError: invalid literal", "an error message: errors belong on stderr"),
    (b"json.decoder.JSONDecodeError: Expecting value", "errors belong on stderr"),
    (b'Exception in thread "main" java.lang.NullPointerException', "errors belong on stderr"),
    (b"thread 'main' panicked at src/main.rs:3:5:", "errors belong on stderr"),
    (b"panic: runtime error", "errors belong on stderr"),
    (b"terminate called after throwing an instance of", "errors belong on stderr"),
    (b"\x1b[32mI play\x1b[0m", "the colors of a terminal"),
    (b"\xef\xbb\xbf" + ACT, "a byte order mark: write UTF-8 without BOM"),
    (ACT.decode().encode("utf-16"), "UTF-16 or UTF-32: write UTF-8"),
    (ACT.decode().encode("utf-16-be"), "UTF-16 or UTF-32: write UTF-8"),
    (ACT.decode().encode("utf-32"), "UTF-16 or UTF-32: write UTF-8"),
    (b"{'type': 'act', 'id': 17, 'action': 'play R7'}", "JSON texts stand in double quotes"),
    (b'{type: "act", id: 17}', "JSON keys stand in double quotes"),
    (b'{"type":"act","id":17,"action":None}', "JSON has null, true and false"),
    (b'{"type": "act", "ok": True}', "JSON has null, true and false"),
    (b'{"type":"act","id":NaN}', "JSON has no such number"),
    (b"b'" + ACT + b"'", "the JSON text stands in quotes: write it as it is, encoded once"),
    (b'"{\\"type\\":\\"act\\"}"', "encoded once"),
    (b"[" + ACT + b"]", "send it alone, not in a list"),
    (b"Act(id=17, action='play R7')", "an object of the language itself: write it with a JSON library"),
    (b"{", "one message must stand on one line: do not indent the JSON"),
    (ACT + b"\r" + ACT, "a line of its own, with LF at its end; a CR alone ends none"),
    (ACT + ACT, "a line of its own, with LF at its end"),
    (ACT + b";", "nothing may stand behind the object"),
    (ACT + b" // my move", "JSON has no comments"),
    (b'{"type":"act","id":17,"action":"play R7"', "the JSON text ends too early"),
    (b"GET / HTTP/1.1\r", "it looks like HTTP"),
    (b"\x1f\x8b\x08\x00\xff", "it looks like gzip"),
    (ACT.replace(b"17", b'"17"'), "write the number of the ask without quotes"),
    (ACT.replace(b"17", b"17.0"), "write the number as it came, without a point"),
    (ACT.replace(b'"id":17,', b""), "repeat the id of the ask"),
    (ACT.replace(b'"play R7"', b'["play","R7"]'), 'an action is one text, as "play R7"'),
    (ACT.replace(b'"play R7"', b"0"), "write the action itself, one of `legal`, not its place there"),
    (b'{"type":"act","id":17}', "an action is one of `legal`"),
    (b'{"type":"hello"}', 'write "protocol":1'),
    (b'{"type":"hello","protocol":"1.0"}', 'write "protocol":1'),
    (b'{"type":"ask","id":17,"legal":["draw"]}', "the lines of the referee are not sent back"),
    (b'{"type":"hello","protocol":1,"name":"a\\u0000"}', "is U+0000, expected printable text: no control characters"),
    ('{"type":"hello","protocol":1,"name":"a\u200b"}'.encode(), "is U+200B, expected printable text"),
]


@pytest.mark.parametrize(("line", "hint"), HINTS, ids=[hint[:40] + str(n) for n, (_, hint) in enumerate(HINTS)])
def test_the_way_out_is_told(line: bytes, hint: str) -> None:
    refusal = BOT_LINES.decode(line)
    assert isinstance(refusal, Refusal), refusal
    assert hint in refusal.detail
    assert refusal.detail.isascii()
    assert refusal.detail.isprintable()
    assert len(refusal.detail) < 500


def test_a_pattern_of_another_field_is_told_as_it_is() -> None:
    line = (
        b'{"type":"start","match":"m","edition":"e","options":{},"seat":0,"players":["a b"],"limits":{},"bot_seed":1}'
    )
    refusal = REFEREE_LINES.decode(line)
    assert isinstance(refusal, Refusal)
    assert refusal.detail.startswith("$.players[")


@pytest.mark.parametrize("unit", [b"}\r", b"{:", b"} ", b"'", b"a.", b"[{", b"{a:None ", b"\x00", b": "])
def test_a_long_line_costs_no_more_than_a_short_one(unit: bytes) -> None:
    """Whatever is in it: no pattern goes back and forth over all of it."""
    for line in (unit * (MAX_LINE // len(unit)), ACT + unit * 30_000):
        begun = time.process_time()
        assert isinstance(BOT_LINES.decode(line), Refusal)
        assert time.process_time() - begun < 2, "a pattern that goes back takes minutes"


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (b"", ", nothing was received"),
        (b'{"type":"act",', ", only the beginning of a line"),
        (ACT, ", only a line without its end: no LF came after it; a line ends with LF"),
        (ACT + b"\r", ", only a line without its end: a CR alone ends no line; a line ends with LF"),
        (ACT.decode().encode("utf-16-le"), ", only a line without its end: no LF came after it; a line ends with LF"),
        (b"thinking", ", only the beginning of a line"),
    ],
)
def test_what_came_of_a_line_that_was_waited_for(part: bytes, told: str) -> None:
    assert unfinished(part) == told
    assert FLUSH.endswith("?")


LEGAL = ("play R7", "play W R", "play W G", "target 2", "target none", "draw")


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("PLAY R7", "; spacing and case count, as in 'play R7'"),
        ("play  R7", "; spacing and case count, as in 'play R7'"),
        ("play R7 ", "; spacing and case count, as in 'play R7'"),
        ("play r7 UNO", "; spacing and case count, as in 'play R7'"),
        ("play_R7", "; spacing and case count, as in 'play R7'"),
        ("Draw", "; spacing and case count, as in 'draw'"),
        ("draw uno", "; only a play may end in ' uno'"),
        ("play W", "; name the color too"),
        ("R7", "; say 'play R7'"),
        ("W", "; say 'play W'"),
        ("play B1", ""),
        ("", ""),
        ("uno", ""),
    ],
)
def test_what_an_illegal_action_may_have_meant(action: str, told: str) -> None:
    assert meant(action, LEGAL) == told


def test_every_reason_for_which_a_line_counts_for_nothing_has_its_words() -> None:
    assert set(STALE_WORDS) == set(StaleReason)
