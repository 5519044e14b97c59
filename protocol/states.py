"""The conversation's states and the one table of what may be said in which. Knows no role, no clock.

Both ends step through the same table, so neither can be kinder to itself than to the other. A missing row is
the error. What is *said* here is finer than the message types: `hello` of either end, `start` to a bot that
answers it or not, the end of an ask by an answer or without one.
"""

from enum import StrEnum
from typing import Final


class State(StrEnum):
    """How far the conversation is."""

    NEW = "new"
    """Nothing said."""
    GREETING = "greeting"
    """The referee has said hello; the bot owes its hello."""
    IDLE = "idle"
    """Between matches."""
    STARTING = "starting"
    """A match was told to a bot that listed `ready`; it owes `ready`."""
    PLAYING = "playing"
    """In a match; the bot owes nothing."""
    ASKED = "asked"
    """In a match; the bot owes an answer."""
    CLOSED = "closed"
    """Bye was said."""

    __hash__ = str.__hash__  # in C, where Enum's own is in Python: the table is looked at twice a decision


class Said(StrEnum):
    """What either end may say."""

    REFEREE_HELLO = "hello of the referee"
    BOT_HELLO = "hello of the bot"
    START = "start"
    START_READY = "start to a bot that answers with ready"
    READY = "ready"
    ASK = "ask"
    ASK_AGAIN = "the same ask again"
    ACT = "act"
    CLOSE_ASK = "the end of an ask without an answer"
    EVENTS = "events"
    FAULT = "fault"
    END = "end"
    PING = "ping"
    PONG = "pong"
    BYE = "bye"

    __hash__ = str.__hash__


# A pong may be overtaken by the referee's next line, so it may come in any state after hello; who waits for
# one is counted outside the table. An `end` while asked happens when others' faults end the match.
TABLE: Final[dict[State, dict[Said, State]]] = {
    State.NEW: {
        Said.REFEREE_HELLO: State.GREETING,
        Said.BYE: State.CLOSED,
    },
    State.GREETING: {
        Said.BOT_HELLO: State.IDLE,
        Said.BYE: State.CLOSED,
    },
    State.IDLE: {
        Said.START: State.PLAYING,
        Said.START_READY: State.STARTING,
        Said.PING: State.IDLE,
        Said.PONG: State.IDLE,
        Said.BYE: State.CLOSED,
    },
    State.STARTING: {
        Said.READY: State.PLAYING,
        Said.FAULT: State.STARTING,
        Said.END: State.IDLE,
        Said.PONG: State.STARTING,
        Said.BYE: State.CLOSED,
    },
    State.PLAYING: {
        Said.ASK: State.ASKED,
        Said.EVENTS: State.PLAYING,
        Said.FAULT: State.PLAYING,
        Said.END: State.IDLE,
        Said.PING: State.PLAYING,
        Said.PONG: State.PLAYING,
        Said.BYE: State.CLOSED,
    },
    State.ASKED: {
        Said.ACT: State.PLAYING,
        Said.ASK_AGAIN: State.ASKED,
        Said.CLOSE_ASK: State.PLAYING,
        Said.FAULT: State.ASKED,
        Said.END: State.IDLE,
        Said.PONG: State.ASKED,
        Said.BYE: State.CLOSED,
    },
    State.CLOSED: {},
}


def after(state: State, said: Said) -> State | None:
    """The state that follows, or None where this may not be said."""
    return TABLE[state].get(said)
