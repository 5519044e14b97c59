"""What a bot says beside plain answers, judged line by line: what is a fault of which kind, and what merely counts.

Knows no clock and not what a fault costs; `seat` asks, and `table` applies.
"""

from lastcard.protocol import NEED_DATA, STALE_WORDS, Act, Closed, Received, Refusal, RefusalKind, Stale
from lastcard.referee.faults import MOST_STALE, Fault, FaultKind, Phase
from lastcard.referee.player import Player


class Hearing:
    """What is heard of one player in one match."""

    def __init__(self, player: Player, seat: int) -> None:
        self.player = player
        self.seat = seat
        self.stale = 0
        self.minor: list[Fault] = []
        """Faults that cost nothing and have not been logged yet."""
        self.owing: list[Fault] = []
        """Faults that were found while nothing was asked: one for each of the next asked decisions."""
        self.found: Act | None = None
        """The answer, where it came behind other lines."""

    def glance(self) -> Fault | None:
        """What the bot said while nothing was asked: the first fault among it, which the next asked decision pays."""
        player = self.player
        if player.connection is None:
            return self.fault(FaultKind.EOF, Phase.BETWEEN, "the bot does not run")
        data = player.connection.channel.read_now()
        if data is not None:
            player.heard(data)
        if self.owing:
            return self.owing.pop(0)
        item = player.conversation.next()
        return None if item is NEED_DATA else self.look_over(item, Phase.BETWEEN)

    def look_over(self, item: Received, phase: Phase) -> Fault | None:
        """Goes through the lines that are here; the first fault that costs something ends it.

        An answer among them is kept in `found`.
        """
        conversation = self.player.conversation
        while item is not NEED_DATA:
            if isinstance(item, Act):
                self.found = item
                return None
            fault = self.judged(item, phase)
            if fault is not None:
                return fault
            item = conversation.next()
        return None

    def judged(self, item: Received, phase: Phase) -> Fault | None:
        """The fault that an item is, if it costs something."""
        match item:
            case Refusal():
                return self._refused(item, phase)
            case Stale():
                return self._count_stale(item.raw, item.size, STALE_WORDS[item.reason], phase)
            case Closed():
                fault = self.fault(FaultKind.EOF, phase, "its output ended")
                if item.size:
                    fault.detail += f", after {item.size} bytes without LF: a line ends with LF, the last one too"
                fault.received, fault.size = item.partial, item.size
                return fault
            case _:
                return None

    def _refused(self, refusal: Refusal, phase: Phase) -> Fault:
        kind = FaultKind.MALFORMED if refusal.kind is RefusalKind.MALFORMED else FaultKind.OVERSIZE
        fault = self.fault(kind, phase, refusal.detail)
        fault.received, fault.size = refusal.raw, refusal.size
        fault.forfeits = refusal.kind is RefusalKind.HUGE
        return fault

    def _count_stale(self, raw: bytes, size: int, why: str, phase: Phase) -> Fault | None:
        """Stale lines are logged and cost nothing, up to the one too many."""
        self.stale += 1
        kind = FaultKind.STALE if self.stale <= MOST_STALE else FaultKind.FLOOD
        fault = self.fault(kind, phase, f"a line that counts for nothing: {why}")
        fault.received, fault.size = raw, size
        if kind is FaultKind.FLOOD:
            fault.detail = f"{self.stale} lines that count for nothing, the last: {why}"
            fault.forfeits = True
            return fault
        self.minor.append(fault)
        return None

    def fault(self, kind: FaultKind, phase: Phase, detail: str) -> Fault:
        """A fault of this seat, with what is the same in all of them."""
        return Fault(
            seat=self.seat, kind=kind, phase=phase, detail=detail, of=self.player.limits.strikes,
            repeat=self.player.repeat,
        )  # fmt: skip

    def between_matches(self, item: Received) -> Fault | None:
        """The same for what came since the match before: all of it is stale (F-60)."""
        match item:
            case Refusal(kind=RefusalKind.HUGE):
                return self._refused(item, Phase.END)
            case Refusal():
                return self._count_stale(item.raw, item.size, item.detail, Phase.END)
            case Stale():
                return self._count_stale(item.raw, item.size, STALE_WORDS[item.reason], Phase.END)
            case _:
                return None
