"""The table of the second engine: who holds what, and everything that asks nobody anything. Imports no engine.

It knows the rules from the documents alone: lists of card codes, no bits, no agenda, no tables of effects.
"""

from collections.abc import Sequence
from typing import Any

from tests.engine.plain import COLORS, Pile, by_print, deck_of, ejected, kind_of, points_of, stream

Event = dict[str, Any]
STRIKES = {"D": (2, "draw_two"), "WD": (4, "wild_draw_four"), "H": (2, "hit_two"), "WH": (4, "hit_four")}


class Table:
    """Cards, scores and whose turn it is; `told` is what happened since the last decision."""

    def __init__(self, edition: str, options: dict[str, Any], seats: int, seed: str) -> None:
        self.edition, self.option, self.seats, self.seed = edition, options, seats, seed
        self.told: list[Event] = []
        self.scores = [0] * seats
        self.dealer = self.round = self.voids = self.rounds_won = 0
        self.left: list[int] = []  # who has left the match
        self.over = self.in_round = False
        self.clear()

    def clear(self) -> None:
        self.hands: list[list[str]] = [[] for _ in range(self.seats)]
        self.aside: list[list[str]] = [[] for _ in range(self.seats)]  # hands of those who left in this round
        self.discards: list[str] = []
        self.color: str | None = None
        self.direction, self.passes, self.turns, self.shuffles = 1, 0, 0, 0
        self.gone = False
        self.kept = 1  # cards on top of the discards that are not shuffled
        self.stack, self.stack_why = 0, ""
        self.missed, self.again = 0, False
        self.presses = self.since_ejection = self.since_reload = 0

    def tell(self, kind: str, **fields: Any) -> None:
        self.told.append({"type": kind, **fields})

    def launches(self) -> bool:
        return bool(self.option["supply"] == "launcher")

    # --- who is next to whom

    def here(self) -> int:
        """How many have not left."""
        return self.seats - len(self.left)

    def next_to(self, seat: int, direction: int, steps: int = 1) -> int:
        for _ in range(steps):
            seat = (seat + direction) % self.seats
            while seat in self.left:
                seat = (seat + direction) % self.seats
        return seat

    def following(self) -> int:
        return self.next_to(self.turn, self.direction)

    def others(self) -> list[int]:
        around = [(self.turn + self.direction * step) % self.seats for step in range(1, self.seats)]
        return [seat for seat in around if seat not in self.left]

    def of_two(self) -> bool:
        """Whether the player has just one opponent."""
        return self.here() == 2 and self.turn not in self.left

    def struck(self) -> int:
        """Whom a draw card hits: who would be next, behind those who miss their turn; of two the opponent."""
        return self.next_to(self.turn, self.direction, 1 if self.of_two() else 1 + self.missed)

    def miss(self) -> None:
        self.missed = 1 if self.of_two() else self.missed + 1

    def pass_turn(self) -> None:
        for _ in range(min(self.missed, 1) if self.of_two() else self.missed):
            self.turn = self.following()
            self.tell("skip", seat=self.turn)
        self.turn, self.gone = self.following(), True

    # --- rounds and matches

    def set_up(self) -> None:
        deck = deck_of(self.edition, self.option.get("custom_count", 0))
        self.round += 1
        if self.round == 1:
            self.draw_for_dealer(Pile(deck, stream(self.seed, "dealer")))
        if self.dealer in self.left:
            self.dealer = self.next_to(self.dealer, 1)
        self.tell("round", round=self.round, dealer=self.dealer)
        self.clear()
        self.pile = Pile(deck, stream(self.seed, f"deal|{self.round}"))
        around = [(self.dealer + step) % self.seats for step in range(1, self.seats + 1)]
        order = [seat for seat in around if seat not in self.left]
        for _ in range(7):
            for seat in order:
                self.hands[seat].append(self.pile.draw() or "")
        for seat in order:
            self.tell("deal", seat=seat, count=7, cards=list(self.hands[seat]))
        self.turn = order[0]
        self.in_round = True

    def draw_for_dealer(self, pile: Pile) -> None:
        tied, cards = [seat for seat in range(self.seats) if seat not in self.left], []
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
            (self.pile.put_back if self.option.get("start_wd4") == "put_back" else self.pile.shuffle_back)()

    def score(self, winner: int | None, reason: str) -> None:
        self.in_round = False
        hands = [hand + aside for hand, aside in zip(self.hands, self.aside, strict=True)]
        worth = [sum(map(points_of, hand)) for hand in hands]
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
        self.tell("round_end", winner=winner, reason=reason, hands=list(map(by_print, hands)), points=change)
        if winner is None:
            self.voids += 1
            return
        self.voids, self.rounds_won = 0, self.rounds_won + 1
        self.dealer = winner if self.option["next_dealer"] == "round_winner" else self.next_to(self.dealer, 1)

    def places(self) -> list[int]:
        """Those who left share the places behind all others."""
        staying = [score for seat, score in enumerate(self.scores) if seat not in self.left]
        staying.sort(reverse=self.option["scoring"] != "penalty_lowest")
        last = self.here() + 1
        return [last if seat in self.left else 1 + staying.index(self.scores[seat]) for seat in range(self.seats)]

    def reached(self, winner: int | None) -> str | None:
        if self.here() == 1:
            return "forfeit"
        played_off = self.option["scoring"] != "winner_collects" and self.places().count(1) > 1
        if winner is not None and not played_off:
            if max(self.scores) >= self.option.get("target", 10**9):
                return "target"
            if self.rounds_won >= self.option.get("rounds", 10**9):
                return "rounds"
        if self.voids >= self.option["void_limit"]:
            return "void_limit"
        return "max_rounds" if self.round >= self.option["max_rounds"] else None

    def end_match(self, reason: str) -> None:
        self.over = True
        self.tell("match_end", places=self.places(), scores=list(self.scores), reason=reason)

    def blocked(self) -> int | None:
        worth = {seat: sum(map(points_of, hand)) for seat, hand in enumerate(self.hands) if seat not in self.left}
        lowest = [seat for seat in worth if worth[seat] == min(worth.values())]
        return None if self.option["blocked_round"] == "void" or len(lowest) > 1 else lowest[0]

    # --- cards from the pile or the launcher

    def shuffle(self) -> bool:
        """Makes a pile of the discards. False if there are none to shuffle."""
        if len(self.discards) <= self.kept:
            return False
        loose = by_print(self.discards[: -self.kept])
        self.discards = self.discards[-self.kept :]
        self.shuffles += 1
        self.pile = Pile(loose, stream(self.seed, f"reshuffle|{self.round}|{self.shuffles}"))
        self.tell("reshuffle", count=len(loose))
        return True

    def dry(self) -> bool:
        """Whether no card is left to be had."""
        return len(self.pile) == 0 and len(self.discards) <= self.kept

    def take(self) -> str | None:
        card = self.pile.draw()
        return self.pile.draw() if card is None and self.shuffle() else card

    def draw(self, seat: int, count: int, why: str) -> None:
        cards: list[str] = []
        while seat not in self.left and len(cards) < count and (card := self.take()) is not None:
            cards.append(card)
        self.hands[seat] += cards
        if cards:
            self.tell("draw", seat=seat, count=len(cards), why=why, cards=cards)

    def press(self, seat: int, why: str) -> list[str]:
        """One press; what came out."""
        if seat in self.left:
            return []
        if len(self.pile) == 0 and self.shuffle():
            self.since_ejection = self.since_reload = 0
        self.presses += 1
        source = stream(self.seed, f"launcher|{self.round}|{self.presses}")
        count = ejected(self.option["launcher"], source, self.since_ejection, self.since_reload)
        cards = [self.pile.draw() or "" for _ in range(min(count, len(self.pile)))]
        self.since_reload += 1
        self.since_ejection = 0 if cards else self.since_ejection + 1
        self.tell("press", seat=seat, ejected=len(cards), counter=self.since_ejection)
        self.hands[seat] += cards
        if cards:
            self.tell("draw", seat=seat, count=len(cards), why=why, cards=cards)
        return cards

    def press_until_any(self, seat: int, why: str) -> None:
        while not self.press(seat, why):
            if self.dry():
                return

    def penalty(self, seat: int, count: int, why: str) -> None:
        """So many cards, or presses where there is a launcher."""
        if not self.launches():
            self.draw(seat, count, why)
            return
        for _ in range(count):
            self.press(seat, why)

    # --- what cards do that ask nobody anything

    def throw_off(self, card: str) -> None:
        """Discard All takes the rest of its color along, and comes to lie on top."""
        seat = self.turn
        thrown = [other for other in self.hands[seat] if other[0] == card[0]] if kind_of(card) == "A" else []
        if thrown:
            self.hands[seat] = [other for other in self.hands[seat] if other[0] != card[0]]
            self.discards = [*self.discards[:-1], *by_print(thrown), card]
            self.tell("discard", seat=seat, cards=by_print(thrown))

    def all_press(self, and_then: list[int]) -> None:
        for other in [*self.others(), *and_then]:
            self.press(other, "all_hit")

    def punish(self, old_color: str | None) -> None:
        seat = self.turn
        if self.option["wd4_guilty"] == "take_back":
            (self.aside if seat in self.left else self.hands)[seat].append(self.discards.pop())
            self.tell("take_back", seat=seat, card="WD")
            self.color = old_color
        self.draw(seat, 4 + self.stack, "guilty")
        self.stack = 0

    def strike(self, does: str, verdict: str) -> None:
        """What the card does to those who come next."""
        if does == "V":
            self.direction = -self.direction
            self.tell("reverse", direction=self.direction)
        if does == "S" or (does == "V" and self.of_two()):
            self.miss()
        if does == "WX" and self.option["all_hit"] == "others":
            self.all_press([])
        if does == "WF":
            if self.struck() != self.turn or self.hands[self.turn]:
                self.hit_fire(self.struck())
            self.miss()
        if does not in STRIKES or verdict in ("guilty", "nothing"):
            return
        count, why = (6, "innocent") if verdict == "innocent" else STRIKES[does]
        goes_on = self.hands[self.turn] or self.turn in self.left
        if self.option["stacking"] != "off" and goes_on and verdict != "innocent":
            self.stack, self.stack_why = self.stack + count, why
            self.missed = 0 if self.of_two() else self.missed  # the opponent's turn is the one that answers
            return
        count, self.stack = count + self.stack, 0
        if self.struck() != self.turn or self.hands[self.turn]:
            self.penalty(self.struck(), count, why)
        self.miss()

    def hit_fire(self, victim: int) -> None:
        while True:
            cards = self.press(victim, "hit_fire")
            wanted = [card for card in cards if self.option["hit_fire"] == "any_card" or card[0] == self.color]
            if wanted or self.dry():
                return

    def press_instead(self) -> None:
        self.passes = self.passes + 1 if self.dry() else 0
        cards = self.press(self.turn, "turn")
        while self.option["draw_until_playable"] == "on" and not any(map(self.fits, cards)) and not self.dry():
            cards = self.press(self.turn, "turn")

    # --- what may be laid

    def fits(self, card: str) -> bool:
        top = self.discards[-1]
        ordinary = card[0] in ("W", self.color) or (top[0] != "W" and card[1] == top[1])
        if not self.stack:
            return ordinary
        if self.option["stacking"] == "same":
            return ordinary and kind_of(card) == kind_of(top)
        return ordinary and self.does(card) in ("D", "WD", "H", "WH")

    def plays(self, cards: Sequence[str]) -> list[str]:
        listed: list[str] = []
        for card in by_print(list(set(cards))):
            if self.fits(card):
                names = card[0] == "W" and card != "WI"
                listed += [f"play {card} {color}" for color in COLORS] if names else [f"play {card}"]
        return listed

    def plays_from_hand(self) -> list[str]:
        hand = self.hands[self.turn]
        if len(hand) == 1 and kind_of(hand[0]) == "T" and self.option["trade_last"] == "forbidden":
            return []
        return self.plays(hand)

    def does(self, card: str) -> str:
        """The kind of card whose effect this one has: a Customizable is what the table agreed."""
        if card != "WC":
            return kind_of(card)
        agreed = {"none": "W", "hit_four": "WH", "attack_attack": "WA", "hit_fire": "WF", "all_hit": "WX"}
        return agreed[self.option["custom_effect"]]

    def unlawful_beside(self, card: str) -> bool:
        """Whether holding this card makes a Draw Four that is about to be laid unlawful."""
        if card[0] == "W":
            return False
        return self.fits(card) if self.option["wd4_unlawful"] == "any_playable" else card[0] == self.color

    def view(self, seat: int) -> dict[str, Any]:
        """The public part of every view, and the seat's own hand."""
        known = self.gone or self.option.get("banana_first_turn") == "previous_seat"
        return {
            "round": self.round, "dealer": self.dealer, "turn": self.turn, "direction": self.direction,
            "top": self.discards[-1], "color": self.color, "hand": by_print(self.hands[seat]),
            "counts": list(map(len, self.hands)), "draw_pile": len(self.pile), "scores": list(self.scores),
            "out": sorted(self.left), "before": self.next_to(self.turn, -self.direction) if known else None,
            **({"press": self.since_ejection} if self.launches() else {}),
        }  # fmt: skip
