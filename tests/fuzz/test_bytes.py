"""Any bytes, in any chunks, into framing, decoder and both ends of a conversation: nothing raises, nothing grows."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lastcard.protocol import (
    BOT_LINES,
    NEED_DATA,
    REFEREE_LINES,
    Act,
    BotHello,
    Closed,
    LineBuffer,
    Overflow,
    Pong,
    Ready,
    Refusal,
    RefusalKind,
    Stale,
    State,
    Unknown,
)
from lastcard.protocol.conversation import Conversation
from lastcard.protocol.decoding import fast_act
from tests.fuzz.mutations import BOT_MESSAGES, REFEREE_MESSAGES, chunks, near, streams
from tests.fuzz.reading import kind_of
from tests.protocol.pairs import new_pair

MAX, HUGE = 12, 30
"""Limits of the small line buffers below."""

pieces = st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", b"a", b"bcd", b"y" * 11, b"y" * 12, b"y" * 13, b"y" * 31]))


def framed(stream: bytes) -> list[bytes | Overflow]:
    """What a line buffer has to give for the whole stream, worked out in one go."""
    found: list[bytes | Overflow] = []
    *whole, rest = stream.split(b"\n")
    for line, ended in [*((line, True) for line in whole), (rest, False)]:
        found += [Overflow(huge, line[: MAX + 1]) for huge, most in ((False, MAX), (True, HUGE)) if len(line) > most]
        if ended and len(line) <= MAX:
            found.append(line.removesuffix(b"\r"))
    return found


def held(lines: LineBuffer) -> int:
    """How many bytes a line buffer keeps."""
    return len(lines._held) + len(lines._chunk)


@given(st.data(), pieces.map(b"".join))
@settings(max_examples=300)
def test_framing_is_the_same_however_it_is_cut_and_keeps_no_more_than_a_line(
    data: st.DataObject, stream: bytes
) -> None:
    lines, found = LineBuffer(MAX, HUGE), list[bytes | Overflow]()
    for chunk in data.draw(chunks(stream)):
        lines.feed(chunk)
        while (item := lines.next_line()) is not None:
            found.append(item)
        assert held(lines) <= MAX
    assert found == framed(stream)
    head, size = lines.rest()
    rest = stream.rpartition(b"\n")[2]
    assert (head, size) == (rest[: MAX + 1], len(rest))


@given(st.data(), pieces.map(b"".join))
@settings(max_examples=300)
def test_a_line_is_early_if_it_was_whole_at_the_mark(data: st.DataObject, stream: bytes) -> None:
    """Marks lie between chunks, after all lines that are whole were taken, or after some of them."""
    lines, fed, marked, place = LineBuffer(MAX, HUGE), 0, 0, 0
    ends = [place + 1 for place, byte in enumerate(stream) if byte == ord("\n")]
    for chunk in data.draw(chunks(stream)):
        lines.feed(chunk)
        fed += len(chunk)
        if data.draw(st.booleans()):
            lines.mark()
            marked = fed
        for _ in range(data.draw(st.integers(0, 9))):
            item = lines.next_line()
            if item is None:
                break
            end = next((end for end in ends if end > place), None)
            assert lines.early == (end is not None and end <= marked), (item, place)
            if isinstance(item, bytes):
                assert end is not None
                place = end
            elif end is not None and (item.huge or end - place - 1 <= HUGE):  # nothing more will be said of this line
                place = end


# ---- one line


def kind_found(outcome: object) -> str:
    """The decoder's verdict in the words of `reading`."""
    if isinstance(outcome, Refusal):
        return str(outcome.kind)
    words: dict[type[object], str] = {Act: "act", BotHello: "hello", Ready: "ready", Pong: "pong", Unknown: "unknown"}
    return words[type(outcome)]


def check_line(line: bytes) -> None:
    """Both readers agree, what is said of a bad line can be shown anywhere, and the fast path is no other path."""
    outcome = BOT_LINES.decode(line)
    assert kind_found(outcome) == kind_of(line)
    if isinstance(outcome, Refusal):
        assert outcome.detail.isascii()
        assert outcome.detail.isprintable()
        assert len(outcome.detail) < 600
        assert outcome.raw == line[:512]
    fast = fast_act(line)
    assert fast is None or fast == outcome
    heard = REFEREE_LINES.decode(line)
    assert not isinstance(heard, Refusal) or heard.detail.isprintable()


