"""Conversations that have come as far as a test needs, and the pieces they are made of; no real bot."""

from typing import Any

from lastcard.protocol import (
    NEED_DATA,
    BotConversation,
    Closed,
    Limits,
    RefereeConversation,
    Start,
    State,
    encode_event,
)

LEGAL = ["play R7", "play WI", "draw"]
VIEW: dict[str, Any] = {
    "round": 1,
    "dealer": 0,
    "turn": 1,
    "direction": 1,
    "top": "R3",
    "color": "R",
    "hand": ["R7", "B2", "WI"],
    "counts": [5, 3, 7],
    "draw_pile": 61,
    "scores": [0, 0, 0],
    "out": [],
    "before": None,
}
START = Start(
    match="6f0c",
    edition="mario-kart",
    options={"target": 500, "catch": "asked"},
    seat=1,
    players=["a", "greedy", "b"],
    limits=Limits(move_ms=1000, bank_ms=10_000, strikes=3),
    bot_seed=123456789,
)
ALL_FEATURES = ["events", "ready", "ping"]


class Pair:
    """Both ends and a wire between them: what one says, the other hears as the same message."""

    def __init__(self, features: list[str]) -> None:
        self.referee = RefereeConversation()
        self.bot = BotConversation()
        self.features = features

    def to_bot(self, line: bytes) -> Any:
        """Carry a line of the referee over the wire."""
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.bot.receive(line)
        heard = self.bot.next()
        assert self.bot.next() is NEED_DATA
        assert self.bot.state is self.referee.state
        return heard

    def to_referee(self, line: bytes) -> Any:
        """Carry a line of the bot over the wire."""
        self.referee.receive(line)
        received = self.referee.next()
        assert self.referee.next() is NEED_DATA
        assert self.bot.state is self.referee.state
        return received

    def greet(self) -> None:
        self.to_bot(self.referee.hello(referee="lastcard 0.1.0", start_ms=30_000))
        self.to_referee(self.bot.hello("greedy", "1.0", self.features))

    def ask(self, **more: Any) -> Any:
        return self.to_bot(self.referee.ask("turn", LEGAL, VIEW, [encode_event({"type": "skip", "seat": 0})], **more))


def new_pair(state: State, features: list[str] | None = None) -> Pair:
    """A pair in the state."""
    pair = Pair(ALL_FEATURES if features is None else features)
    if state is State.NEW:
        return pair
    if state is State.GREETING:
        pair.to_bot(pair.referee.hello(referee="lastcard 0.1.0", start_ms=30_000))
        return pair
    pair.greet()
    if state in {State.STARTING, State.PLAYING, State.ASKED}:
        pair.to_bot(pair.referee.start(START))
        if pair.referee.state is State.STARTING and state is not State.STARTING:
            pair.to_referee(pair.bot.ready())
    if state is State.ASKED:
        pair.ask()
    if state is State.CLOSED:
        pair.to_bot(pair.referee.bye("done"))
    assert pair.referee.state is state
    return pair


def new_referee(state: State, asks: int = 0) -> RefereeConversation:
    """A referee's end in the state, after this many answered asks."""
    pair = new_pair(State.PLAYING if asks else state)
    for _ in range(asks):
        pair.ask()
        pair.to_referee(pair.bot.act("draw"))
    if asks and state is State.ASKED:
        pair.ask()
    return pair.referee


def all_received(end: RefereeConversation) -> list[Any]:
    """Everything that lies here; Any, as the test knows what it waits for."""
    received: list[Any] = []
    while (one := end.next()) is not NEED_DATA:
        received.append(one)
        if isinstance(one, Closed):
            break
    return received
