"""A match: the one step, the one view, and how it is opened, dealt, left and cloned. The face of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.actions import ANSWERS, LEGAL
from lastcard.engine.cards import is_number
from lastcard.engine.chance import Pile, Stream, check_seed
from lastcard.engine.decisions import LEAST_SEATS, MOST_SEATS
from lastcard.engine.endings import left_of, places
from lastcard.engine.errors import IllegalAction, LastcardError, OptionError
from lastcard.engine.launcher import SCRIPTED
from lastcard.engine.leaving import leave
from lastcard.engine.starts import STARTS
from lastcard.engine.state import State
from lastcard.engine.turns import decline, lay
from lastcard.engine.views import View, view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lastcard.engine.events import Event
    from lastcard.engine.rules import Rules


class Match(State):
    """A match between 2 and 10 seats. The same seed and the same actions give the same events.

    `while not match.over: events = match.deal() if match.decision is None else match.act(answers)`
    """

    __slots__ = ()

    def __init__(self, rules: Rules, seats: int, seed: str, script: list[int] | None = None) -> None:
        """`script`: the cards that the presses of a launcher eject, in place of the model; see `positions`."""
        if rules.launcher == SCRIPTED and script is None:
            raise OptionError("option launcher: scripted presses are given with a position, expected a model")
        if not LEAST_SEATS <= seats <= MOST_SEATS:
            raise LastcardError(f"a match has {LEAST_SEATS} to {MOST_SEATS} seats, not {seats}")
        super().__init__(rules, seats, check_seed(seed))
        self.script = script

    @property
    def over(self) -> bool:
        """Whether the match has ended; then `places`, `scores` and `reason` stand."""
        return self.reason is not None

    @property
    def places(self) -> list[int] | None:
        """Competition ranks, 1 the best; None until the match is over."""
        return places(self) if self.over else None

    def clone(self) -> Match:
        """A match in the same state that goes its own way from here."""
        twin = Match.__new__(Match)
        self.copy_to(twin)
        return twin

    def legal(self, seat: int) -> tuple[str, ...]:
        """The legal actions of an asked seat, in the order of the protocol; the last one is the fallback.

        Nothing for a seat that is not asked.
        """
        decision = self.decision
        if decision is None or seat not in decision.seats:
            return ()
        if decision.kind == "turn":
            if self.rules.never_last:
                return self.rules.listings[self.playable_by(seat)]
            return self.rules.listings[self.hands[seat] & self.playable]
        return LEGAL[decision.kind](self, seat)

    def is_legal(self, seat: int, action: str) -> bool:
        """Whether `act` would take this action of an asked seat. A call of UNO may end any play."""
        decision = self.decision
        if decision is None or seat not in decision.seats:
            return False
        play = self.rules.plays.get(action)
        if play is None:
            return action in self.legal(seat)
        if decision.kind == "drawn":
            return bool(self.drawn & play.face)
        return decision.kind in ("turn", "extra") and bool(self.playable_by(seat) & play.face)

    def act(self, answers: Mapping[int, str]) -> list[Event]:
        """The one step: every asked seat's action at once. Returns what happened.

        Raises IllegalAction, and changes nothing, unless exactly the asked seats answer with legal actions.
        """
        decision = self.decision
        if decision is not None and len(answers) == 1:
            seat = decision.seats[0]
            action = answers.get(seat, "")
            kind = decision.kind
            if kind == "turn":
                if action == "draw":
                    return decline(self, seat)
                play = self.rules.plays.get(action)
                if play is not None:
                    hand = self.hands[seat]
                    card = hand & play.face & self.playable
                    if card and (play.may_be_last or hand & (hand - 1)):
                        return lay(self, seat, play, card & -card)
            elif kind == "drawn":
                play = self.rules.plays.get(action)
                if play is not None and self.drawn & play.face:
                    return lay(self, seat, play, self.drawn)
        return self.answer(answers)

    def answer(self, answers: Mapping[int, str]) -> list[Event]:
        """`act` for every decision, with every check: nobody acts out of turn, nobody lays two cards (AMB-44)."""
        decision = self.decision
        if decision is None:
            raise IllegalAction("nobody is asked: the round or the match is over")
        if set(answers) != set(decision.seats):
            raise IllegalAction(f"seats {sorted(answers)} answered, but seats {list(decision.seats)} were asked")
        for seat, action in answers.items():
            if not self.is_legal(seat, action):
                raise IllegalAction(f"seat {seat}: {action!r} is not one of {', '.join(self.legal(seat))}")
        return ANSWERS[decision.kind](self, answers)

    def forfeit(self, seat: int, why: str) -> list[Event]:
        """The seat leaves play for the rest of the match."""
        if not 0 <= seat < self.seats:
            raise LastcardError(f"there is no seat {seat}")
        if self.over or seat in self.out:
            return []
        return leave(self, seat, why)

    def view(self, seat: int) -> View:
        """All that the seat may know of the round: `state` on the wire."""
        return view(self, seat)

    # dealing

    def deal(self) -> list[Event]:
        """Deals the next round; the first one begins with the draw for dealer."""
        if self.over or self.decision is not None:
            raise LastcardError("a round is dealt when the one before is over and the match is not")
        self.rules = self.rules.whole
        pile = Pile(list(self.rules.deck.bits), Stream(self.seed, f"deal|{self.round + 1}"))
        draws = None if self.round else Pile(list(self.rules.deck.bits), Stream(self.seed, "dealer"))
        return self.deal_from(pile, draws)

    def deal_from(self, pile: Pile, for_dealer: Pile | None) -> list[Event]:
        """Deals from this pile, after a draw for dealer from the other one if there is one."""
        self.clear_round(pile)
        self.round += 1
        if for_dealer is not None:
            self.draw_for_dealer(for_dealer)
        if self.dealer in self.out:
            self.dealer = left_of(self, self.dealer)
        self.events.append({"type": "round", "round": self.round, "dealer": self.dealer})
        self.deal_hands()
        self.turn_start_card()
        self.run()
        return self.events

    def draw_for_dealer(self, pile: Pile) -> None:
        """MK-3, MK-4, AT-3, CL-2, AMB-46, AMB-47: the highest number deals, any other card is 0, tied seats draw on."""
        tied = [seat for seat in range(self.seats) if seat not in self.out]
        drawn: list[tuple[int, str]] = []
        while len(tied) > 1 and len(pile) >= len(tied):
            worth: dict[int, int] = {}
            for seat in tied:
                card = self.rules.deck.code[pile.draw()]
                drawn.append((seat, card))
                worth[seat] = int(card[1:]) if is_number(card) else 0
            tied = [seat for seat in tied if worth[seat] == max(worth.values())]
        self.dealer = tied[0]
        self.events.append({"type": "dealer_draw", "cards": drawn, "dealer": self.dealer})

    def deal_hands(self) -> None:
        """MK-5, AT-4, CL-1: seven cards to each player, one at a time from the dealer's left."""
        first = left_of(self, self.dealer)
        order = [seat % self.seats for seat in range(first, first + self.seats) if seat % self.seats not in self.out]
        draw = self.pile.draw
        dealt = [draw() for _ in range(self.rules.edition.hand_size * len(order))]
        code = self.rules.deck.code
        for place, seat in enumerate(order):
            own = dealt[place :: len(order)]
            self.hands[seat] = sum(own)
            cards = [code[card] for card in own]
            self.events.append({"type": "deal", "seat": seat, "count": len(cards), "cards": cards})

    def turn_start_card(self) -> None:
        """MK-6, MK-7, CL-7, AT-5: turns cards until one may start, and does what that one says."""
        rules, pile = self.rules, self.pile
        while True:
            card = pile.draw()
            code = rules.deck.code[card]
            back = code in rules.may_not_start
            self.events.append({"type": "start_card", "card": code, "back": back})
            if not back:
                break
            if rules.start_wd4 == "put_back":
                pile.put_back()
            else:
                pile.shuffle_back()
        self.discards.append(card)
        self.turn = left_of(self, self.dealer)
        self.set_color(None if code[0] == "W" else code[0])
        STARTS[rules.edition.starts.get(code if code[0] == "W" else code[1:], "plain")](self)

    # for tests, vectors and logs

    @property
    def top(self) -> str | None:
        """The top card, or None before the first deal."""
        return self.top_card if self.discards else None

    def hand_of(self, seat: int) -> list[str]:
        """The cards of a seat in printed order, one that it laid aside by a forfeit too: what a round's end counts."""
        return self.rules.deck.codes(self.hands[seat] | self.aside[seat])

    def draw_pile_order(self) -> list[str]:
        """The draw pile, the card that is drawn first at the front."""
        return [self.rules.deck.code[card] for card in self.pile.order()]

    def discard_codes(self) -> list[str]:
        """The discard pile, the top card at the end."""
        return [self.rules.deck.code[card] for card in self.discards]

    def deck_as_dealt(self, events: Sequence[Event]) -> list[str]:
        """Every card in the order in which this round's deck gives them, just after `deal` returned these events:
        the hands one card at a time from the dealer's left, the start card, what it made draw, the draw pile.
        """
        hands = [event.get("cards", []) for event in events if event["type"] == "deal"]
        dealt = [hand[place] for place in range(self.rules.edition.hand_size) for hand in hands]
        turned = [event["card"] for event in events if event["type"] == "start_card" and not event["back"]]
        drawn = [card for event in events if event["type"] == "draw" for card in event.get("cards", [])]
        return dealt + turned + drawn + self.draw_pile_order()

    def check_cards(self) -> None:
        """Asserts that every card of the deck is in exactly one place."""
        together, count = 0, 0
        for cards in (*self.hands, *self.aside, *self.pile.order(), *self.discards):
            together |= cards
            count += cards.bit_count()
        assert together == self.rules.deck.everything, "cards were lost"
        assert count == len(self.rules.deck.cards), "cards are in two places"
