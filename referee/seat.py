"""One player in one match: what waits to be told to it, its clock and strikes, and how it is asked. Knows no rules.

`ask` ends in an action or a fault, whatever the bot does, and says how long it took. The good case is one write and
one read; everything else is looked at line by line.
"""

from msgspec import UNSET, Raw, Struct

from lastcard.engine import View
from lastcard.protocol import (
    EVENTS_WAIT,
    NEED_DATA,
    Act,
    Closed,
    End,
    Ready,
    Start,
)
from lastcard.protocol import Fault as FaultLine
from lastcard.referee.channel import Sent
from lastcard.referee.faults import COST, GONE, PING_EVERY, Fault, FaultKind, Phase
from lastcard.referee.hearing import Hearing
from lastcard.referee.limits import Clock
from lastcard.referee.player import Player

MANY = 32
"""Waiting events from which on their bytes are counted; so few are never too long."""

LONGEST_DETAIL = 500
PART = 512
"""Bytes of an unfinished line that are kept as evidence."""


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
        self.hearing = Hearing(player, number)
        self.restarts = player.limits.restarts
        self._waiting: list[Raw] = []
        self._sized = 0
        self._waiting_bytes = 0
        self._this_round: list[Raw] = []
        self._pinged_at = 0.0

    # ---- telling

    def tell(self, events: list[Raw]) -> None:
        """What this seat may know of what happened; it goes out with the next line, or when it grows long."""
        self._waiting += events
        if self.player.limits.restarts:
            self._this_round += events
        if len(self._waiting) > MANY:  # a size is worth counting only where it could matter
            if not self._sized:
                self._waiting_bytes = 0
            self._waiting_bytes += sum(map(_size, self._waiting[self._sized :]))
            self._sized = len(self._waiting)
            if self._waiting_bytes > EVENTS_WAIT:
                self.flush()

    def flush(self) -> None:
        """Send what waits as an `events` line, unless the bot has ended and nobody has noticed yet."""
        player = self.player
        if self._waiting and player.connection is not None and not player.ended:
            player.channel.write_now(player.conversation.events(self._waiting))
            self._waiting, self._sized = [], 0

    def new_round(self) -> None:
        """A restarted bot is told this round only."""
        self._this_round.clear()

    def tell_fault(self, fault: Fault) -> None:
        """Tell the bot what it did wrong."""
        if self.player.connection is None:
            return
        conversation = self.player.conversation
        asked = fault.phase is Phase.ASKED and fault.kind is not FaultKind.STALE
        line = FaultLine(
            id=conversation.last_id if asked else UNSET,
            kind=fault.kind,
            detail=fault.detail[:LONGEST_DETAIL],
            strikes=fault.strikes,
            of=fault.of,
            applied=UNSET if fault.applied is None else fault.applied,
        )
        self.player.channel.write_now(conversation.fault(line))

    def tell_end(self, match: str, places: list[int], scores: list[int]) -> None:
        """Tell how the match ended, and what has not been told yet."""
        if self.player.connection is not None:
            end = End(match=match, places=places, scores=scores, events=self._waiting)
            self.player.channel.write_now(self.player.conversation.end(end))
        self._waiting, self._sized = [], 0

    def ping(self) -> None:
        """Ask a bot that listed `ping` for a sign of life now and then; without one it forfeits when it is asked."""
        if self.player.connection is None or self.hearing.owing:
            return
        channel, conversation = self.player.channel, self.player.conversation
        now = channel.clock()
        if now - self._pinged_at <= PING_EVERY:
            return
        fault = self.hearing.glance()
        if fault is None and conversation.pong_owed:
            fault = self.hearing.fault(FaultKind.STALL, Phase.BETWEEN, f"no pong within {PING_EVERY:.0f} s")
            fault.limit_ms, fault.elapsed_ms = int(PING_EVERY * 1000), int((now - self._pinged_at) * 1000)
            fault.forfeits = True
        if fault is not None:
            self.hearing.owing.append(fault)
            return
        self._pinged_at = now
        channel.write_now(conversation.ping())

    # ---- starting

    async def start(self, start: Start) -> Fault | None:
        """Greet the bot if it is new, and tell the match; returns why that failed, or None."""
        player = self.player
        if player.connection is not None:
            fault = await self._still_there()
            if fault is not None:
                return fault
        fault = await player.greet(self.number)
        if fault is None:
            fault = await self._tell_start(start)
        return fault

    async def restart(self, start: Start) -> Fault | None:
        """A new process in place of one that died; its next ask holds this round's events."""
        self.restarts -= 1
        await self.player.close(grace=0)
        fault = await self.start(start)
        self._waiting, self._sized = self._this_round.copy(), 0
        return fault

    async def _still_there(self) -> Fault | None:
        """Looks at what came since the match before: it counts as stale lines of this one (F-60).

        A bot that has ended is told the match all the same and found out when it is first asked (F-61): whether its
        end is seen before or after the start is a race, and must not decide how the match goes.
        """
        player = self.player
        while True:
            item = player.conversation.next()
            if item is NEED_DATA:
                data = player.channel.read_now()
                if data is None:
                    return None
                player.heard(data)
                continue
            if isinstance(item, Closed):
                return None
            fault = self.hearing.between_matches(item)
            if fault is not None:
                await player.complete(fault)
                await player.close(grace=0)
                return fault

    async def _tell_start(self, start: Start) -> Fault | None:
        """Tell the match, and wait for `ready` from a bot that listed it."""
        player = self.player
        channel = player.channel
        begun, deadline = channel.clock(), player.start_deadline()
        self._pinged_at = begun
        fault = None
        if await channel.send(player.conversation.start(start), deadline) is Sent.STALLED:
            fault = self.hearing.fault(FaultKind.STARTUP, Phase.START, "the start line was not read")
        elif "ready" in player.features:
            fault = await self._await_ready(deadline)
        if fault is None:
            return None
        if fault.kind is FaultKind.STARTUP:
            fault.detail += f" within {player.limits.start_ms} ms"
            fault.limit_ms, fault.elapsed_ms = player.limits.start_ms, int(1000 * (channel.clock() - begun))
        await player.complete(fault)
        await player.part(fault.detail)
        return fault

    async def _await_ready(self, deadline: float) -> Fault | None:
        """Waits for `ready`. A bot that ends before is found out when it is asked (F-12)."""
        player = self.player
        while True:
            item = player.conversation.next()
            if isinstance(item, Ready | Closed):
                return None
            if item is not NEED_DATA:
                fault = self.hearing.judged(item, Phase.START)
                if fault is not None and fault.forfeits:
                    return fault
                if fault is not None:
                    self.hearing.owing.append(fault)
                continue
            data = await player.channel.receive(deadline)
            if data is None:
                return self.hearing.fault(FaultKind.STARTUP, Phase.START, "no ready")
            player.heard(data)

    # ---- asking

    async def ask(self, kind: str, legal: tuple[str, ...], view: View) -> Answer:
        """Ask for one of `legal`. Ends at the latest when the seat's time is used up."""
        player, clock = self.player, self.clock
        fault = self.hearing.glance()
        if fault is not None:
            return Answer(fault=fault)
        channel, conversation, limits = player.channel, player.conversation, player.limits
        budget = clock.budget_ms() / 1000
        if budget <= 0:
            return Answer(fault=self._no_time_left())
        line = conversation.ask(
            kind, legal, view, self._waiting,
            move_ms=limits.move_ms, bank_ms=clock.shown_bank_ms, used_ms=int(clock.used_ms),
        )  # fmt: skip
        self._waiting, self._sized = [], 0
        asked_at = channel.clock()
        sent = await channel.send(line, asked_at + budget)
        if sent is not Sent.TAKEN:
            return self._unsent(sent, asked_at, budget)
        deadline = channel.sent_at + budget
        part = b""
        while True:
            data = await channel.receive(deadline)
            if data is None:
                return self._late(budget, part)
            player.heard(data)
            item = conversation.next()
            if isinstance(item, Act):
                return self._answered(item)
            fault = self.hearing.look_over(item, Phase.ASKED)
            if fault is not None:
                return self._failed(fault)
            if self.hearing.found is not None:  # the answer came behind other lines
                return self._answered(self.hearing.found)
            part = (part + data).rpartition(b"\n")[2][:PART]

    def _answered(self, act: Act) -> Answer:
        self.hearing.found = None
        return Answer(action=act.action, note=act.note, ms=self._charge(), lag_ms=self.player.channel.lag * 1000)

    def _charge(self) -> float:
        """The time from the ask to what was read last, less our own lateness, is charged to the bot; in ms."""
        channel = self.player.channel
        self.clock.charge((channel.read_at - channel.sent_at - channel.lag) * 1000)
        return self.clock.used_ms

    def _late(self, budget: float, part: bytes) -> Answer:
        channel = self.player.channel
        limit = budget * 1000
        self.clock.charge(limit)
        fault = self.hearing.fault(FaultKind.TIMEOUT, Phase.ASKED, f"no answer within {limit:.0f} ms")
        fault.limit_ms = fault.elapsed_ms = round(limit)
        if part:
            fault.detail += ", only the beginning of a line"
            fault.received = part
        self.player.conversation.close_ask()
        return Answer(fault=fault, ms=limit, lag_ms=channel.lag * 1000)

    def _no_time_left(self) -> Fault:
        """`seat_ms` is used up: this decision is not waited for any more (F-40)."""
        limit, used = self.player.limits.seat_ms, self.clock.thought_ms
        fault = self.hearing.fault(FaultKind.TIMEOUT, Phase.BETWEEN, f"no time left: {used:.0f} of {limit} ms are used")
        fault.limit_ms, fault.elapsed_ms = limit, round(used)
        return fault

    def _unsent(self, sent: Sent, asked_at: float, budget: float) -> Answer:
        channel = self.player.channel
        elapsed = (channel.clock() - asked_at) * 1000
        self.clock.charge(elapsed)
        if sent is Sent.STALLED:
            limit = round(budget * 1000)
            fault = self.hearing.fault(FaultKind.STALL, Phase.ASKED, f"the ask was not read within {limit} ms")
            fault.limit_ms, fault.forfeits = limit, True
        else:
            fault = self.hearing.fault(FaultKind.EOF, Phase.ASKED, "its input is closed")
        fault.elapsed_ms = round(elapsed)
        self.player.conversation.close_ask()
        return Answer(fault=fault, ms=elapsed)

    def _failed(self, fault: Fault) -> Answer:
        used = self._charge()
        fault.elapsed_ms = int(used)
        self.player.conversation.close_ask()
        return Answer(fault=fault, ms=used, lag_ms=self.player.channel.lag * 1000)

    def illegal(self, answer: Answer, legal: tuple[str, ...]) -> None:
        """The answer came in time but names no legal action."""
        shown = ", ".join(legal[:12]) + (", ..." if len(legal) > 12 else "")
        detail = f"{answer.action!r} is not one of: {shown} (a play may end in ' uno')"
        answer.fault = self.hearing.fault(FaultKind.ILLEGAL, Phase.ASKED, detail)
        answer.fault.received = (answer.action or "").encode("utf-8", "backslashreplace")
        answer.fault.elapsed_ms = int(answer.ms)
        answer.action = None

    # ---- what a fault costs

    def take_minor(self) -> list[Fault]:
        """The faults that cost nothing, since the last call."""
        taken, self.hearing.minor = self.hearing.minor, []
        for fault in taken:
            fault.strikes = self.strikes
        return taken

    def strike(self, fault: Fault) -> bool:
        """Counts the fault. True if the seat has to leave the match now."""
        cost = COST[fault.kind]
        if cost.strike and not fault.forfeits:
            self.strikes += 1
        fault.strikes = self.strikes
        struck_out = self.strikes >= self.player.limits.strikes
        if fault.kind in GONE and self.restarts > 0:
            return struck_out
        return cost.ends or fault.forfeits or struck_out


def _size(raw: Raw) -> int:
    return len(bytes(raw))
