"""Rebuilds a match from its log, step by step, and compares every event. Knows no bot and no clock.

The log gives seed, options and actions; all else has to come out of the engine again.
"""

from collections.abc import Iterator, Mapping
from typing import cast

import msgspec
from msgspec import Struct

from lastcard.engine import Event, LastcardError, Match, Rules, from_setup
from lastcard.referee.log_reader import Line, Log, LogError


class Step(Struct, kw_only=True):
    """Something that happened: the decisions that led to it, and the events."""

    number: int
    """Of the line it begins with, from 1."""
    decisions: list[Line]
    events: list[Line]
    faults: list[Line]


class Difference(Struct, kw_only=True):
    """Where the log and the engine part for the first time."""

    line: int
    what: str
    logged: str
    rebuilt: str
    position: str


class Verdict(Struct, kw_only=True):
    """What `--verify` found."""

    difference: Difference | None
    incomplete: str
    steps: int
    digest: str


class Parted(Exception):
    """The log and the engine part here: at the line with this place, or at the one that is looked at."""

    def __init__(self, what: str, logged: object, rebuilt: object, place: int | None = None) -> None:
        super().__init__(what)
        self.what, self.logged, self.rebuilt, self.place = what, logged, rebuilt, place


class RanOut(Exception):
    """The log stops here."""


HEADER: tuple[tuple[str, type, str], ...] = (
    ("edition", str, "the name of an edition"),
    ("options", dict, "an object of options"),
    ("seats", int, "a number of seats"),
    ("seed", str, "a seed"),
    ("position", dict, "a position, or no such field"),
)
"""What the first line of a log has to hold for a match to be opened from it."""


def opened(log: Log) -> tuple[Match, list[Event]]:
    """The match of the log before its first round, or in its position. Raises LogError."""
    header = log.header
    for name, kind, expected in HEADER:
        if not isinstance(header.get(name), kind) and (name in header or name != "position"):
            raise LogError(f"{log.path}: line 1: {name}: expected {expected}")
    try:
        rules = Rules.of(cast("str", header["edition"]), cast("Mapping[str, object]", header["options"]))
        if "position" in header:
            return from_setup(rules, cast("Mapping[str, object]", header["position"]), play_on=True)
        return Match(rules, cast("int", header["seats"]), cast("str", header["seed"])), []
    except LastcardError as error:
        raise LogError(f"{log.path}: line 1 does not open a match: {error}") from error


