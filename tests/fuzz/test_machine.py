"""Sequences of calls to the referee's end, in any order that a referee may make them, while a bot writes anything.

The model beside it is a queue of lines and a handful of numbers; what the bot's end hears of it all is checked too.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lastcard.protocol import (
    NEED_DATA,
    TABLE,
    Act,
    BotConversation,
    BotHello,
    Closed,
    End,
    Fault,
    LocalProtocolError,
    Pong,
    Ready,
    RefereeConversation,
    Refusal,
    Said,
    Stale,
    State,
)
from tests.protocol.pairs import ALL_FEATURES, START

OVERSIZE = 90
"""Longest line of the bot here: room for a hello."""

WORDS: dict[str, tuple[bytes, str]] = {
    "malformed": (b"R7\n", "malformed"),
    "half a message": (b'{"type":"act"\n', "malformed"),
    "a type of the referee": (b'{"type":"ask"}\n', "malformed"),
    "blank": (b" \r\n", "blank"),
    "later type": (b'{"type":"later"}\n', "unknown_type"),
    "other version": (b'{"type":"hello","protocol":2}\n', "version"),
    "hello": (b'{"type":"hello","protocol":1}\n', "hello"),
    "full hello": (b'{"type":"hello","protocol":1,"features":["ready","ping"]}\n', "full hello"),
    "ready": (b'{"type":"ready"}\n', "ready"),
    "pong": (b'{"type":"pong"}\n', "pong"),
    "oversize": (b"y" * (OVERSIZE + 9) + b"\n", "oversize"),
}
"""What a bot may write beside acts, and what the model calls it."""


LINES = st.lists(st.sampled_from([*sorted(WORDS), -2, -1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]), min_size=1, max_size=4)
"""Lines of a bot: words, and acts by their distance from the last id."""

Rule = Callable[..., None]


def may(said: Said, *others: Said) -> Callable[[Rule], Rule]:
    """A rule for the states in which one of these may be said."""
    return precondition(lambda self: any(word in TABLE[self.referee.state] for word in (said, *others)))


class RefereesEnd(RuleBasedStateMachine):
    """The conversation, and a model of it."""

    def __init__(self) -> None:
        super().__init__()
        self.referee = RefereeConversation(max_line=OVERSIZE, huge_line=1000)
        self.bot = BotConversation()
        self.state = State.NEW
        self.open = self.last = self.pings = 0
        self.answered = self.ready = False
        self.features: list[str] = []
        self.wire = b""
        self.coming: deque[tuple[int, str, int]] = deque()  # where a line ends on the wire, what it is, its id
        self.written = self.delivered = self.marked = 0
        self.ended = False

    # ---- the bot writes, and the system delivers

    @precondition(lambda self: not self.ended)
    @rule(lines=LINES, cr=st.booleans(), held_back=st.sampled_from([0, 0, 0, 0, 1, 20, 1000]))
    def bot_writes(self, lines: list[str | int], cr: bool, held_back: int) -> None:
        """Some lines, acts by their distance from the last id; the last bytes perhaps do not arrive yet."""
        for line in lines:
            if isinstance(line, str):
                self.write(*WORDS[line], 0)
            else:
                number = max(0, self.last + line)
                self.write(b'{"type":"act","id":%d,"action":"draw"}' % number + b"\r" * cr + b"\n", "act", number)
        if len(self.wire) > held_back:
            self.bytes_arrive(len(self.wire) - held_back)

    def write(self, line: bytes, meaning: str, number: int) -> None:
        self.wire += line
        self.written += len(line)
        self.coming.append((self.written, meaning, number))

    @precondition(lambda self: self.wire)
    @rule(size=st.sampled_from([1, 5, 20, 41, 1000]))
    def some_bytes_arrive(self, size: int) -> None:
        self.bytes_arrive(size)

    def bytes_arrive(self, size: int) -> None:
        chunk, self.wire = self.wire[:size], self.wire[size:]
        self.delivered += len(chunk)
        self.referee.receive(chunk)

    @precondition(lambda self: not self.wire and not self.ended)
    @rule(sure=st.sampled_from([False] * 9 + [True]))
    def output_ends(self, sure: bool) -> None:
        if not sure:
            return
        self.ended = True
        self.referee.receive(b"")
        with pytest.raises(LocalProtocolError):
            self.referee.receive(b"x")

    @precondition(lambda self: self.state not in (State.NEW, State.GREETING, State.CLOSED) and not self.ended)
    @rule(before=st.none() | LINES, behind=LINES, most=st.integers(1, 9))
    def a_turn(self, before: list[str | int] | None, behind: list[str | int], most: int) -> None:
        """What matches mostly consist of: an ask and an answer, with lines of whatever kind around them."""
        if self.state is State.IDLE:
            self.say_start()
        if self.state is State.STARTING:
            self.bot_writes(["ready"], cr=False, held_back=0)
            self.look(20)
        if before:
            self.bot_writes(before, cr=False, held_back=0)
        if self.state is State.PLAYING:
            self.say_ask()
        self.bot_writes(behind, cr=True, held_back=0)
        self.look(most)

    # ---- the referee looks

    @rule(most=st.integers(1, 9))
    def look(self, most: int) -> None:
        for _ in range(most):
            found = self.referee.next()
            assert self.short(found) == self.expected(), found
            assert self.referee.state is self.state
            if found is NEED_DATA:
                return

    def short(self, found: Any) -> str:
        """An outcome in the model's words."""
        match found:
            case Refusal():
                return f"{found.kind}{' owed' if found.owed else ''}"
            case Stale():
                return str(found.reason)
            case Act() | BotHello() | Ready() | Pong():
                return type(found).__name__
            case _:
                return "closed" if isinstance(found, Closed) else "nothing"

    def expected(self) -> str:
        """What the next look has to find, and what it does to the model."""
        if not self.coming or not self.arrived(*self.coming[0]):
            return "closed" if self.ended else "nothing"
        end, meaning, number = self.coming.popleft()
        early = end <= self.marked
        owed = " owed" if self.open and not early else ""
        match meaning:
            case "act":
                return self.expected_act(number, early)
            case "malformed" | "oversize":
                return meaning + owed
            case "version":
                return "version" if self.state is State.GREETING else "unasked"
            case "hello" | "full hello":
                return self.step_if(self.state is State.GREETING, "BotHello", State.IDLE, full=meaning == "full hello")
            case "ready":
                return self.step_if(self.state is State.STARTING, "Ready", State.PLAYING)
            case "pong":
                due = self.pings > 0 and self.state not in (State.NEW, State.GREETING, State.CLOSED)
                self.pings -= due
                return "Pong" if due else "unasked"
            case _:
                return meaning

    def arrived(self, end: int, meaning: str, number: int) -> bool:
        """A line is there with its LF; a long one when it is too long."""
        early = len(WORDS["oversize"][0]) - OVERSIZE - 1 if meaning == "oversize" else 0
        return end - early <= self.delivered

    def step_if(self, due: bool, name: str, following: State, *, full: bool = False) -> str:
        if not due:
            return "unasked"
        if name == "BotHello":
            self.features = ["ready", "ping"] if full else []
        self.ready |= name == "Ready"
        self.state = following
        return name

    def expected_act(self, number: int, early: bool) -> str:
        if number > self.last:
            return "future"
        if number < self.last or number == 0:
            return "older"
        if not self.open:
            return "answered" if self.answered else "late"
        if early:
            return "early"
        self.open, self.answered, self.state = 0, True, State.PLAYING
        return "Act"

    # ---- the referee speaks

    def hears(self, line: bytes) -> Any:
        """What a bot's end makes of the line: never a refusal."""
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        self.bot.receive(line)
        heard = self.bot.next()
        assert not isinstance(heard, Refusal | Stale | Closed)
        assert self.bot.next() is NEED_DATA
        return heard

    @initialize(
        far=st.sampled_from(["", "greeted", "started", "asked", "asked"]),
        features=st.sampled_from([[], ["ready", "ping"], ALL_FEATURES]),
    )
    def begin(self, far: str, features: list[str]) -> None:
        """Mostly the greeting is over with, and often a match has begun."""
        if far:
            self.say_hello()
            self.referee.receive(self.bot.hello("b", "", features))
            assert isinstance(self.referee.next(), BotHello)
            self.features, self.state = [*features], State.IDLE
        if far in ("started", "asked"):
            self.say_start()
        if far == "asked" and self.state is State.PLAYING:
            self.say_ask()

    @may(Said.REFEREE_HELLO)
    @rule()
    def say_hello(self) -> None:
        self.hears(self.referee.hello(referee="lastcard", start_ms=1))
        self.state = State.GREETING

    @may(Said.START)
    @rule()
    def say_start(self) -> None:
        line = self.referee.start(START)
        if self.follows():
            self.hears(line)
        self.state, self.ready = (State.STARTING if "ready" in self.features else State.PLAYING), False

    @may(Said.ASK)
    @rule()
    def say_ask(self) -> None:
        line = self.referee.ask("turn", ["draw", "play R7"], {}, [])
        self.last = self.open = self.last + 1
        self.answered, self.state = False, State.ASKED
        self.marked = max((end for end, *_ in self.coming if end <= self.delivered), default=-1)
        if self.follows():
            assert self.hears(line).id == self.last

    @may(Said.ASK_AGAIN)
    @rule()
    def say_ask_again(self) -> None:
        line = self.referee.ask("turn", ["draw", "play R7"], {}, [], again=True)
        if self.follows():
            assert self.hears(line).id == self.last

    @may(Said.CLOSE_ASK)
    @rule()
    def close_ask(self) -> None:
        """Takes no answer any more, and says so before anything else."""
        self.referee.close_ask()
        self.open, self.state = 0, State.PLAYING
        fault = Fault(id=self.last, kind="timeout", detail="d", strikes=1, of=3, applied="draw")
        line = self.referee.fault(fault)
        if self.follows():
            self.hears(line)

    @may(Said.EVENTS)
    @rule()
    def say_events(self) -> None:
        line = self.referee.events([])
        if self.follows():
            self.hears(line)

    @may(Said.FAULT)
    @rule(closing=st.booleans())
    def say_fault(self, closing: bool) -> None:
        fault = Fault(kind="illegal", detail="d", strikes=1, of=3)
        if closing and self.last:
            fault = Fault(id=self.last, kind="illegal", detail="d", strikes=1, of=3, applied="draw")
        line = self.referee.fault(fault)
        if closing and self.open:
            self.open, self.state = 0, State.PLAYING
        if self.follows():
            self.hears(line)

    @may(Said.END)
    @rule()
    def say_end(self) -> None:
        line = self.referee.end(End(match="m", places=[1, 2], scores=[0, 0], events=[]))
        self.open, self.state = 0, State.IDLE
        if self.follows():
            self.hears(line)

    @may(Said.PING)
    @rule()
    def say_ping(self) -> None:
        if "ping" not in self.features:
            with pytest.raises(LocalProtocolError):
                self.referee.ping()
            return
        line = self.referee.ping()
        self.pings += 1
        if self.follows():
            self.hears(line)

    @may(Said.BYE)
    @rule(sure=st.sampled_from([False] * 9 + [True]))
    def say_bye(self, sure: bool) -> None:
        if sure:
            self.hears(self.referee.bye("done"))
            self.open, self.state = 0, State.CLOSED

    def follows(self) -> bool:
        """Whether the bot's end knows enough to hear the next line as the referee means it.

        It is not told by itself that bytes of somebody else were taken for its hello, its ready or its answer.
        """
        if self.bot.state is State.GREETING:
            self.bot.hello("b", "", self.features)
        if self.bot.state is State.STARTING and self.ready:
            self.bot.ready()
        if self.bot.state is State.ASKED and self.answered:
            self.bot.act("draw")
        return True

    # ---- at any time

    def teardown(self) -> None:
        """What may not be said raises and changes nothing."""
        fault = Fault(kind="illegal", detail="d", strikes=1, of=3)
        calls: dict[Said, Any] = {
            Said.REFEREE_HELLO: lambda: self.referee.hello(referee="", start_ms=1),
            Said.ASK: lambda: self.referee.ask("turn", ["draw"], {}, []),
            Said.ASK_AGAIN: lambda: self.referee.ask("turn", ["draw"], {}, [], again=True),
            Said.CLOSE_ASK: self.referee.close_ask,
            Said.EVENTS: lambda: self.referee.events([]),
            Said.FAULT: lambda: self.referee.fault(fault),
            Said.END: lambda: self.referee.end(End(match="m", places=[], scores=[], events=[])),
            Said.BYE: lambda: self.referee.bye(""),
        }
        for said, call in calls.items():
            if said not in TABLE[self.state]:
                with pytest.raises(LocalProtocolError):
                    call()
        self.numbers_agree()

    @invariant()
    def numbers_agree(self) -> None:
        referee = self.referee
        assert referee.state is self.state
        assert (referee.open_id or 0, referee.last_id) == (self.open, self.last)
        assert referee.pong_owed == (self.pings > 0)
        assert (self.open > 0) == (self.state is State.ASKED)
        assert sorted(referee.features) == sorted(self.features)

    @invariant()
    def nothing_grows(self) -> None:
        waiting = sum(end <= self.delivered for end, *_ in self.coming)
        assert len(self.referee._lines._held) + len(self.referee._lines._chunk) <= (waiting + 1) * (OVERSIZE + 12)


RefereesEnd.TestCase.settings = settings(max_examples=120, stateful_step_count=40)
TestRefereesEnd = RefereesEnd.TestCase


@pytest.mark.soak
def test_many_sequences_of_calls() -> None:
    run_state_machine_as_test(RefereesEnd, settings=settings(max_examples=2000, stateful_step_count=80))
