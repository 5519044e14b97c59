"""The table, and that both ends keep to it: what it does not have, neither can say or make the other do."""

from collections.abc import Callable

import pytest

from lastcard.protocol import (
    TABLE,
    Act,
    BotConversation,
    End,
    Fault,
    Limits,
    LocalProtocolError,
    Pong,
    RefereeConversation,
    Refusal,
    Said,
    Stale,
    Start,
    State,
    encode,
    encode_event,
)
from tests.protocol.pairs import new_pair, new_referee

ASK = b'{"type":"ask","id":%d,"kind":"turn","legal":["draw","keep"],"state":{},"events":[]}\n'
START = Start(match="m", edition="classic", options={}, seat=0, players=["a", "b"], limits=Limits(), bot_seed=1)
FAULT = Fault(kind="malformed", detail="line 1", strikes=1, of=3)
END = End(match="m", places=[1, 2], scores=[5, 0], events=[])

REFEREE_SAYS: dict[Said, Callable[[RefereeConversation], bytes | None]] = {
    Said.REFEREE_HELLO: lambda end: end.hello(referee="lastcard", start_ms=1),
    Said.START_READY: lambda end: end.start(START),
    Said.ASK: lambda end: end.ask("turn", ["draw", "keep"], {}, [encode_event({"type": "skip", "seat": 1})]),
    Said.ASK_AGAIN: lambda end: end.ask("turn", ["draw", "keep"], {}, [], again=True),
    Said.CLOSE_ASK: lambda end: end.close_ask(),
    Said.EVENTS: lambda end: end.events([]),
    Said.FAULT: lambda end: end.fault(FAULT),
    Said.END: lambda end: end.end(END),
    Said.PING: lambda end: end.ping(),
    Said.BYE: lambda end: end.bye("done"),
}
BOT_SAYS: dict[Said, Callable[[BotConversation], bytes]] = {
    Said.BOT_HELLO: lambda end: end.hello(),
    Said.READY: lambda end: end.ready(),
    Said.ACT: lambda end: end.act("draw"),
    Said.PONG: lambda end: end.pong(),
}
BOT_LINES: dict[Said, bytes] = {
    Said.BOT_HELLO: b'{"type":"hello","protocol":1}\n',
    Said.READY: b'{"type":"ready"}\n',
    Said.ACT: b'{"type":"act","id":1,"action":"draw"}\n',
    Said.PONG: b'{"type":"pong"}\n',
}
REFEREE_LINES: dict[Said, bytes] = {
    Said.REFEREE_HELLO: b'{"type":"hello","protocol":1,"referee":"r","start_ms":1,"max_line":65536}\n',
    Said.START_READY: encode(START),
    Said.ASK: ASK % 2,
    Said.ASK_AGAIN: ASK % 1,
    Said.EVENTS: b'{"type":"events","events":[]}\n',
    Said.FAULT: encode(FAULT),
    Said.END: encode(END),
    Said.PING: b'{"type":"ping"}\n',
    Said.BYE: b'{"type":"bye","reason":"done"}\n',
}
every_state = pytest.mark.parametrize("state", State)


def test_the_table_names_every_state_and_every_word() -> None:
    assert set(TABLE) == set(State)
    assert {said for row in TABLE.values() for said in row} == set(Said)
    assert {state for row in TABLE.values() for state in row.values()} == set(State) - {State.NEW}


@every_state
@pytest.mark.parametrize("said", REFEREE_SAYS)
def test_referee_says(state: State, said: Said) -> None:
    end = new_referee(state)
    following = TABLE[state].get(said)
    if said is Said.PING and state in {State.NEW, State.GREETING}:
        following = None  # there is no list of features yet either
    if following is None:
        with pytest.raises(LocalProtocolError):
            REFEREE_SAYS[said](end)
        assert end.state is state
    else:
        REFEREE_SAYS[said](end)
        assert end.state is following


@every_state
@pytest.mark.parametrize("said", BOT_SAYS)
def test_bot_says(state: State, said: Said) -> None:
    end = new_pair(state).bot
    following = TABLE[state].get(said) if said is not Said.PONG else None  # nobody pinged
    if following is None:
        with pytest.raises(LocalProtocolError):
            BOT_SAYS[said](end)
        assert end.state is state
    else:
        BOT_SAYS[said](end)
        assert end.state is following


@every_state
@pytest.mark.parametrize("said", BOT_LINES)
def test_referee_hears(state: State, said: Said) -> None:
    """A line that is not due changes nothing and is stale; no good line of a bot is ever an error."""
    end = new_referee(state)
    end.receive(BOT_LINES[said])
    received = end.next()
    following = TABLE[state].get(said) if said is not Said.PONG else None
    if following is None:
        assert isinstance(received, Stale)
        assert end.state is state
    else:
        assert not isinstance(received, Stale)
        assert end.state is following


@every_state
@pytest.mark.parametrize("said", REFEREE_LINES)
def test_bot_hears(state: State, said: Said) -> None:
    end = new_pair(state).bot
    end.receive(REFEREE_LINES[said])
    heard = end.next()
    row = TABLE[state]
    if state is State.ASKED and said is Said.ASK:  # another id: the open ask was closed untold
        row = TABLE[row[Said.CLOSE_ASK]]
    if said is Said.ASK_AGAIN and state is not State.ASKED:  # nothing is open, so it is an ask like any other
        said = Said.ASK
    following = row.get(said)
    if following is None:
        assert isinstance(heard, Refusal)
        assert str(state) in heard.detail
        assert end.state is state
    else:
        assert not isinstance(heard, Refusal)
        assert end.state is following


@pytest.mark.parametrize("state", [State.IDLE, State.PLAYING])
def test_ping_and_pong(state: State) -> None:
    pair = new_pair(state)
    pair.to_bot(pair.referee.ping())
    owed_before = pair.referee.pong_owed  # kept apart: mypy takes a property for a constant
    assert pair.to_referee(pair.bot.pong()) == Pong()
    assert (owed_before, pair.referee.pong_owed) == (True, False)
    with pytest.raises(LocalProtocolError):
        pair.bot.pong()


def test_a_pong_may_be_overtaken_by_an_ask() -> None:
    pair = new_pair(State.PLAYING)
    pair.to_bot(pair.referee.ping())
    pair.ask()
    assert pair.to_referee(pair.bot.pong()) == Pong()
    assert pair.referee.state is State.ASKED
    assert pair.to_referee(pair.bot.act("draw")) == Act(1, "draw")


def test_only_a_bot_that_listed_ping_is_pinged() -> None:
    pair = new_pair(State.PLAYING, ["events"])
    with pytest.raises(LocalProtocolError, match="did not list"):
        pair.referee.ping()


def test_a_bot_that_did_not_list_ready_plays_at_once() -> None:
    pair = new_pair(State.IDLE, [])
    pair.to_bot(pair.referee.start(START))
    assert pair.referee.state is State.PLAYING
