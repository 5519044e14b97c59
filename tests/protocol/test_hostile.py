"""What a bot may do to the referee's end, and what each of it comes out as; nothing of it raises.

The ids F-nn are those of the situations in spec.md.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastcard.protocol import (
    NEED_DATA,
    Act,
    BotHello,
    Closed,
    Pong,
    Ready,
    Refusal,
    RefusalKind,
    Stale,
    StaleReason,
    State,
)
from tests.protocol.pairs import all_received, new_pair, new_referee

ACT_1 = b'{"type":"act","id":1,"action":"draw"}\n'
ACT_2 = b'{"type":"act","id":2,"action":"draw"}\n'
ACT_3 = b'{"type":"act","id":3,"action":"draw"}\n'
ACT_9 = b'{"type":"act","id":9,"action":"draw"}\n'
HELLO = b'{"type":"hello","protocol":1}\n'
# The tables' short forms.
MALFORMED, NOT_NOW = (RefusalKind.MALFORMED, "owed"), (RefusalKind.MALFORMED, "not owed")
OVERSIZE, HUGE = (RefusalKind.OVERSIZE, "owed"), (RefusalKind.HUGE, "owed")
OTHER_VERSION = (RefusalKind.VERSION, "not owed")
BLANK, OLDER, ANSWERED = StaleReason.BLANK, StaleReason.OLDER, StaleReason.ANSWERED
LATE, FUTURE, EARLY = StaleReason.LATE, StaleReason.FUTURE, StaleReason.EARLY
UNASKED, UNKNOWN = StaleReason.UNASKED, StaleReason.UNKNOWN_TYPE


def verdict(received: object) -> object:
    """The short form that the tables below are written in."""
    match received:
        case Stale():
            return received.reason
        case Refusal():
            return (received.kind, "owed" if received.owed else "not owed")
        case Act():
            return received.id
        case _:
            return type(received)


# state, answered asks before, bytes, what comes out
SITUATIONS: list[tuple[str, State, int, bytes, list[object]]] = [
    ("banner, then hello", State.GREETING, 0, b"hi\n" + HELLO, [NOT_NOW, BotHello]),
    ("blank line, then hello", State.GREETING, 0, b"\n" + HELLO, [BLANK, BotHello]),
    ("act in hello", State.GREETING, 0, ACT_1 + HELLO, [FUTURE, BotHello]),
    ("F-05 another protocol", State.GREETING, 0, b'{"type":"hello","protocol":2}\n', [OTHER_VERSION]),
    ("F-11 hello twice", State.GREETING, 0, HELLO + HELLO, [BotHello, UNASKED]),
    ("another protocol, later", State.ASKED, 0, b'{"type":"hello","protocol":2}\n', [UNASKED]),
    ("F-11 ready unasked", State.PLAYING, 0, b'{"type":"ready"}\n', [UNASKED]),
    ("ready twice", State.STARTING, 0, b'{"type":"ready"}\n' * 2, [Ready, UNASKED]),
    ("pong unasked", State.PLAYING, 0, b'{"type":"pong"}\n', [UNASKED]),
    ("F-33 unknown type, then the answer", State.ASKED, 0, b'{"type":"log"}\n' + ACT_1, [UNKNOWN, 1]),
    ("answer", State.ASKED, 2, ACT_3, [3]),
    ("F-33 answer twice", State.ASKED, 2, ACT_3 + ACT_3, [3, ANSWERED]),
    ("F-32 older id, then the answer", State.ASKED, 2, ACT_2 + ACT_1 + ACT_3, [OLDER, OLDER, 3]),
    ("id of zero", State.ASKED, 0, ACT_1.replace(b"1", b"0"), [OLDER]),
    ("id of zero before any ask", State.PLAYING, 0, ACT_1.replace(b"1", b"0"), [OLDER]),
    ("F-32 id not asked yet", State.ASKED, 2, ACT_9 + ACT_3, [FUTURE, 3]),
    ("F-33 blank lines, then the answer", State.ASKED, 0, b"\n \t\n\r\n" + ACT_1, [BLANK] * 3 + [1]),
    ("CRLF", State.ASKED, 0, ACT_1.replace(b"\n", b"\r\n"), [1]),
    ("CR alone", State.ASKED, 0, ACT_1.replace(b"\n", b"\r"), []),
    ("F-24 malformed while asked", State.ASKED, 0, b"R7\n", [MALFORMED]),
    ("F-50 malformed while not asked", State.PLAYING, 0, b"R7\n", [NOT_NOW]),
    ("malformed after the answer", State.ASKED, 0, ACT_1 + b"R7\n", [1, NOT_NOW]),
    ("malformed after the end", State.IDLE, 0, b"R7\n", [NOT_NOW]),
    ("answer after the end", State.IDLE, 0, ACT_1, [FUTURE]),
    ("after bye", State.CLOSED, 0, ACT_1 + b"R7\n\n", [FUTURE, NOT_NOW, BLANK]),
    ("F-30 long line while asked", State.ASKED, 0, b"y" * 65_537 + b"\n" + ACT_1, [OVERSIZE, 1]),
    ("F-51 long line while not asked", State.PLAYING, 0, b"y" * 70_000, [(RefusalKind.OVERSIZE, "not owed")]),
    ("F-31 huge line", State.ASKED, 0, b"y" * 1_048_577, [OVERSIZE, HUGE]),
    ("the longest line", State.ASKED, 0, ACT_1[:-1] + b" " * (65_536 - 37) + b"\n", [1]),
    ("one byte more", State.ASKED, 0, ACT_1[:-1] + b" " * (65_537 - 37) + b"\n", [OVERSIZE]),
    ("partial line", State.ASKED, 0, ACT_1[:-1], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("state", "asks", "data", "expected"), [row[1:] for row in SITUATIONS], ids=[row[0] for row in SITUATIONS]
)
def test_situation(state: State, asks: int, data: bytes, expected: list[object]) -> None:
    referee = new_referee(state, asks)
    referee.receive(data)
    assert [verdict(received) for received in all_received(referee)] == expected


def test_a_late_answer_is_stale_and_the_next_one_counts() -> None:
    referee = new_referee(State.ASKED)
    referee.close_ask()
    referee.receive(ACT_1)
    assert [verdict(one) for one in all_received(referee)] == [LATE]
    referee.ask("turn", ["draw"], {}, [])
    referee.receive(ACT_1 + ACT_2)
    assert [verdict(one) for one in all_received(referee)] == [OLDER, 2]


def test_a_partial_line_that_is_finished_late_is_one_stale_line() -> None:
    referee = new_referee(State.ASKED)
    referee.receive(ACT_1[:12])
    assert referee.next() is NEED_DATA
    referee.close_ask()
    referee.ask("turn", ["draw"], {}, [])
    referee.receive(ACT_1[12:] + ACT_2)
    assert [verdict(one) for one in all_received(referee)] == [OLDER, 2]


def test_an_answer_that_lay_here_before_its_ask_is_a_guess() -> None:
    referee = new_referee(State.PLAYING)
    referee.receive(ACT_1 + b"R7\n" + ACT_1[:20])
    referee.ask("turn", ["draw"], {}, [])
    assert [verdict(one) for one in all_received(referee)] == [EARLY, NOT_NOW]
    referee.receive(ACT_1[20:])
    assert verdict(referee.next()) == 1


def test_a_guess_does_not_harm_the_answer_behind_it() -> None:
    referee = new_referee(State.PLAYING)
    referee.receive(b"y" * 70_000 + b"\n" + ACT_1)
    referee.ask("turn", ["draw"], {}, [])
    referee.receive(ACT_1)
    assert [verdict(one) for one in all_received(referee)] == [(RefusalKind.OVERSIZE, "not owed"), EARLY, 1]


def test_a_refusal_names_the_line_and_holds_its_head() -> None:
    referee = new_referee(State.ASKED)
    referee.receive(b"\n" + b"R7 " * 400 + b"\n" + b"y" * 70_000)
    _, printed, long = all_received(referee)
    assert printed.detail.startswith("line 4: not one JSON object")  # hello and ready were lines 1 and 2
    assert (printed.raw, printed.size) == ((b"R7 " * 400)[:512], 1200)
    assert long.detail.startswith("line 5: longer than 65536 bytes")
    assert (long.raw, long.size) == (b"y" * 512, 65_537)


def test_a_version_refusal_is_fit_for_bye() -> None:
    referee = new_referee(State.GREETING)
    referee.receive(b'{"type":"hello","protocol":2}\n')
    refusal = referee.next()
    assert isinstance(refusal, Refusal)
    assert json.loads(referee.bye(refusal.detail))["reason"] == (
        "this end speaks protocol 1, the other end speaks protocol 2"
    )


LINES = [
    ACT_1, ACT_2, ACT_1.replace(b"\n", b"\r\n"), HELLO, b"\n", b" \r\n", b"R7\n", b"{\n", b'{"type":"log"}\n',
    b'{"type":"ready"}\n', b'{"type":"pong"}\n', b'{"type":"act","id":1.0}\n', b"\xff\n", b"\0" * 5,
    b"y" * 40, b"[" * 9, '{"type":"act","id":1,"action":"caf\u00e9\u2028"}\n'.encode(),
]  # fmt: skip
streams = st.lists(st.sampled_from(LINES) | st.binary(max_size=12), max_size=12).map(b"".join)


@given(data=st.data(), state=st.sampled_from(State), stream=streams)
@settings(max_examples=200)
def test_cutting_the_stream_anywhere_gives_the_same(data: st.DataObject, state: State, stream: bytes) -> None:
    whole = new_referee(state)
    if stream:
        whole.receive(stream)
    expected = all_received(whole)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    referee, found = new_referee(state), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        if start < end:
            referee.receive(stream[start:end])
            found += all_received(referee)
    assert found == expected
    assert referee.state is whole.state


@given(state=st.sampled_from(State), stream=st.binary(max_size=300) | streams)
@settings(max_examples=200)
def test_no_bytes_raise(state: State, stream: bytes) -> None:
    referee = new_referee(state)
    referee.receive(stream)
    referee.receive(b"")
    *received, closed = all_received(referee)
    assert isinstance(closed, Closed)
    assert all(isinstance(one, BotHello | Ready | Act | Pong | Stale | Refusal) for one in received)
    assert sum(isinstance(one, Act) for one in received) <= (state is State.ASKED)


@given(stream=st.binary(max_size=300))
def test_no_bytes_raise_in_the_bot_either(stream: bytes) -> None:
    bot = new_pair(State.ASKED).bot
    bot.receive(stream)
    bot.receive(b"")
    while not isinstance(bot.next(), Closed):
        pass
