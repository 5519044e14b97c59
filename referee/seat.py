"""One player in one match: what waits to be told to it, its clock and strikes, and how it is asked. Knows no rules.

`ask` ends in an action or a fault, whatever the bot does, and says how long it took. The good case is one write and
one read; everything else is looked at line by line.
"""

from msgspec import Raw, Struct

from lastcard.engine import View
from lastcard.protocol import (
    EVENTS_WAIT,
    NEED_DATA,
    Act,
    Closed,
    End,
    Received,
    Refusal,
    RefusalKind,
    Stale,
    Start,
)
from lastcard.protocol import Fault as FaultLine
from lastcard.referee.channel import Sent
from lastcard.referee.faults import COST, MOST_STALE, Fault, FaultKind, Phase
from lastcard.referee.limits import Clock
from lastcard.referee.player import Player

MANY = 32
"""Waiting events from which on their bytes are counted; so few are never too long."""


class Answer(Struct, kw_only=True):
    """How an ask ended: with an action, or with a fault."""

    action: str | None = None
    fault: Fault | None = None
    note: str = ""
    ms: float = 0.0
    lag_ms: float = 0.0


class Seat:
    """A player's place in one match."""

    def __init__(self, player: Player, number: int) -> None:
        self.player = player
        self.number = number
        self.clock = Clock(player.limits)
        self.strikes = 0
        self.stale = 0
        self.restarts = player.limits.restarts
        self.minor: list[Fault] = []
        """Faults that cost nothing and have not been logged yet."""
        self._waiting: list[Raw] = []
        self._waiting_bytes = 0
        self._this_round: list[Raw] = []
        self._found: Act | None = None

    # ---- telling

    def tell(self, events: list[Raw]) -> None:
        """What this seat may know of what happened; it goes out with the next line, or when it grows long."""
        self._waiting += events
        if self.player.limits.restarts:
            self._this_round += events
        if len(self._waiting) > MANY:  # a size is worth counting only where it could matter
            self._waiting_bytes = sum(map(_size, self._waiting))
            if self._waiting_bytes > EVENTS_WAIT:
                self.flush()

    def flush(self) -> None:
        """Send what waits as an `events` line."""
        if self._waiting and self.player.connection is not None:
            self.player.channel.write_now(self.player.conversation.events(self._waiting))
            self._waiting = []

    def turn_ended(self) -> None:
        """A bot that listed `events` gets them now, to think on other players' time."""
        if "events" in self.player.features:
            self.flush()

    def new_round(self) -> None:
        """A restarted bot is told this round only."""
        self._this_round.clear()

    def tell_fault(self, fault: Fault, ask: int | None) -> None:
        """Tell the bot what it did wrong."""
        if self.player.connection is None:
            return
        line = FaultLine(kind=fault.kind, detail=fault.detail[:500], strikes=fault.strikes, of=fault.of)
        if ask is not None:
            line = FaultLine(
                id=ask, kind=fault.kind, detail=fault.detail[:500], strikes=fault.strikes, of=fault.of,
                applied=fault.applied or "",
            )  # fmt: skip
        self.player.channel.write_now(self.player.conversation.fault(line))

    def tell_end(self, match: str, places: list[int], scores: list[int]) -> None:
        """Tell how the match ended, and what has not been told yet."""
        if self.player.connection is not None:
            end = End(match=match, places=places, scores=scores, events=self._waiting)
            self.player.channel.write_now(self.player.conversation.end(end))
        self._waiting = []

    # ---- starting

    async def start(self, start: Start) -> Fault | None:
        """Greet the bot if it is new, and tell the match; returns why that failed, or None."""
        fault = await self.player.greet(self.number)
        if fault is None:
            self._forget_old_lines()
            fault = await self.player.start(self.number, self.player.conversation.start(start))
        return fault

    def _forget_old_lines(self) -> None:
        """What was printed after the end of the match before belongs to no match."""
        data = self.player.channel.read_now()
        if data:
            self.player.conversation.receive(data)
            self._look_over(Phase.END)

    async def restart(self, start: Start) -> Fault | None:
        """A new process in place of one that died; its next ask holds this round's events."""
        self.restarts -= 1
        await self.player.close()
        fault = await self.start(start)
        self._waiting = self._this_round.copy()
        return fault

    # ---- asking

    async def ask(self, kind: str, legal: tuple[str, ...], view: View) -> Answer:
        """Ask for one of `legal`. Ends at the latest when the seat's time is used up."""
        player, clock = self.player, self.clock
        if player.connection is None:
            return Answer(fault=self._fault(FaultKind.EOF, Phase.ASKED, "the bot does not run", None))
        channel, conversation, limits = player.channel, player.conversation, player.limits
        data = channel.read_now()
        if data is not None:
            conversation.receive(data)
            fault = self._look_over(Phase.BETWEEN)
            if fault is not None:
                return Answer(fault=fault)
        budget = clock.budget_ms() / 1000
        line = conversation.ask(
            kind, legal, view, self._waiting,
            move_ms=limits.move_ms, bank_ms=clock.shown_bank_ms, used_ms=int(clock.used_ms),
        )  # fmt: skip
        self._waiting = []
        asked_at = channel.clock()
        sent = await channel.send(line, asked_at + budget)
        if sent is not Sent.TAKEN:
            return self._unsent(sent, asked_at)
        deadline = channel.sent_at + budget
        while True:
            data = await channel.receive(deadline)
            if data is None:
                return self._late(budget)
            conversation.receive(data)
            item = conversation.next()
            if isinstance(item, Act):
                return self._answered(item)
            fault = self._look_over(Phase.ASKED, item)
            if fault is not None:
                return self._failed(fault)
            if self._found is not None:  # the answer came behind other lines
                return self._answered(self._found)

    def _answered(self, act: Act) -> Answer:
        channel = self.player.channel
        used = max(0.0, channel.read_at - channel.sent_at - channel.lag) * 1000
        self.clock.charge(used)
        self._found = None
        return Answer(action=act.action, note=act.note, ms=used, lag_ms=channel.lag * 1000)

    def _late(self, budget: float) -> Answer:
        channel, conversation = self.player.channel, self.player.conversation
        self.clock.charge(budget * 1000)
        limit = int(budget * 1000)
        fault = self._fault(FaultKind.TIMEOUT, Phase.ASKED, f"no answer within {limit} ms", limit)
        conversation.close_ask()
        return Answer(fault=fault, ms=budget * 1000, lag_ms=channel.lag * 1000)

    def _unsent(self, sent: Sent, asked_at: float) -> Answer:
        channel = self.player.channel
        elapsed = (channel.clock() - asked_at) * 1000
        self.clock.charge(elapsed)
        if sent is Sent.STALLED:
            fault = self._fault(FaultKind.STALL, Phase.ASKED, "the ask was not read in time", int(elapsed))
            fault.forfeits = True
        else:
            fault = self._fault(FaultKind.EOF, Phase.ASKED, "the bot's input is closed", None)
        self.player.conversation.close_ask()
        return Answer(fault=fault, ms=elapsed)

    def _failed(self, fault: Fault) -> Answer:
        channel, conversation = self.player.channel, self.player.conversation
        used = max(0.0, channel.read_at - channel.sent_at - channel.lag) * 1000
        self.clock.charge(used)
        fault.elapsed_ms = int(used)
        if conversation.open_id is not None:
            conversation.close_ask()
        return Answer(fault=fault, ms=used, lag_ms=channel.lag * 1000)

    # ---- looking at what is not a plain answer

    def _look_over(self, phase: Phase, item: Received = NEED_DATA) -> Fault | None:
        """Goes through the lines that are here; the first fault that costs something ends it.

        An answer among them is kept in `_found`.
        """
        conversation = self.player.conversation
        first = item is NEED_DATA
        while True:
            if first:
                item = conversation.next()
            first = True
            match item:
                case Refusal():
                    return self._refused(item, phase)
                case Stale():
                    fault = self._count_stale(item, phase)
                    if fault is not None:
                        return fault
                case Closed():
                    detail = (
                        f"its output ended, after {item.size} bytes without LF" if item.size else "its output ended"
                    )
                    fault = self._fault(FaultKind.EOF, phase, detail, None)
                    fault.received, fault.size = item.partial, item.size
                    return fault
                case Act():
                    self._found = item
                    return None
                case _ if item is NEED_DATA:
                    return None
                case _:
                    pass

    def _refused(self, refusal: Refusal, phase: Phase) -> Fault:
        huge = refusal.kind is RefusalKind.HUGE
        kind = FaultKind.MALFORMED if refusal.kind is RefusalKind.MALFORMED else FaultKind.OVERSIZE
        fault = self._fault(kind, phase, refusal.detail, None)
        fault.received, fault.size, fault.forfeits = refusal.raw, refusal.size, huge
        return fault

    def _count_stale(self, stale: Stale, phase: Phase) -> Fault | None:
        """Stale lines are logged and cost nothing, up to the one too many."""
        self.stale += 1
        kind = FaultKind.STALE if self.stale <= MOST_STALE else FaultKind.FLOOD
        detail = f"a line that counts for nothing: {stale.reason}"
        fault = self._fault(kind, phase, detail, None)
        fault.received, fault.size = stale.raw, stale.size
        if kind is FaultKind.FLOOD:
            fault.detail = f"{self.stale} lines that count for nothing, the last: {stale.reason}"
            fault.forfeits = True
            return fault
        self.minor.append(fault)
        return None

    def _fault(self, kind: FaultKind, phase: Phase, detail: str, limit_ms: int | None) -> Fault:
        limits = self.player.limits
        return Fault(
            seat=self.number, kind=kind, phase=phase, detail=detail, limit_ms=limit_ms, strikes=self.strikes,
            of=limits.strikes, repeat=self.player.repeat,
        )  # fmt: skip

    def illegal(self, answer: Answer, legal: tuple[str, ...]) -> None:
        """The answer came in time but names no legal action."""
        shown = ", ".join(legal[:12]) + (", ..." if len(legal) > 12 else "")
        detail = f"{answer.action!r} is not one of: {shown} (a play may end in ' uno')"
        answer.fault = self._fault(FaultKind.ILLEGAL, Phase.ASKED, detail, None)
        answer.fault.received = (answer.action or "").encode("utf-8", "backslashreplace")
        answer.fault.elapsed_ms = int(answer.ms)
        answer.action = None

    def take_minor(self) -> list[Fault]:
        """The faults that cost nothing, since the last call."""
        taken, self.minor = self.minor, []
        return taken

    def strike(self, fault: Fault) -> bool:
        """Counts the fault. True if the seat has to leave the match now."""
        cost = COST[fault.kind]
        if cost.strike:
            self.strikes += 1
        fault.strikes = self.strikes
        if fault.kind in (FaultKind.EOF, FaultKind.CRASH) and self.restarts > 0:
            return self.strikes >= self.player.limits.strikes
        return cost.ends or fault.forfeits or self.strikes >= self.player.limits.strikes


def _size(raw: Raw) -> int:
    return len(bytes(raw))