@given(near(BOT_MESSAGES))
@settings(max_examples=500)
@example(b'{"type":"act","id":1,"action":"draw","x":"\\ud800","x":1}')
@example(b'{"type":"act","id":1,"action":"draw","x":' + b"[" * 500 + b"]" * 500 + b',"x":0}')
def test_a_line_says_what_another_reader_finds(line: bytes) -> None:
    check_line(line)


@pytest.mark.soak
@given(near(BOT_MESSAGES) | near(REFEREE_MESSAGES) | st.binary(max_size=60))
@settings(max_examples=25_000)
def test_many_lines_say_what_another_reader_finds(line: bytes) -> None:
    check_line(line)


# ---- a whole conversation


def drained(end: Conversation, data: bytes) -> list[Any]:
    """What an end makes of a chunk, and that it then holds no more than one line."""
    if data or not end._at_end:
        end.receive(data)
    received: list[Any] = []
    while (one := end.next()) is not NEED_DATA:  # type: ignore[attr-defined]  # either end has it
        received.append(one)
        if isinstance(one, Closed):
            break
    assert held(end._lines) <= end._lines.max_line
    return received


def check_referee(data: st.DataObject, state: State, stream: bytes) -> None:
    """The same in one piece and in many; at most one answer, none where none was owed; the end is the last item."""
    whole, parts = new_pair(state).referee, new_pair(state).referee
    expected = drained(whole, stream) if stream else []
    found = [one for chunk in data.draw(chunks(stream)) for one in drained(parts, chunk)]
    assert found == expected
    assert parts.state is whole.state
    (closed,) = drained(parts, b"")
    assert isinstance(closed, Closed)
    assert all(isinstance(one, BotHello | Ready | Act | Pong | Stale | Refusal) for one in found)
    assert sum(isinstance(one, Act) for one in found) <= (state is State.ASKED)
    assert sum(isinstance(one, BotHello) for one in found) <= (state is State.GREETING)
    assert parts.open_id == (1 if parts.state is State.ASKED else None)
    owed = [isinstance(one, Refusal) and one.owed for one in found]
    answered = next((place for place, one in enumerate(found) if isinstance(one, Act)), len(found))
    assert owed == [
        isinstance(one, Refusal) and state is State.ASKED and place < answered for place, one in enumerate(found)
    ]
    for one in found:
        if isinstance(one, Refusal) and one.kind in (RefusalKind.OVERSIZE, RefusalKind.HUGE):
            assert one.size in (65_537, 1_048_577)


@given(st.data(), st.sampled_from(State), streams(BOT_MESSAGES))
@settings(max_examples=200)
def test_the_referee_hears_the_same_however_it_is_cut(data: st.DataObject, state: State, stream: bytes) -> None:
    check_referee(data, state, stream)


@pytest.mark.soak
@given(st.data(), st.sampled_from(State), streams(BOT_MESSAGES))
@settings(max_examples=4_000)
def test_the_referee_hears_the_same_of_many_streams(data: st.DataObject, state: State, stream: bytes) -> None:
    check_referee(data, state, stream)


def check_bot(data: st.DataObject, state: State, stream: bytes) -> None:
    """A bot's end is as steady against a referee that is not ours."""
    whole, parts = new_pair(state).bot, new_pair(state).bot
    expected = drained(whole, stream) if stream else []
    assert [one for chunk in data.draw(chunks(stream)) for one in drained(parts, chunk)] == expected
    assert (parts.state, parts.open_id) == (whole.state, whole.open_id)
    assert (parts.open_id is not None) == (parts.state is State.ASKED)
    assert isinstance(drained(parts, b"")[-1], Closed)


@given(st.data(), st.sampled_from(State), streams(REFEREE_MESSAGES))
@settings(max_examples=200)
def test_a_bot_hears_the_same_however_it_is_cut(data: st.DataObject, state: State, stream: bytes) -> None:
    check_bot(data, state, stream)


@pytest.mark.soak
@given(st.data(), st.sampled_from(State), streams(REFEREE_MESSAGES))
@settings(max_examples=4_000)
def test_a_bot_hears_the_same_of_many_streams(data: st.DataObject, state: State, stream: bytes) -> None:
    check_bot(data, state, stream)