class Rebuilding:
    """A match being rebuilt from a log."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.match, self.opening = opened(log)
        self.place = 1
        self.decisions = 0

    def steps(self) -> Iterator[Step]:
        """Every step, compared. Raises Parted or RanOut."""
        self.check_header()
        if "position" in self.log.header:
            yield self.compare(self.place, [], self.opening)
        while not self.match.over:
            yield self.step()
        self.closing()

    def check_header(self) -> None:
        """What the first line says twice has to agree with itself."""
        header, match = self.log.header, self.match
        rebuilt: dict[str, object] = {
            "edition": match.rules.edition.name,
            "options": match.rules.options,
            "seed": match.seed,
            "seats": match.seats,
            "rounds": match.rules.options.get("rounds"),
            "target": match.rules.options.get("target"),
        }
        for name, value in rebuilt.items():
            if header.get(name) != value:
                raise Parted(f"the match's {name}", header.get(name), value, 0)

    def peek(self) -> Line:
        """The next line that is no fault."""
        while self.place < len(self.log.lines) and self.log.lines[self.place]["type"] == "fault":
            self.place += 1
        if self.place < len(self.log.lines):
            return self.log.lines[self.place]
        if self.log.damage:
            raise Parted(self.log.damage, None, "a line of the log", len(self.log.lines))
        raise RanOut

    def step(self) -> Step:
        """The next step of the match."""
        begun = self.place
        line = self.peek()
        match line["type"]:
            case "event":
                return self.forfeit(begun, event_of(line))
            case "round":
                return self.deal(begun, line)
            case "decision":
                return self.act(begun)
            case other:
                raise Parted("the match goes on", other, "round, decision or event")

    def forfeit(self, begun: int, event: Line) -> Step:
        """A seat leaves the match: the one thing that happens without a decision."""
        seat, why = event.get("seat"), event.get("why")
        if event.get("type") != "forfeit" or type(seat) is not int or not isinstance(why, str):
            raise Parted("an event that nothing led to", event, None)
        if not 0 <= seat < self.match.seats or seat in self.match.out:
            raise Parted("the seat that forfeits", seat, "a seat in play")
        return self.compare(begun, [], self.match.forfeit(seat, why))

    def deal(self, begun: int, line: Line) -> Step:
        """A round is dealt."""
        if self.match.decision is not None:
            raise Parted("a round begins while a decision is open", line, None)
        events = self.match.deal()
        rebuilt = {
            "round": self.match.round,
            "dealer": self.match.dealer,
            "deck": self.match.deck_as_dealt(events),
        }
        for name, value in rebuilt.items():
            if line.get(name) != value:
                raise Parted(f"the round's {name}", line.get(name), value)
        self.place += 1
        return self.compare(begun, [], events)

    def act(self, begun: int) -> Step:
        """A decision is taken, or several at the same time."""
        match, taken = self.match, list[Line]()
        decision = match.decision
        if decision is None:
            raise Parted("a decision where none is open", self.peek(), None)
        actions: dict[int, str] = {}
        while len(actions) < len(decision.seats):
            line = self.peek()
            if line["type"] != "decision":
                raise Parted("a decision is missing", line["type"], f"seats {list(decision.seats)} decide")
            waited = [seat for seat in decision.seats if seat not in actions]
            seat, action = self.check_decision(line, decision.kind, waited)
            actions[seat] = action
            taken.append(line)
            self.place += 1
        return self.compare(begun, taken, match.act(actions))

    def check_decision(self, line: Line, kind: str, waited: list[int]) -> tuple[int, str]:
        """The decision is one that is open, and its action is legal: who took which."""
        self.decisions += 1
        seat, action = line.get("seat"), line.get("action")
        if type(seat) is not int or seat not in waited:
            raise Parted("the seat that decides", seat, waited)
        legal = self.match.legal(seat)
        how = how_taken(line, len(legal))
        rebuilt = {"n": self.decisions, "kind": kind, "legal": list(legal), "how": how}
        for name, value in rebuilt.items():
            if line.get(name) != value:
                raise Parted(f"the decision's {name}", line.get(name), value)
        if not isinstance(action, str) or not self.match.is_legal(seat, action):
            raise Parted("the action", action, list(legal))
        if how != "asked" and action != legal[-1]:
            raise Parted(f"the action taken as {how}", action, legal[-1])
        return seat, action

    def compare(self, begun: int, decisions: list[Line], events: list[Event]) -> Step:
        """The events stand in the log."""
        for event in events:
            line = self.peek()
            rebuilt = plain(event)
            if line["type"] != "event" or event_of(line) != rebuilt:
                raise Parted("the event", line.get("event", line["type"]), rebuilt)
            self.place += 1
        faults = [line for line in self.log.lines[begun : self.place] if line["type"] == "fault"]
        return Step(number=begun + 1, decisions=decisions, events=[plain(event) for event in events], faults=faults)

    def closing(self) -> None:
        """The result and the digest are right too."""
        line, match = self.peek(), self.match
        rebuilt = {"type": "result", "places": match.places, "scores": match.scores, "reason": match.reason}
        if {name: line.get(name) for name in rebuilt} != rebuilt:
            raise Parted("the result", line, rebuilt)
        self.place += 1
        line = self.peek()
        if line["type"] != "end":
            raise Parted("the match is over", line["type"], "end")
        if self.place + 1 < len(self.log.lines) or self.log.damage:
            raise Parted("something stands behind the end", None, None, self.place + 1)
        if line.get("digest") != self.log.digest():
            raise Parted("the digest", line.get("digest"), self.log.digest())


def verify(log: Log) -> Verdict:
    """Rebuilds the match and reports the first difference. Raises LogError if the log opens no match."""
    if not log.lines:
        return Verdict(difference=None, incomplete=log.problem, steps=0, digest="")
    rebuilding = Rebuilding(log)
    steps = 0
    try:
        for _ in rebuilding.steps():
            steps += 1
    except Parted as parted:
        return Verdict(difference=difference(parted, rebuilding), incomplete="", steps=steps, digest="")
    except RanOut:
        incomplete = log.problem or f"it stops after line {len(log.lines)}, before the match is over"
        return Verdict(difference=None, incomplete=incomplete, steps=steps, digest="")
    return Verdict(difference=None, incomplete=log.problem, steps=steps, digest=log.digest())


def difference(parted: Parted, rebuilding: Rebuilding) -> Difference:
    """The difference with its line and with where the match stands."""
    place = rebuilding.place if parted.place is None else parted.place
    return Difference(
        line=place + 1,
        what=parted.what,
        logged=text(parted.logged),
        rebuilt=text(parted.rebuilt),
        position=position(rebuilding.match),
    )


def how_taken(line: Line, legal: int) -> str:
    """How a decision with so many legal actions was taken: a fault is what makes one a fallback."""
    if legal == 1:
        return "forced"
    return "fallback" if isinstance(line.get("fault"), str) else "asked"


def event_of(line: Line) -> Line:
    """The event in an `event` line."""
    event = line.get("event")
    return cast("Line", event) if isinstance(event, dict) else {}


def plain(event: Event) -> Line:
    """The event as it comes out of JSON."""
    return msgspec.json.decode(msgspec.json.encode(event), type=dict[str, object])


def text(value: object) -> str:
    """A value as one line of JSON."""
    return "nothing" if value is None else msgspec.json.encode(value).decode()


def position(match: Match) -> str:
    """Where the rebuilt match stands, in the notation of positions."""
    if match.top is None:
        return "before the first deal"
    return text(
        {
            "round": match.round,
            "turn": match.turn,
            "hands": [match.hand_of(seat) for seat in range(match.seats)],
            "top": match.top,
            "color": match.color,
            "direction": match.direction,
            "draw_pile": len(match.pile),
            "scores": match.scores,
        }
    )
