"""What the faults of one player have to be, worked out from the record of what passed on its wire; a second referee.

It goes by `spec.md` alone. Time is the mock clock's, so what it expects of a clock is exact.
"""

from math import inf

from lastcard.referee.limits import Limits
from tests.fuzz.course import (
    ANSWER,
    BY_THE_BOT,
    GONE,
    HAIR,
    MOST_LINES_BEFORE_HELLO,
    MOST_STALE,
    PATIENCE,
    PING_EVERY,
    Asked,
    Course,
    Entry,
    is_legal,
)
from tests.fuzz.wire import Happening, Trace


class Judge:
    """Follows one player through all its matches."""

    def __init__(self, trace: Trace, limits: Limits) -> None:
        self.trace = trace
        self.limits = limits
        self.place = 0
        self.course = Course(limits)
        self.playing = False
        self.no_process()

    def no_process(self) -> None:
        """Nobody is there to say anything."""
        self.there = self.greeted = self.closed = self.ended = False
        self.open: Asked | None = None
        self.ready_by = self.hello_by = inf
        self.others = 0
        self.tried_at = 0.0
        self.pings: list[float] = []
        self.features: list[str] = []
        self.waiting: list[str] = []
        """What lies in the referee's buffers when a match begins: all of it counts for nothing, if it is not huge."""

    def next_match(self) -> Course:
        """The course of the next match of the trace."""
        while not self.follow():
            pass
        return self.course

    def follow(self) -> bool:
        """One happening. True at the end of a match."""
        happening = self.trace.happenings[self.place]
        self.place += 1
        self.expire(happening.time + (-HAIR if happening.what in BY_THE_BOT else HAIR))
        name = happening.what.replace(" ", "_")
        follow = getattr(self, f"on_{name}", None)
        if follow is not None:
            follow(happening)
        return happening.what == "over"

    # ---- deadlines

    def expire(self, now: float) -> None:
        """What was due before now and did not come. The referee acts at a deadline, the bot before it or after it."""
        if self.open is not None and now > self.open.since + self.open.budget:
            self.close("timeout", self.open.budget * 1000)
        if now > self.hello_by or now > self.ready_by:
            self.fails_to_start("startup")
        if self.pings and now > self.pings[0] + PING_EVERY:
            self.course.silent_ping = True

    def close(self, kind: str, ms: float, *, forfeits: bool = False) -> None:
        """The open ask ends in this fault."""
        self.open = None
        self.course.clock.charge(ms)
        self.course.add(Entry(frozenset({kind}), ms, forfeits=forfeits), now=True)

    def elapsed(self, now: float) -> float:
        """Milliseconds since the ask."""
        assert self.open is not None
        return (now - self.open.since) * 1000

    def fails_to_start(self, kind: str) -> None:
        """It never plays, or no more."""
        self.course.forget_owed()
        self.hello_by = self.ready_by = inf
        self.there = False
        self.course.add(Entry(frozenset({kind}), forfeits=True), now=True)

    # ---- matches and processes

    def on_begin(self, happening: Happening) -> None:
        """All that is left over of the match before counts here, as lines that count for nothing."""
        self.course, self.playing = Course(self.limits), True
        self.course.was_there = self.there
        waiting, self.waiting = self.waiting, []
        for what in waiting:
            if what == "huge":
                self.course.add(Entry(frozenset({"oversize"}), forfeits=True), now=True)
            if what == "huge" or self.course.count_stale(now=True):
                self.there = False
                return
        if self.closed:
            self.course.add(self.end_of_output(happening.time), now=False)

    def on_over(self, happening: Happening) -> None:
        assert self.open is None, f"{self.trace.name}: a match ended while an answer was owed"
        self.playing = False
        self.waiting = ["huge" if what == "huge" else "stale" for what in self.course.unread]

    def on_launch(self, happening: Happening) -> None:
        self.no_process()
        self.there = True
        self.course.launches += 1
        self.course.told = []
        if self.limits.enforced:
            self.hello_by = happening.time + self.limits.start_ms / 1000

    def on_no_launch(self, happening: Happening) -> None:
        self.no_process()
        self.course.launches += 1
        self.fails_to_start("startup")

    def on_let_go(self, happening: Happening) -> None:
        self.no_process()
        self.course.unread.clear()

    def on_output_closed(self, happening: Happening) -> None:
        """The end of its output: found out now, or when it is next asked."""
        if self.closed or not self.there:
            return
        self.closed = True
        if not self.greeted:
            self.fails_to_start("startup")
            return
        self.ready_by = inf
        if self.open is not None:
            ms = self.elapsed(happening.time)
            self.open = None
            self.course.clock.charge(ms)
            self.course.add(self.end_of_output(happening.time, now=True)._replace(ms=ms), now=True)
        elif self.playing:
            self.course.add(self.end_of_output(happening.time), now=False)

    def on_ended(self, happening: Happening) -> None:
        self.ended = True
        self.on_output_closed(happening)

    def end_of_output(self, since: float, *, now: bool = False) -> Entry:
        """`crash` if the process ends within the patience of the referee, which begins now or at the next ask."""
        ended = since if self.ended else next((other.time for other in self.process() if other.what == "ended"), inf)
        if ended <= since + PATIENCE:
            return Entry(frozenset({"crash"}))
        return Entry(frozenset({"eof"}) if now or ended == inf else GONE)

    def process(self) -> list[Happening]:
        """All that happens to this process from here on, until it is let go."""
        rest = self.trace.happenings[self.place - 1 :]
        end = next((place for place, other in enumerate(rest) if other.what == "let go"), len(rest))
        return rest[:end]

    # ---- what the referee says

    def on_told(self, happening: Happening) -> None:
        self.course.told += happening.line.get("events", [])
        match happening.text:
            case "start" if "ready" in self.features and self.limits.enforced and not self.closed:
                self.ready_by = happening.time + self.limits.start_ms / 1000
                self.course.owed += sum(what != "stale" for what in self.course.unread)
                self.course.settle()
            case "ping":
                self.course.settle()
                self.course.due -= self.closed  # its last words hid its end from this look
                self.pings.append(happening.time)
            case "ask":
                self.course.settle()
                self.tried_at = happening.time
                clock = self.course.clock
                self.course.asks.append(happening.line)
                self.course.shown.append((clock.bank, clock.used))
            case "fault" if happening.line["kind"] != "stale":
                self.course.owed = max(0, self.course.owed - 1)
            case _:
                pass

    def on_looked(self, happening: Happening) -> None:
        if self.playing and self.open is None and self.greeted:
            self.course.look()

    def on_taken(self, happening: Happening) -> None:
        if happening.text == "ask" and self.closed:  # its last words hid its end from the look before
            self.course.clock.charge(0.0)
        elif happening.text == "ask":
            budget = self.course.clock.budget / 1000
            self.open = Asked(happening.id, happening.line["legal"], happening.time, budget)

    def on_stalled(self, happening: Happening) -> None:
        """It does not read."""
        if happening.text == "ask":
            self.close("stall", 0.0, forfeits=True)
        else:
            self.fails_to_start("startup")

    def on_refused(self, happening: Happening) -> None:
        """Its input is closed."""
        if happening.text != "ask":
            return
        ms = (happening.time - self.tried_at) * 1000
        self.course.clock.charge(ms)
        if self.closed:  # of that there is an entry already
            self.course.entries.pop()
        self.course.add(self.end_of_output(happening.time, now=True)._replace(ms=ms), now=True)
        self.closed = True

    # ---- what the bot says

    def on_said(self, happening: Happening) -> None:
        if self.closed or not self.there:
            return
        if not self.greeted:
            self.before_hello(happening)
            return
        match happening.text:
            case "act" if self.open is not None and happening.id == self.open.number:
                self.answers(happening)
            case "malformed" | "oversize" | "huge" | "bad hello":
                self.blunders(happening)
            case "ready" if self.ready_by < inf or ("ready" in self.features and not self.limits.enforced):
                self.ready_by = inf
            case "pong" if self.pings:
                self.pings.pop(0)
            case _:
                self.wastes_a_line(happening)

    def before_hello(self, happening: Happening) -> None:
        match happening.text:
            case "hello":
                self.greeted, self.hello_by = True, inf
                self.features = happening.line["features"]
            case "version":
                self.fails_to_start("version")
            case "bad hello" | "oversize":
                self.fails_to_start("startup")
            case _:
                self.others += 1
                if self.others > MOST_LINES_BEFORE_HELLO:
                    self.fails_to_start("startup")

    def answers(self, happening: Happening) -> None:
        asked, ms = self.open, self.elapsed(happening.time)
        assert asked is not None
        action = happening.line["action"]
        if is_legal(action, asked.legal):
            self.open = None
            self.course.clock.charge(ms)
            self.course.add(Entry(ANSWER, ms, action), now=True)
        else:
            self.close("illegal", ms)

    def blunders(self, happening: Happening) -> None:
        """A line that costs something, now or at the next asked decision; between matches it costs nothing."""
        huge = happening.text == "huge"
        kind = "oversize" if huge or happening.text == "oversize" else "malformed"
        if self.open is not None:
            self.close(kind, self.elapsed(happening.time), forfeits=huge)
        elif not self.playing:
            self.waiting.append("huge" if huge else "stale")
        else:
            starting = self.ready_by < inf
            if starting and huge:
                self.course.forget_owed()
            self.course.add(Entry(frozenset({kind}), forfeits=huge), now=starting and huge)
            if not starting:
                self.course.unread.append("huge" if huge else "costly")
            elif huge:
                self.ready_by = inf
            else:
                self.course.owed += 1

    def wastes_a_line(self, happening: Happening) -> None:
        if not self.playing:
            self.waiting.append("stale")
            return
        if self.ready_by < inf and self.course.stale == MOST_STALE:
            self.course.forget_owed()
        if self.course.count_stale(now=self.open is not None or self.ready_by < inf):
            self.open, self.ready_by = None, inf
