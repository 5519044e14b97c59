"""One match at the table: the engine asks, the seats answer, everybody is told, everything is logged.

Never judges an action and never waits without a limit: the engine does the one, the seats the other.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import trio
from msgspec import UNSET, Raw, Struct

from lastcard.engine import Event, Match, Rules, Stream, seen_by, sees_more
from lastcard.protocol import Limits as LimitsLine
from lastcard.protocol import Start, encode_event
from lastcard.referee.failures import MatchFailed as MatchFailed  # whoever calls `play` takes it from here
from lastcard.referee.failures import failure_line, failure_of, traceback_of
from lastcard.referee.faults import GONE, Fault, FaultKind, Phase
from lastcard.referee.limits import Limits
from lastcard.referee.log_lines import decision_line, decision_t, match_line, match_t, result_t
from lastcard.referee.log_lines import fault_line as fault_line  # the command line takes it from here
from lastcard.referee.match_log import LogWriteError, MatchLog
from lastcard.referee.noise import Noise, NoiseMeter
from lastcard.referee.player import Player
from lastcard.referee.seat import Answer, Seat

Watcher = Callable[[Match, Sequence[Event]], None]
"""Is shown every step as it happens, events in full."""

BROKEN = frozenset({FaultKind.STALL, FaultKind.FLOOD, FaultKind.STARTUP, *GONE})
"""Faults after which input and output can no longer be trusted to match: the process is ended at once."""

LEAVING_GRACE = 0.2
"""Seconds that a forfeited bot has to read why; the others wait for it."""


class Outcome(Struct, kw_only=True):
    """How a match ended."""

    places: list[int]
    scores: list[int]
    reason: str
    rounds: list[int | None]
    """The winner of each round dealt; None for a void one."""
    faults: list[Fault]
    forfeited: list[int]
    digest: str
    asked: int
    """Decisions that bots were asked for."""
    noise: Noise


class Opening(NamedTuple):
    """A position to play from: as written, and set up."""

    setup: Mapping[str, object]
    match: Match
    events: list[Event]


class Table:
    """One match between players who are, or can be, connected."""

    def __init__(
        self,
        players: Sequence[Player],
        rules: Rules,
        seed: str,
        log: MatchLog,
        *,
        match_id: str,
        opening: Opening | None = None,
        watcher: Watcher | None = None,
        pace: float = 0.0,
    ) -> None:
        self.seats = [Seat(player, number) for number, player in enumerate(players)]
        self.match = opening.match if opening else Match(rules, len(players), seed)
        self.log = log
        self.match_id = match_id
        self.opening = opening
        self.watcher = watcher
        self.pace = pace
        self.phase = Phase.HELLO
        self.decisions = 0
        self.asked = 0
        self.meter = NoiseMeter()
        self.rounds: list[int | None] = []
        self.faults: list[Fault] = []
        self.forfeited: list[int] = []
        self.told = self.seats.copy()
        """Who is still told what happens: all that have not forfeited."""
        self.eager: list[Seat] = []
        self.pinged: list[Seat] = []

    # ---- the course of a match

    async def play(self) -> Outcome:
        """Play it to its end. Raises MatchFailed if the host was at fault; any other exception is a bug of ours.

        The log has either as its last line, a fault of no seat.
        """
        try:
            return await self.play_on()
        except LogWriteError as error:
            raise MatchFailed(str(error)) from error
        except MatchFailed:  # the host's, at a start: it is in the log already
            raise
        except Exception as error:
            failure = failure_of(error)
            with suppress(LogWriteError):
                if self.phase is Phase.HELLO:
                    self.log_match()
                self.log.line(failure_line(failure, self.phase), {"traceback": traceback_of(error)})
                self.log.flush()
            if failure.kind is FaultKind.HOST:
                raise MatchFailed(failure.detail) from error
            raise

    async def play_on(self) -> Outcome:
        """From the greeting to the last line of the log."""
        await self.start_all()
        match = self.match
        while not match.over:
            if match.decision is None:
                self.phase = Phase.BETWEEN
                self.deal()
            else:
                self.phase = Phase.ASKED
                await self.step()
            if self.pace:  # seconds; no clock of a bot runs here
                await trio.sleep(self.pace)
        self.phase = Phase.END
        return self.finish()

    async def start_all(self) -> None:
        """Greet the bots and tell them the match, all at once; who does not come forfeits before the deal."""
        failed: dict[int, Fault] = {}

        async def start(seat: Seat) -> None:
            fault = await seat.start(self.start_line(seat))
            if fault is not None:
                failed[seat.number] = fault

        async with trio.open_nursery() as nursery:
            for seat in self.seats:
                nursery.start_soon(start, seat)
        self.meter.begin()
        self.log_match()
        self.phase = Phase.START
        if self.opening is not None:  # the deal is made already: who has not come leaves after it
            self.happened(self.opening.events)
        for seat in self.seats:
            self.keep_minor(seat)
        for number, fault in sorted(failed.items()):
            self.seats[number].strike(fault)
            self.keep(fault)
        for number, fault in sorted(failed.items()):
            self.forfeit(number, fault.kind)
        self.forfeited = sorted(failed)  # if nobody came, the last one has no match left to leave
        self.sort_by_features()
        self.log.flush()

    def start_line(self, seat: Seat, *, resumed: bool = False) -> Start:
        """The `start` of this seat."""
        limits = seat.player.limits
        seed = int.from_bytes(Stream(self.match.seed, f"bot|{seat.number}").take(4)) & 0x7FFFFFFF
        return Start(
            match=self.match_id,
            edition=self.match.rules.edition.name,
            options={**self.match.rules.options},
            seat=seat.number,
            players=[other.player.name for other in self.seats],
            limits=limits_line(limits),
            bot_seed=seed,
            resumed=True if resumed else UNSET,
        )

    def deal(self) -> None:
        """The next round."""
        for seat in self.seats:
            seat.new_round()
        events = self.match.deal()
        deck = self.match.deck_as_dealt(events)
        self.log.line({"type": "round", "round": self.match.round, "dealer": self.match.dealer, "deck": deck})
        self.happened(events)
        self.tell_turn_end()
        self.log.flush()

    async def step(self) -> None:
        """One decision, or several at the same time: ask, apply, tell, log."""
        match = self.match
        decision = match.decision
        assert decision is not None, "there is something to decide"
        number, *others = decision.seats
        if others:
            await self.step_of_several(decision.kind, {number: match.legal(number) for number in decision.seats})
            return
        # one seat that gives a good answer is what a match mostly consists of: it goes no detours
        legal = match.legal(number)
        answer = await self.answer(number, decision.kind, legal)
        if answer.fault is not None or self.seats[number].hearing.minor:
            await self.apply(decision.kind, {number: legal}, {number: answer})
            return
        assert answer.action is not None, "an answer without a fault has an action"
        self.log_decision(number, decision.kind, legal, answer)
        self.happened(match.act({number: answer.action}))
        self.tell_turn_end()
        if len(legal) > 1:  # what is forced follows from the log before it, and goes out with the next answer
            self.log.flush()

    async def step_of_several(self, kind: str, legal: Mapping[int, tuple[str, ...]]) -> None:
        """A decision of several seats, who are all asked at once."""
        found: dict[int, Answer] = {}

        async def ask(number: int) -> None:
            found[number] = await self.answer(number, kind, legal[number])

        async with trio.open_nursery() as nursery:
            for number in legal:
                nursery.start_soon(ask, number)
        await self.apply(kind, legal, dict(sorted(found.items())))

    async def apply(self, kind: str, legal: Mapping[int, tuple[str, ...]], answers: Mapping[int, Answer]) -> None:
        """What the seats answered, in seat order, with all that faults lead to."""
        match = self.match
        leaving: dict[int, str] = {}
        for number, answer in answers.items():
            if answer.fault is not None or self.seats[number].hearing.minor:
                await self.take_fault(self.seats[number], answer, legal[number], leaving)
        for number in leaving:
            if answers[number].action is None:  # no fallback: it leaves with the decision open
                self.forfeit(number, leaving[number])
        actions = {number: answer.action for number, answer in answers.items() if answer.action is not None}
        if actions and not match.over:
            for number in actions:
                self.log_decision(number, kind, legal[number], answers[number])
            self.happened(match.act(actions))
        for number, why in leaving.items():
            self.forfeit(number, why)
        self.tell_turn_end()
        self.log.flush()
        for number, why in leaving.items():
            await self.dismiss(self.seats[number], why)

    async def answer(self, number: int, kind: str, legal: tuple[str, ...]) -> Answer:
        """One seat's answer, checked. A decision with one legal action is forced and not asked."""
        if len(legal) == 1:
            return Answer(action=legal[0])
        seat = self.seats[number]
        self.asked += 1
        answer = await seat.ask(kind, legal, self.match.view(number))
        self.meter.heard(answer.lag_ms, seat.player.limits.margin_ms)
        if answer.action is not None and not self.match.is_legal(number, answer.action):
            seat.illegal(answer, legal)
        return answer

    # ---- faults

    async def take_fault(self, seat: Seat, answer: Answer, legal: tuple[str, ...], leaving: dict[int, str]) -> None:
        """Keeps a seat's faults of this step; the last one costs, and the fallback is applied in its place."""
        self.keep_minor(seat)
        fault = answer.fault
        if fault is None:
            return
        await seat.player.complete(fault)
        leaves = seat.strike(fault)
        if not fault.forfeits:
            answer.action = fault.applied = legal[-1]
        self.keep(fault)
        seat.tell_fault(fault)
        if leaves:
            leaving[seat.number] = fault.kind
        elif fault.kind in GONE and not seat.player.returns:
            await self.restart(seat, leaving)

    async def restart(self, seat: Seat, leaving: dict[int, str]) -> None:
        """A new process takes the dead one's place."""
        failed = await seat.restart(self.start_line(seat, resumed=True))
        if failed is not None:
            self.keep_minor(seat)  # what it said before stands before it in the log
            seat.strike(failed)
            self.keep(failed)
            leaving[seat.number] = failed.kind
        self.sort_by_features()

    def keep(self, fault: Fault) -> None:
        """A fault goes into the log, in full. Raises MatchFailed if it is the host's."""
        self.faults.append(fault)
        self.log.line(fault_line(fault))
        if fault.kind is FaultKind.HOST:
            self.log.flush()
            raise MatchFailed(fault.detail)

    def keep_minor(self, seat: Seat) -> None:
        """Faults that cost nothing are logged, and told to their bot if it plays."""
        for minor in seat.take_minor():
            self.keep(minor)
            if minor.phase in (Phase.ASKED, Phase.BETWEEN) and not self.match.over:
                seat.tell_fault(minor)

    def forfeit(self, number: int, why: str) -> None:
        """The seat leaves the match, unless it has ended by itself."""
        if number in self.forfeited or self.match.over:
            return
        self.forfeited.append(number)
        self.told.remove(self.seats[number])
        self.sort_by_features()
        self.happened(self.match.forfeit(number, why))

    async def dismiss(self, seat: Seat, why: str) -> None:
        """A forfeited bot is told so and ended: nothing that it says counts any more (F-54)."""
        if why in BROKEN:
            await seat.player.part(f"forfeited: {why}", grace=0)
        elif seat.number in self.forfeited:
            await seat.player.part(f"forfeited: {why}", grace=LEAVING_GRACE)

    # ---- telling and logging

    def happened(self, events: Sequence[Event]) -> None:
        """Logs the events in full, and tells each seat what it may know of them."""
        full: list[Raw] = []
        secret = False
        for event in events:
            full.append(encode_event(event))
            if sees_more(event):
                secret = True
            elif event["type"] == "round_end":
                self.rounds.append(event["winner"])
        self.log.events(full)
        for seat in self.told:
            seat.tell(self.redacted(events, full, seat.number) if secret else full)
        if self.watcher is not None:
            self.watcher(self.match, events)

    def redacted(self, events: Sequence[Event], full: Sequence[Raw], seat: int) -> list[Raw]:
        """The events as this seat may know them."""
        told: list[Raw] = []
        for event, raw in zip(events, full, strict=True):
            seen = seen_by(event, seat)
            told.append(raw if seen is event else encode_event(seen))
        return told

    def sort_by_features(self) -> None:
        """Who is told events as turns end, and who is asked for signs of life."""
        self.eager = [seat for seat in self.told if "events" in seat.player.features]
        self.pinged = [seat for seat in self.told if "ping" in seat.player.features]

    def tell_turn_end(self) -> None:
        """Who listed `events` gets them when a turn has ended, unless it is asked next."""
        decision = self.match.decision
        if (not self.eager and not self.pinged) or (decision is not None and decision.kind != "turn"):
            return
        asked = () if decision is None else decision.seats
        for seat in self.eager:
            if seat.number not in asked:
                seat.flush()
        for seat in self.pinged:
            if seat.number not in asked:
                seat.ping()

    def log_match(self) -> None:
        """The first line."""
        setup = None if self.opening is None else self.opening.setup
        self.log.line(match_line(self.match, setup), match_t(self.match_id, [seat.player for seat in self.seats]))

    def log_decision(self, number: int, kind: str, legal: tuple[str, ...], answer: Answer) -> None:
        """One decision; `n` counts all of the match."""
        self.decisions += 1
        fields = decision_line(self.decisions, number, kind, legal, answer)
        self.log.line(fields, None if len(legal) == 1 else decision_t(answer, self.seats[number].clock.shown_bank_ms))

    def finish(self) -> Outcome:
        """The match is over: say so to everybody, and close the log."""
        match = self.match
        places = match.places
        assert places is not None, "the match is over"
        assert match.reason is not None, "the match is over"
        for seat in self.seats:
            self.keep_minor(seat)
        for seat in self.told:
            seat.tell_end(self.match_id, places, match.scores)
        noise = self.meter.read()
        result: dict[str, object] = {"type": "result", "places": places, "scores": match.scores, "reason": match.reason}
        self.log.line(result, result_t(noise))
        return Outcome(
            places=places,
            scores=match.scores,
            reason=match.reason,
            rounds=self.rounds,
            faults=self.faults,
            forfeited=self.forfeited,
            digest=self.log.end(),
            asked=self.asked,
            noise=noise,
        )


def limits_line(limits: Limits) -> LimitsLine:
    """The limits as a bot is told them."""
    if not limits.enforced:
        return LimitsLine()
    return LimitsLine(
        move_ms=UNSET if limits.move_ms is None else limits.move_ms,
        bank_ms=UNSET if limits.bank_ms is None else limits.bank_ms,
        strikes=limits.strikes,
    )
