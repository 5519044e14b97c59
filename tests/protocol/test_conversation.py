"""Both ends over a wire: whole connections, and every message as it is written in the design."""

import json

import pytest
from msgspec.structs import replace

from lastcard.protocol import (
    NEED_DATA,
    Act,
    BotHello,
    Bye,
    Closed,
    End,
    Events,
    Fault,
    LocalProtocolError,
    Ready,
    RefereeConversation,
    RefereeHello,
    Stale,
    StaleReason,
    State,
    encode_event,
)
from tests.protocol.pairs import START, new_pair, new_referee

SKIP = encode_event({"type": "skip", "seat": 0})


def test_a_whole_connection_with_two_matches() -> None:
    pair = new_pair(State.NEW)
    hello = pair.to_bot(pair.referee.hello(referee="lastcard 0.1.0", start_ms=30_000))
    assert hello == RefereeHello(1, "lastcard 0.1.0", 30_000, 65_536)
    answer = pair.to_referee(pair.bot.hello("greedy", "1.0", ["events", "ready"]))
    assert answer == BotHello(1, "greedy", "1.0", ["events", "ready"])
    assert pair.referee.features == {"events", "ready"}
    for first_id in (1, 3):
        assert pair.to_bot(pair.referee.start(START)) == START
        assert pair.to_referee(pair.bot.ready()) == Ready()
        for number in (first_id, first_id + 1):
            assert pair.ask().id == number == pair.referee.open_id == pair.bot.open_id
            assert pair.to_referee(pair.bot.act("play R7 uno", note="why")) == Act(number, "play R7 uno", "why")
            assert [pair.referee.open_id, pair.bot.open_id] == [None, None]
            assert bytes(pair.to_bot(pair.referee.events([SKIP])).events[0]) == bytes(SKIP)
        end = End(match="6f0c", places=[2, 1, 3], scores=[120, 512, 88], events=[SKIP])
        assert pair.to_bot(pair.referee.end(end)).scores == [120, 512, 88]
    assert pair.to_bot(pair.referee.bye("done")) == Bye("done")
    assert pair.referee.state is State.CLOSED
    pair.referee.receive(b"")
    assert pair.referee.next() == Closed()


def test_a_fault_closes_the_ask_and_the_next_one_is_answered() -> None:
    pair = new_pair(State.ASKED)
    fault = Fault(id=1, kind="illegal", detail="not one of legal", strikes=1, of=3, applied="draw")
    assert pair.to_bot(pair.referee.fault(fault)) == fault
    assert pair.referee.state is State.PLAYING
    with pytest.raises(LocalProtocolError):
        pair.bot.act("draw")
    assert pair.ask().id == 2
    assert pair.to_referee(pair.bot.act("draw")) == Act(2, "draw")


def test_a_fault_of_something_else_leaves_the_ask_open() -> None:
    pair = new_pair(State.ASKED)
    pair.to_bot(pair.referee.fault(Fault(kind="malformed", detail="line 3", strikes=1, of=3)))
    assert pair.referee.open_id == 1
    assert pair.to_referee(pair.bot.act("draw")) == Act(1, "draw")


def test_an_ask_sent_again_keeps_its_id() -> None:
    pair = new_pair(State.ASKED)
    assert pair.ask(again=True, move_ms=200).id == 1
    assert pair.to_referee(pair.bot.act("draw")) == Act(1, "draw")


def test_a_connection_that_takes_over_keeps_the_id() -> None:
    pair = new_pair(State.NEW)
    pair.referee = RefereeConversation(first_id=17)
    pair.greet()
    pair.to_bot(pair.referee.start(START))
    pair.to_referee(pair.bot.ready())
    assert pair.ask().id == 17
    assert pair.to_referee(pair.bot.act("draw")) == Act(17, "draw")


def test_an_ask_that_was_closed_untold_gives_way_to_the_next() -> None:
    pair = new_pair(State.ASKED)
    pair.referee.close_ask()
    assert pair.ask().id == 2
    pair.referee.receive(b'{"type":"act","id":1,"action":"draw"}\n')
    late = pair.referee.next()
    assert isinstance(late, Stale)
    assert late.reason is StaleReason.OLDER
    assert pair.to_referee(pair.bot.act("draw")) == Act(2, "draw")


def test_the_end_of_a_match_closes_the_ask() -> None:
    pair = new_pair(State.ASKED)
    pair.to_bot(pair.referee.end(End(match="6f0c", places=[1, 2], scores=[0, 0], events=[])))
    assert pair.referee.open_id is pair.bot.open_id is None


