"""One player in one match: what waits to be told to it, its clock and strikes, and how it is asked. Knows no rules.

`ask` ends in an action or a fault, whatever the bot does, and says how long it took. The good case is one write and
one read; everything else is looked at line by line.
"""

from math import inf

from msgspec import UNSET, Raw, Struct
from msgspec.structs import replace

from lastcard.engine import View
from lastcard.protocol import (
    EVENTS_WAIT,
    FLUSH,
    NEED_DATA,
    Act,
    Closed,
    End,
    Ready,
    Start,
    meant,
    unfinished,
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
        self._budget = inf
        """Seconds that the bot had for the last ask."""
        self._asked_at = 0.0
        self._start: Start | None = None

    # ---- telling

    def tell(self, events: list[Raw]) -> None:
        """What this seat may know of what happened; it goes out with the next line, or when it grows long."""
        self._waiting += events
        if self.player.limits.restarts or self.player.returns:
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
            self.player.thaw()
            end = End(match=match, places=places, scores=scores, events=self._waiting)
            self.player.channel.write_now(self.player.conversation.end(end))
        self._waiting, self._sized = [], 0

    def ping(self) -> None:
        """Ask a bot that listed `ping` for a sign of life now and then; without one it forfeits when it is asked.

        A frozen bot can give none.
        """
        if self.player.connection is None or self.player.frozen or self.hearing.owing:
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
        player, self._start = self.player, start
        if player.connection is not None:
            player.connection.stderr.new_match()
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
        """Tell the match, and wait for `ready` from a bot that listed it; from here on it may be frozen."""
        player = self.player
        player.thaw()
        channel = player.channel
        begun, deadline = channel.clock(), player.start_deadline()
        self._pinged_at = begun
        fault = None
        if await channel.send(player.conversation.start(start), deadline) is Sent.STALLED:
            fault = self.hearing.fault(FaultKind.STARTUP, Phase.START, "the start line was not read")
        elif "ready" in player.features:
            fault = await self._await_ready(deadline)
        if fault is None:
            player.freeze()
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
        if fault is not None and not self._may_return(fault):
            return Answer(fault=fault)
        budget = clock.budget_ms() / 1000
        if budget <= 0:
            return Answer(fault=self._no_time_left())
        self._budget = budget
        if fault is not None:  # the line was lost while nothing was asked
            self._asked_at = player.channel.clock()
            return await self._ask_again(kind, legal, view)
        channel, conversation, limits = player.channel, player.conversation, player.limits
        line = conversation.ask(
            kind, legal, view, self._waiting,
            move_ms=limits.move_ms, bank_ms=clock.shown_bank_ms, used_ms=int(clock.used_ms),
        )  # fmt: skip
        self._waiting, self._sized = [], 0
        player.thaw()
        asked_at = channel.clock()
        sent = await channel.send(line, asked_at + budget)
        if sent is not Sent.TAKEN and not (sent is Sent.CLOSED and player.returns):
            return self._unsent(sent, asked_at, budget)
        self._asked_at = channel.sent_at
        return await self._hear() or await self._ask_again(kind, legal, view)

    async def _hear(self) -> Answer | None:
        """What becomes of the ask that was sent; None if the line was lost and may come back."""
        player, budget = self.player, self._budget
        channel, conversation = player.channel, player.conversation
        deadline = self._asked_at + budget
        part = None
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
                return None if self._may_return(fault) else self._failed(fault)
            if self.hearing.found is not None:  # the answer came behind other lines
                return self._answered(self.hearing.found)
            part = ((part or b"") + data).rpartition(b"\n")[2][:PART]
            if channel.read_at - channel.lag >= deadline:  # bytes that go on coming gain no time
                return self._late(budget, part)

    # ---- a line that is lost and comes back

    def _may_return(self, fault: Fault) -> bool:
        return fault.kind in GONE and self.player.returns

    async def _ask_again(self, kind: str, legal: tuple[str, ...], view: View) -> Answer:
        """Wait for a new line in place of a lost one, and ask there what is open, in the time that remains."""
        player, clock = self.player, self.clock
        deadline = self._asked_at + self._budget
        answer = None
        while answer is None:
            if not await player.come_back(deadline):
                return self._not_back()
            if not await self._told_again(deadline):
                continue
            move_ms, bank_ms = clock.remaining_ms((player.channel.clock() - self._asked_at) * 1000)
            line = player.conversation.ask(
                kind, legal, view, self._this_round, move_ms=move_ms, bank_ms=bank_ms, used_ms=int(clock.used_ms)
            )
            self._waiting, self._sized = [], 0
            if await player.channel.send(line, deadline) is Sent.STALLED:
                return self._unsent(Sent.STALLED, self._asked_at, self._budget)
            answer = await self._hear()
        return answer

    async def _told_again(self, deadline: float) -> bool:
        """Tell a bot that has come back which match it is in; whether it is ready for it.

        If it is not, this connection is lost too.
        """
        player = self.player
        assert self._start is not None, "a match is told before anything of it is asked"
        await player.channel.send(player.conversation.start(replace(self._start, resumed=True)), deadline)
        if "ready" not in player.features:
            return True
        if await self._await_ready(deadline) is None and not player.ended:
            return True
        player.channel.close()
        return False

    def _not_back(self) -> Answer:
        """It is away, and its time for this decision is used up."""
        limit = self._budget * 1000
        self.clock.charge(limit)
        fault = self.hearing.fault(
            FaultKind.EOF, Phase.ASKED, f"its connection was lost, and not back in {limit:.0f} ms"
        )
        fault.limit_ms = fault.elapsed_ms = round(limit)
        if self.player.conversation.open_id is not None:
            self.player.conversation.close_ask()
        return Answer(fault=fault, ms=limit)

    # ---- how it ended

    def _answered(self, act: Act) -> Answer:
        self.hearing.found = None
        if self.player.freezes:
            self.player.freeze()
        return Answer(action=act.action, note=act.note, ms=self._charge(), lag_ms=self.player.channel.lag * 1000)

    def _charge(self) -> float:
        """The time from the ask to what was read last, less our own lateness, is charged to the bot; in ms."""
        channel = self.player.channel
        self.clock.charge((channel.read_at - self._asked_at - channel.lag) * 1000)
        return self.clock.used_ms

    def _late(self, budget: float, part: bytes | None) -> Answer:
        channel = self.player.channel
        limit = budget * 1000
        self.clock.charge(limit)
        fault = self.hearing.fault(FaultKind.TIMEOUT, Phase.ASKED, f"no answer within {limit:.0f} ms")
        fault.limit_ms = fault.elapsed_ms = round(limit)
        if part != b"":  # else lines came, but none that counts
            fault.detail += unfinished(part or b"")
            fault.received = part or b""
        if part is None and self.player.conversation.last_id == 1:
            fault.detail += f"; {FLUSH}"
        self.player.conversation.close_ask()
        self.player.freeze()
        return Answer(fault=fault, ms=limit, lag_ms=channel.lag * 1000)

    @property
    def _limit_ms(self) -> int | None:
        """The time for the last ask as it stands in faults."""
        return None if self._budget == inf else round(self._budget * 1000)

    def _no_time_left(self) -> Fault:
        """`seat_ms` is used up, or a bank that is all there was: this decision is not waited for any more (F-40)."""
        limits, used = self.player.limits, self.clock.thought_ms
        limit = limits.seat_ms if used >= limits.seat_ms else limits.bank_ms or 0
        fault = self.hearing.fault(FaultKind.TIMEOUT, Phase.BETWEEN, f"no time left: {used:.0f} of {limit} ms are used")
        fault.limit_ms, fault.elapsed_ms = limit, round(used)
        return fault

    def _unsent(self, sent: Sent, asked_at: float, budget: float) -> Answer:
        channel = self.player.channel
        lag = channel.lag * 1000
        elapsed = min(budget * 1000, (channel.clock() - asked_at) * 1000 - lag)
        self.clock.charge(elapsed)
        if sent is Sent.STALLED:
            limit = round(budget * 1000)
            fault = self.hearing.fault(FaultKind.STALL, Phase.ASKED, f"the ask was not read within {limit} ms")
            fault.limit_ms, fault.forfeits = limit, True
        else:
            fault = self.hearing.fault(FaultKind.EOF, Phase.ASKED, "its input is closed")
            fault.limit_ms = self._limit_ms
        fault.elapsed_ms = round(self.clock.used_ms)
        self.player.conversation.close_ask()
        return Answer(fault=fault, ms=self.clock.used_ms, lag_ms=lag)

    def _failed(self, fault: Fault) -> Answer:
        used = self._charge()
        fault.limit_ms, fault.elapsed_ms = self._limit_ms, int(used)
        self.player.conversation.close_ask()
        if fault.kind not in GONE:  # how it ended is still to be found out
            self.player.freeze()
        return Answer(fault=fault, ms=used, lag_ms=self.player.channel.lag * 1000)

    def illegal(self, answer: Answer, legal: tuple[str, ...]) -> None:
        """The answer came in time but names no legal action."""
        shown = ", ".join(legal[:12]) + (", ..." if len(legal) > 12 else "")
        hint = meant(answer.action or "", legal) or " (a play may end in ' uno')"
        detail = f"{answer.action!r} is not one of: {shown}{hint}"
        answer.fault = self.hearing.fault(FaultKind.ILLEGAL, Phase.ASKED, detail)
        answer.fault.received = (answer.action or "").encode("utf-8", "backslashreplace")
        answer.fault.size = len(answer.fault.received)
        answer.fault.limit_ms, answer.fault.elapsed_ms = self._limit_ms, int(answer.ms)
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
        if fault.kind in GONE and (self.restarts > 0 or self.player.returns):
            return struck_out
        return cost.ends or fault.forfeits or struck_out


def _size(raw: Raw) -> int:
    return len(bytes(raw))
