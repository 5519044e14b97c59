"""The state of a match, and the small verbs that effects are written in. Decides nothing about what a card does.

A state changes in place, since a step has to be cheap; `clone()` is the way to keep one. Every card of the
deck is always in exactly one place: a hand, a hand laid aside by a forfeit, the draw pile, the discard pile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lastcard.engine.chance import Pile, Stream
from lastcard.engine.decisions import TURN, About, Decision, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from lastcard.engine.events import Event, MatchReason, Why
    from lastcard.engine.rules import Rules


class Effect(NamedTuple):
    """One step of a play: when it happens within the play (AMB-37) and what it does."""

    stage: int
    name: str
    run: Callable[[State], None]
    asks: bool = True
    """Whether it may open a decision, turn up further effects, or look at the play that it is part of."""


class Played(NamedTuple):
    """What has to be remembered of a play while its effects run."""

    card: str
    uno: bool
    """Whether the call was made with it."""
    hand: int
    """The hand as the play left it: a challenge judges it (AMB-22b), the duty to call depends on it (AMB-36)."""
    color: str | None
    """The active color before (AMB-20)."""
    playable: int
    """What could have been laid instead."""


NO_PLAY = Played(card="", uno=False, hand=0, color=None, playable=0)


class State:
    """A match between two steps. Attributes are read freely; only the engine writes them."""

    __slots__ = (
        "again", "agenda", "aside", "color", "dealer", "decision", "direction", "discards", "drawn",
        "events", "gone", "hands", "held", "missed", "optional", "out", "passes", "pile", "playable",
        "played", "press", "presses", "reason", "reshuffles", "resume", "round", "round_winner", "rounds_won", "rules",
        "scores", "script", "script_only", "seats", "seed", "since_reload", "stack", "stacked", "traded", "turn",
        "turn_cap", "turns", "verdict", "voids",
    )  # fmt: skip

    def __init__(self, rules: Rules, seats: int, seed: str) -> None:
        self.rules = rules
        self.seats = seats
        self.seed = seed
        self.turn_cap = int(rules.options["turn_cap"])
        self.round: int = 0
        self.dealer: int = 0
        self.scores = [0] * seats
        self.out: frozenset[int] = frozenset()
        self.rounds_won: int = 0  # rounds that were not void
        self.voids: int = 0  # in a row
        self.reason: MatchReason | None = None
        self.script: list[int] | None = None  # what the next presses of a launcher eject, in a position
        self.script_only: bool = True  # whether a press beyond the script is an error
        self.clear_round(Pile([], None))

    def clear_round(self, pile: Pile) -> None:
        """All cards are in this pile again; nothing of the round before remains."""
        self.pile = pile
        self.discards: list[int] = []
        self.hands = [0] * self.seats
        self.aside = [0] * self.seats  # hands of seats that forfeited in this round
        self.color: str | None = None
        self.playable: int = 0  # what may be laid now, whoever holds it
        self.direction: int = 1
        self.turn: int = 0
        self.gone: bool = False  # whether the turn has passed to another seat yet (AMB-6)
        self.turns: int = 0
        self.passes: int = 0  # in a row (AMB-33)
        self.reshuffles: int = 0
        self.press: int = 0  # presses since the last ejection
        self.presses: int = 0  # in this round
        self.since_reload: int = 0  # presses
        self.stack: int = 0  # cards that wait for whoever does not stack
        self.stacked: Why = "draw_two"
        self.round_winner: int | None = None
        self.clear_play()

    def clear_play(self) -> None:
        """No play is being carried out, and nobody is asked anything."""
        self.played = NO_PLAY
        self.drawn: int = 0  # the card of a `drawn` decision
        self.missed: int = 0  # seats that lose their turn
        self.again: bool = False  # whether its player takes another turn
        self.traded: bool = False
        self.held: int = 1  # discards from the top that are not reshuffled
        self.verdict: bool | None = None  # of a challenge: guilty or not
        self.agenda: list[Effect] = []  # what is still to happen, the next last
        self.decision: Decision | None = None
        self.optional: bool = False  # whether a `target` may be none
        self.resume: Callable[[State, int], None] | None = None  # what a `target` is chosen for
        self.events: list[Event] = []  # of the step in progress

    def copy_to(self, twin: State) -> None:
        """Makes `twin`, an empty object, equal to this state and independent of it."""
        twin.rules, twin.seats, twin.seed = self.rules, self.seats, self.seed
        twin.round, twin.dealer, twin.scores = self.round, self.dealer, self.scores.copy()
        twin.out, twin.rounds_won, twin.voids = self.out, self.rounds_won, self.voids
        twin.reason = self.reason
        twin.hands, twin.aside = self.hands.copy(), self.aside.copy()
        twin.pile, twin.discards = self.pile.clone(), self.discards.copy()
        twin.color, twin.playable, twin.direction = self.color, self.playable, self.direction
        twin.turn, twin.gone, twin.turns, twin.turn_cap = self.turn, self.gone, self.turns, self.turn_cap
        twin.passes, twin.reshuffles, twin.press = self.passes, self.reshuffles, self.press
        twin.presses, twin.since_reload = self.presses, self.since_reload
        twin.script = None if self.script is None else self.script.copy()
        twin.script_only = self.script_only
        twin.optional = self.optional
        twin.stack, twin.stacked = self.stack, self.stacked
        twin.round_winner = self.round_winner
        twin.played, twin.drawn, twin.missed, twin.again = self.played, self.drawn, self.missed, self.again
        twin.traded, twin.held, twin.verdict = self.traded, self.held, self.verdict
        twin.agenda, twin.decision, twin.resume = self.agenda.copy(), self.decision, self.resume
        twin.events = []

    # who is where

    def in_play(self) -> int:
        """How many seats have not forfeited."""
        return self.seats - len(self.out)

    def after(self, seat: int, steps: int = 1) -> int:
        """The seat that many places on from `seat` in the direction of play, forfeited seats passed over."""
        if not self.out:
            return (seat + self.direction * steps) % self.seats
        while steps:
            seat = (seat + self.direction) % self.seats
            steps -= seat not in self.out
        return seat

    def struck(self) -> int:
        """Whom a penalty strikes: the seat that would play next, past those that miss their turn; of two, the other."""
        return self.after(self.turn, 1 if self.duel() else 1 + self.missed)

    def has_won(self, seat: int) -> bool:
        """Whether the seat has just laid its last card: at the end of a chain a Hit may come round to it (AT-42)."""
        return seat == self.turn and not self.hands[seat]

    def miss(self) -> None:
        """One seat more loses its turn; of two players the other can only lose one (details 7)."""
        self.missed = 1 if self.duel() else self.missed + 1

    def duel(self) -> bool:
        """Whether the actor has one opponent: that one is struck, skipped and missed whatever else happened."""
        return self.in_play() == 2 and self.turn not in self.out

    def playable_by(self, seat: int) -> int:
        """The cards of the seat that it may lay now; AT-35: some may not be the last one."""
        hand = self.hands[seat]
        cards = hand & self.playable
        return 0 if cards & self.rules.never_last and not hand & (hand - 1) else cards

    def others(self) -> list[int]:
        """The opponents still in play, in play order from the actor."""
        order = [(self.turn + self.direction * step) % self.seats for step in range(1, self.seats)]
        return [seat for seat in order if seat not in self.out]

    # cards

    @property
    def top_card(self) -> str:
        """The card on top of the discard pile. There is always one once a round was dealt."""
        return self.rules.deck.code[self.discards[-1]]

    def set_color(self, color: str | None) -> None:
        """Sets the active color, and with it what may be laid on the top card."""
        self.color = color
        self.playable = self.rules.matching(color, self.top_card)

    def take(self) -> int:
        """The next card of the draw pile, or 0 if there is none to be had (AMB-31, AMB-32)."""
        card = self.pile.draw()
        if not card and self.reshuffle():
            card = self.pile.draw()
        return card

    def dry(self) -> bool:
        """AMB-32: whether there is no card to be had, neither in the pile nor under the discards that stay."""
        return not len(self.pile) and len(self.discards) <= self.held

    def reshuffle(self) -> bool:
        """AMB-31, CL-21: all discards but the top card become the draw pile. False if there are none."""
        count = len(self.discards) - self.held
        if count <= 0:
            return False
        cards = sorted(self.discards[:count])
        del self.discards[:count]
        self.reshuffles += 1
        self.pile = Pile(cards, Stream(self.seed, f"reshuffle|{self.round}|{self.reshuffles}"))
        self.events.append({"type": "reshuffle", "count": count})
        return True

    def draw(self, seat: int, count: int, why: Why) -> None:
        """The seat draws that many cards, or what there is (AMB-32); out of play it draws none."""
        if seat in self.out:
            return
        code = self.rules.deck.code
        cards: list[str] = []
        while len(cards) < count and (card := self.take()):
            self.hands[seat] |= card
            cards.append(code[card])
        if cards:
            self.events.append({"type": "draw", "seat": seat, "count": len(cards), "why": why, "cards": cards})

    # the course of a play

    def ask(self, kind: Kind, seats: tuple[int, ...], about: About) -> None:
        """Opens a decision; what is on the agenda waits for it."""
        self.decision = Decision(kind, seats, about)

    def plan(self, effects: tuple[Effect, ...]) -> None:
        """Adds effects to what is still to happen, each at its stage (AMB-37)."""
        in_order = sorted([*reversed(self.agenda), *effects], key=lambda effect: effect.stage)
        self.agenda[:] = reversed(in_order)

    def run(self) -> None:
        """Lets happen what is on the agenda, up to the next decision."""
        agenda = self.agenda
        while agenda and self.decision is None:
            agenda.pop().run(self)

    def begin_turn(self, seat: int) -> None:
        """The seat is on turn; a stack that waits limits what it may lay."""
        self.turn = seat
        self.missed = 0
        if self.stack:
            self.playable &= self.rules.stackable(self.top_card)
        self.decision = TURN[seat]

    def pass_turn(self) -> None:
        """The turn passes on from the seat that has it, over those that miss theirs."""
        self.gone = True
        seat = self.after(self.turn)
        for _ in range(min(self.missed, 1) if self.duel() else self.missed):  # others may have left since
            self.events.append({"type": "skip", "seat": seat})
            seat = self.after(seat)
        self.begin_turn(seat)

    def before(self) -> int | None:
        """The seat that a Banana would hit (MK-35, MK-36, AMB-5, AMB-6, AMB-7)."""
        if not self.gone and not self.rules.banana_at_once:
            return None
        seat = (self.turn - self.direction) % self.seats
        while seat in self.out:
            seat = (seat - self.direction) % self.seats
        return seat