def test_no_bytes_come_after_the_end_of_input() -> None:
    referee = new_referee(State.ASKED)
    referee.receive(b'{"type":"act",')
    referee.receive(b"")
    referee.receive(b"")
    assert referee.next() == Closed(b'{"type":"act",', 14)
    assert referee.next() == Closed(b'{"type":"act",', 14)
    with pytest.raises(LocalProtocolError):
        referee.receive(b"x")


def test_whole_lines_before_the_end_of_input_count() -> None:
    referee = new_referee(State.ASKED)
    referee.receive(b'{"type":"act","id":1,"action":"draw"}\n')
    referee.receive(b"")
    assert referee.next() == Act(1, "draw")
    assert referee.next() == Closed()


def test_the_lines_of_the_referee_are_those_of_the_design() -> None:
    referee = new_referee(State.NEW)
    assert referee.hello(referee="lastcard 0.1.0", start_ms=30_000) == (
        b'{"type":"hello","protocol":1,"referee":"lastcard 0.1.0","start_ms":30000,"max_line":65536}\n'
    )
    referee.receive(b'{"type":"hello","protocol":1,"name":"greedy","version":"1.0","features":["ping"]}\n')
    assert isinstance(referee.next(), BotHello)
    assert referee.start(START) == (
        b'{"type":"start","match":"6f0c","edition":"mario-kart","options":{"target":500,"catch":"asked"},'
        b'"seat":1,"players":["a","greedy","b"],"limits":{"move_ms":1000,"bank_ms":10000,"strikes":3},'
        b'"bot_seed":123456789}\n'
    )
    assert referee.ask("turn", ["draw"], {"round": 1}, [SKIP], move_ms=1000, bank_ms=8412, used_ms=3) == (
        b'{"type":"ask","id":1,"kind":"turn","legal":["draw"],"state":{"round":1},'
        b'"events":[{"type":"skip","seat":0}],"move_ms":1000,"bank_ms":8412,"used_ms":3}\n'
    )
    fault = Fault(id=1, kind="illegal", detail="...", strikes=1, of=3, applied="draw")
    assert referee.fault(fault) == (
        b'{"type":"fault","id":1,"kind":"illegal","detail":"...","strikes":1,"of":3,"applied":"draw"}\n'
    )
    assert referee.events([SKIP, SKIP]) == (
        b'{"type":"events","events":[{"type":"skip","seat":0},{"type":"skip","seat":0}]}\n'
    )
    assert referee.ping() == b'{"type":"ping"}\n'
    assert referee.end(End(match="6f0c", places=[2, 1, 3], scores=[120, 512, 88], events=[])) == (
        b'{"type":"end","match":"6f0c","places":[2,1,3],"scores":[120,512,88],"events":[]}\n'
    )
    assert referee.bye("done") == b'{"type":"bye","reason":"done"}\n'


def test_what_does_not_apply_is_absent() -> None:
    referee = new_referee(State.PLAYING)
    ask = json.loads(referee.ask("turn", ["draw"], {}, []))
    assert ask.keys() == {"type", "id", "kind", "legal", "state", "events"}
    fault = json.loads(referee.fault(Fault(kind="malformed", detail="", strikes=1, of=3)))
    assert fault.keys() == {"type", "kind", "detail", "strikes", "of"}
    assert "resumed" not in json.loads(new_referee(State.IDLE).start(START))


def test_a_resumed_match_says_so() -> None:
    resumed = replace(START, resumed=True)
    assert json.loads(new_referee(State.IDLE).start(resumed))["resumed"] is True


def test_the_lines_of_a_bot_are_as_short_as_the_eight_line_bots() -> None:
    pair = new_pair(State.GREETING)
    assert pair.bot.hello() == b'{"type":"hello","protocol":1}\n'
    pair = new_pair(State.ASKED)
    assert pair.bot.act("draw") == b'{"type":"act","id":1,"action":"draw"}\n'


def test_a_long_ask_reaches_the_bot_whole() -> None:
    pair = new_pair(State.PLAYING)
    events = [encode_event({"type": "play", "seat": 0, "card": "R7", "x": number}) for number in range(5000)]
    heard = pair.to_bot(pair.referee.events(events))
    assert isinstance(heard, Events)
    assert len(heard.events) == 5000
    assert pair.bot.next() is NEED_DATA
