"""The table of the second engine: who holds what, and everything that asks nobody anything. Imports no engine.

It knows the rules from `spec.md` alone: lists of card codes, no bits, no agenda, no tables by edition.
"""

from collections.abc import Sequence
from typing import Any

from tests.engine.plain import COLORS, Pile, by_print, deck_of, points_of, stream

Event = dict[str, Any]


class Table:
    """Cards, scores and whose turn it is; `told` is what happened since the last decision."""

    def __init__(self, edition: str, options: dict[str, Any], seats: int, seed: str) -> None:
        self.edition, self.option, self.seats, self.seed = edition, options, seats, seed
        self.told: list[Event] = []
        self.scores = [0] * seats
        self.dealer = self.round = self.voids = self.rounds_won = 0
        self.over = False

    def tell(self, kind: str, **fields: Any) -> None:
        self.told.append({"type": kind, **fields})

    def score(self, winner: int | None, reason: str) -> None:
        worth = [sum(map(points_of, hand)) for hand in self.hands]
        change = [0] * self.seats
        if winner is not None:
            scoring = self.option["scoring"]
            for seat in range(self.seats):
                if scoring == "penalty_lowest":
                    change[seat] = 0 if seat == winner else worth[seat]
                elif seat == winner:
                    change[seat] = sum(worth) - worth[winner]
                elif scoring == "plus_minus":
                    change[seat] = -worth[seat]
        self.scores = [old + new for old, new in zip(self.scores, change, strict=True)]
        self.tell("round_end", winner=winner, reason=reason, hands=list(map(by_print, self.hands)), points=change)
        if winner is None:
            self.voids += 1
            return
        self.voids, self.rounds_won = 0, self.rounds_won + 1
        self.dealer = winner if self.option["next_dealer"] == "round_winner" else (self.dealer + 1) % self.seats

    def places(self) -> list[int]:
        best_first = sorted(self.scores, reverse=self.option["scoring"] != "penalty_lowest")
        return [1 + best_first.index(score) for score in self.scores]

    def reached(self, winner: int | None) -> str | None:
        played_off = self.option["scoring"] != "winner_collects" and self.places().count(1) > 1
        if winner is not None and not played_off:
            if max(self.scores) >= self.option.get("target", 10**9):
                return "target"
            if self.rounds_won >= self.option.get("rounds", 10**9):
                return "rounds"
        if self.voids >= self.option["void_limit"]:
            return "void_limit"
        return "max_rounds" if self.round >= self.option["max_rounds"] else None

    def set_up(self) -> None:
        deck = deck_of(self.edition)
        self.round += 1
        if self.round == 1:
            self.draw_for_dealer(Pile(deck, stream(self.seed, "dealer")))
        self.tell("round", round=self.round, dealer=self.dealer)
        self.pile = Pile(deck, stream(self.seed, f"deal|{self.round}"))
        order = [(self.dealer + step) % self.seats for step in range(1, self.seats + 1)]
        self.hands: list[list[str]] = [[] for _ in range(self.seats)]
        for _ in range(7):
            for seat in order:
                self.hands[seat].append(self.pile.draw() or "")
        for seat in order:
            self.tell("deal", seat=seat, count=7, cards=list(self.hands[seat]))
        self.discards: list[str] = []
        self.color: str | None = None
        self.direction, self.passes, self.turns, self.shuffles = 1, 0, 0, 0
        self.turn = order[0]
        self.gone = False
        self.kept = 1  # cards on top of the discards that are not shuffled
        self.stack, self.stack_why = 0, ""

    def draw_for_dealer(self, pile: Pile) -> None:
        tied, cards = list(range(self.seats)), []
        while len(tied) > 1:
            round_of_draws = [(seat, pile.draw() or "") for seat in tied]
            cards += round_of_draws
            worth = {seat: int(card[1]) if card[1:].isdigit() else 0 for seat, card in round_of_draws}
            tied = [seat for seat in tied if worth[seat] == max(worth.values())]
        self.dealer = tied[0]
        self.tell("dealer_draw", cards=cards, dealer=self.dealer)

    def turn_start_card(self) -> str:
        while True:
            card = self.pile.draw() or ""
            number = card[1:].isdigit()
            back = not number if self.option["start_cards"] == "numbers_only" else card == "WD"
            self.tell("start_card", card=card, back=back)
            if not back:
                self.discards.append(card)
                return card
            (self.pile.put_back if self.option["start_wd4"] == "put_back" else self.pile.shuffle_back)()

    def blocked(self) -> int | None:
        worth = [sum(map(points_of, hand)) for hand in self.hands]
        if self.option["blocked_round"] == "void" or worth.count(min(worth)) > 1:
            return None
        return worth.index(min(worth))

    def following(self) -> int:
        return (self.turn + self.direction) % self.seats

    def others(self) -> list[int]:
        return [(self.turn + self.direction * step) % self.seats for step in range(1, self.seats)]

    def take(self) -> str | None:
        card = self.pile.draw()
        if card is None and len(self.discards) > self.kept:
            loose = by_print(self.discards[: -self.kept])
            self.discards = self.discards[-self.kept :]
            self.shuffles += 1
            self.pile = Pile(loose, stream(self.seed, f"reshuffle|{self.round}|{self.shuffles}"))
            self.tell("reshuffle", count=len(loose))
            card = self.pile.draw()
        return card

    def draw(self, seat: int, count: int, why: str) -> int:
        cards: list[str] = []
        while len(cards) < count:
            card = self.take()
            if card is None:
                break
            cards.append(card)
        self.hands[seat] += cards
        if cards:
            self.tell("draw", seat=seat, count=len(cards), why=why, cards=cards)
        return len(cards)

    def fits(self, card: str) -> bool:
        top = self.discards[-1]
        ordinary = card[0] in ("W", self.color) or (top[0] != "W" and card[1] == top[1])
        if not self.stack:
            return ordinary
        kind, below_it = (text if text == "WD" else text[1:] for text in (card, top))
        return ordinary and (kind == below_it if self.option["stacking"] == "same" else kind in ("D", "WD"))

    def plays(self, cards: Sequence[str]) -> list[str]:
        listed: list[str] = []
        for card in by_print(list(set(cards))):
            if self.fits(card):
                listed += [f"play {card} {color}" for color in COLORS] if card in ("W", "WD") else [f"play {card}"]
        return listed

    def unlawful_beside(self, card: str) -> bool:
        """Whether holding this card makes a Draw Four that is about to be laid unlawful."""
        if card[0] == "W":
            return False
        return self.fits(card) if self.option["wd4_unlawful"] == "any_playable" else card[0] == self.color

    def punish(self, old_color: str | None) -> None:
        if self.option["wd4_guilty"] == "take_back":
            self.hands[self.turn].append(self.discards.pop())
            self.tell("take_back", seat=self.turn, card="WD")
            self.color = old_color
        self.draw(self.turn, 4 + self.stack, "guilty")
        self.stack = 0

    def strike(self, card: str, guilty: bool | None) -> None:
        """Skip, Reverse, Draw Two and Draw Four: what they do to the next player."""
        kind = card if card[0] == "W" else card[1:]
        if kind == "V":
            self.direction = -self.direction
            self.tell("reverse", direction=self.direction)
        if kind == "S" or (kind == "V" and self.seats == 2):
            self.missed = 1
        if kind not in ("D", "WD") or guilty:
            return
        count, why = (2, "draw_two") if kind == "D" else (4, "wild_draw_four")
        if guilty is False:
            count, why = 6, "innocent"
        elif self.option["stacking"] != "off" and self.hands[self.turn]:
            self.stack, self.stack_why = self.stack + count, why
            return
        count, self.stack = count + self.stack, 0
        self.draw(self.following(), count, why)
        self.missed = 1

    def view(self, seat: int) -> dict[str, Any]:
        """The public part of every view, and the seat's own hand."""
        before = (self.turn - self.direction) % self.seats
        known = self.gone or self.option.get("banana_first_turn") == "previous_seat"
        return {
            "round": self.round, "dealer": self.dealer, "turn": self.turn, "direction": self.direction,
            "top": self.discards[-1], "color": self.color, "hand": by_print(self.hands[seat]),
            "counts": list(map(len, self.hands)), "draw_pile": len(self.pile), "scores": list(self.scores),
            "out": [], "before": before if known else None,
        }  # fmt: skip
