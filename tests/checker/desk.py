"""The log held against what has to stand there: events, decisions, seats that leave. Knows no rule of play.

The auditor works out what comes next and asks here whether the log says the same; only what players are free to choose
is taken from the log. The books are kept by the way.
"""

from collections.abc import Callable, Sequence

from tests.checker.books import Books, Misplaced
from tests.checker.lines import Fields, Lines

OptionValue = str | int


FAULTS = "startup version timeout malformed illegal oversize flood stall eof crash".split()
"""The kinds of fault that cost a decision or a seat."""


class LastSeat(Exception):
    """All seats but one have left."""


class Desk:
    """What all parts of the audit share."""

    def __init__(self, lines: Lines, books: Books, options: dict[str, OptionValue], deck: list[str]) -> None:
        self.lines = lines
        self.books = books
        self.options = options
        self.deck = deck
        """The cards of every round that is dealt, in printed order."""
        self.script: list[int] = []
        """What the next presses eject, where a position says so."""
        self.decisions = 0
        self.turns = 0
        """Turns of the round that have ended."""
        self.passes = 0
        """Turns in a row in which nothing could be done."""
        self.stirred = False
        """Whether this turn a card was laid, or there was one to draw."""
        self.passed_on = False
        """Whether another seat has had, or lost, a turn in this round."""
        self.stack = 0
        """What waits for the seat on turn when draw cards are stacked: cards or presses."""

    def option_is(self, name: str, value: str) -> bool:
        """Whether an option has this value. One that the edition does not know has none."""
        return self.options.get(name) == value

    # ---- events

    def event(self, kind: str, **fields: object) -> None:
        """This event is next."""
        self.events([{"type": kind, **fields}])

    def events(self, expected: Sequence[Fields]) -> None:
        """These events are next. They are one movement: the cards are counted after the last."""
        for event in expected:
            self.lines.expect({"type": "event", "event": event})
            self.keep(event)
        try:
            self.books.check()
        except Misplaced as misplaced:
            raise self.lines.wrong(str(misplaced)) from None

    def keep(self, event: Fields) -> None:
        """Moves the cards of an event in the books."""
        try:
            self.books.read(event)
        except Misplaced as misplaced:
            raise self.lines.wrong(str(misplaced)) from None

    # ---- decisions

    def ask(self, seat: int, kind: str, legal: Callable[[], list[str]]) -> str:
        """What a seat decided. One that leaves instead takes the fallback, the last legal action."""
        self.let_leave([seat])
        if seat in self.books.out:
            return legal()[-1]
        return self.decision(seat, kind, legal())

    def ask_all(self, seats: Sequence[int], kind: str, legal: list[str]) -> dict[int, str]:
        """What several seats decided at once, by seat; those that leave instead decide nothing."""
        self.let_leave(seats)
        return {seat: self.decision(seat, kind, legal) for seat in sorted(seats) if seat not in self.books.out}

    def decision(self, seat: int, kind: str, legal: list[str]) -> str:
        """The next line is this decision; returns its action."""
        line = self.lines.take()
        self.decisions += 1
        expected = {"type": "decision", "n": self.decisions, "seat": seat, "kind": kind, "legal": legal}
        self.lines.compare({name: line.get(name) for name in expected}, expected)
        action = line.get("action")
        if not isinstance(action, str) or not is_legal(action, legal):
            raise self.lines.wrong(f"{action!r} is not one of: {', '.join(legal)}")
        self.check_how(line, legal)
        return action

    def check_how(self, line: Fields, legal: list[str]) -> None:
        """A decision without a choice is forced, a faulted one gets its fallback, all others are asked."""
        how, fault = line.get("how"), line.get("fault")
        expected = "forced" if len(legal) == 1 else "asked" if fault is None else "fallback"
        if how != expected or (how == "forced" and fault is not None):
            raise self.lines.wrong(f"a decision with {len(legal)} legal actions and fault {fault} is not {how!r}")
        if how != "asked" and line["action"] != legal[-1]:
            raise self.lines.wrong(f"{how} but not the last legal action {legal[-1]!r}")
        if fault is not None:
            self.check_fault(line["seat"], fault)
        extra = set(line) - {"type", "n", "seat", "kind", "legal", "action", "how", "fault", "t"}
        if extra:
            raise self.lines.wrong(f"a decision has no {', '.join(sorted(extra))}")

    def check_fault(self, seat: int, kind: object) -> None:
        """A known kind; and if the log holds faults of this seat, one of theirs."""
        if kind not in (self.lines.faults.get(seat) or FAULTS):
            raise self.lines.wrong(f"seat {seat} had no fault {kind!r}")

    def let_leave(self, asked: Sequence[int] = ()) -> None:
        """Forfeits may stand wherever a decision or a deal is next; once all who are asked have left, it is taken."""
        while is_forfeit(self.lines.next()) and not (asked and self.books.out.issuperset(asked)):
            event = self.lines.take()["event"]
            if event.keys() != {"type", "seat", "why"}:
                raise self.lines.wrong("a forfeit has the members seat and why, and no others")
            if event["seat"] not in self.books.in_play():
                raise self.lines.wrong(f"seat {event['seat']} is not in play and cannot leave")
            self.check_fault(event["seat"], event["why"])
            self.keep(event)
            if len(self.books.in_play()) == 1:
                raise LastSeat


def is_forfeit(line: Fields) -> bool:
    """Whether a seat leaves here."""
    event = line.get("event")
    return line.keys() == {"type", "event"} and isinstance(event, dict) and event.get("type") == "forfeit"


def is_legal(action: str, legal: list[str]) -> bool:
    """Whether it is listed; the call is never listed, and any play may carry it."""
    return action in legal or (action.startswith("play ") and action.removesuffix(" uno") in legal)
