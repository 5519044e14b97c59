"""Where every card lies, kept from the events alone; knows no rule: whether an event may happen is not asked here.

After every event the cards of all places together have to be the deck, and a card can only leave a place where it lies.
"""

from collections import Counter

from tests.checker.cards import can_be_laid, is_wild, printed
from tests.checker.chance import reshuffled
from tests.checker.lines import Fields


class Misplaced(Exception):
    """An event moves a card that is not there, or cards were lost or made. The text says which."""


def less(cards: list[str], gone: list[str], place: str) -> list[str]:
    """The cards without those that go, in the same order."""
    left = list(cards)
    for card in gone:
        if card not in left:
            raise Misplaced(f"there is no {card} in {place}: {' '.join(printed(cards)) or 'it is empty'}")
        left.remove(card)
    return left


class Books:
    """The table as it stands after the events read so far."""

    def __init__(self, seats: int, seed: str) -> None:
        self.seats = seats
        self.seed = seed
        self.deck: Counter[str] = Counter()
        self.hands: list[list[str]] = [[] for _ in range(seats)]
        self.out: set[int] = set()
        """Seats that have left. A hand that is laid aside stays in `hands` until the next deal."""
        self.pile: list[str] = []
        """The draw pile or what is in the launcher; the first comes first."""
        self.discards: list[str] = []
        """The last is on top."""
        self.color: str | None = None
        self.color_under: str | None = None
        """The active color before the last play."""
        self.held = False
        """Whether the last play may be taken back: the card under the top is then not reshuffled."""
        self.direction = 1
        self.round = 0
        self.dealer = 0
        self.reshuffles = 0
        self.presses = 0
        """All of the round."""
        self.counter = 0
        """Presses since the last ejection."""
        self.filled_at = 0
        """How many presses there had been when the launcher was last filled."""
        self.scores = [0] * seats

    # ---- what rules ask

    @property
    def top(self) -> str:
        return self.discards[-1]

    def in_play(self) -> list[int]:
        """The seats that have not left, in order of their numbers."""
        return [seat for seat in range(self.seats) if seat not in self.out]

    def on(self, seat: int, steps: int = 1) -> int:
        """The seat that is so many seats on in the direction of play; those that left are passed over."""
        while steps:
            seat = (seat + self.direction) % self.seats
            steps -= seat not in self.out
        return seat

    def before(self, seat: int) -> int:
        """The seat directly before."""
        self.direction = -self.direction
        found = self.on(seat)
        self.direction = -self.direction
        return found

    def others(self, seat: int) -> list[int]:
        """All other seats in play, in play order."""
        around = [(seat + step * self.direction) % self.seats for step in range(1, self.seats)]
        return [other for other in around if other not in self.out]

    def loose(self) -> list[str]:
        """The discards that can be shuffled: all but the top, and but the one under a play that may be taken back."""
        return self.discards[: -2 if self.held else -1]

    def can_lay(self, card: str) -> bool:
        """Whether a card goes on the top by color, number or symbol, or as a wild."""
        return can_be_laid(card, self.top, self.color)

    # ---- events

    def shuffle_in(self, deck: list[str]) -> None:
        """The whole deck, in the order in which it comes, is on the table before a round."""
        self.deck = Counter(deck)
        self.pile = list(deck)
        self.hands = [[] for _ in range(self.seats)]
        self.discards = []
        self.color = self.color_under = None
        self.held = False
        self.direction = 1
        self.reshuffles = self.presses = self.counter = self.filled_at = 0

    def read(self, event: Fields) -> None:
        """Moves what an event moves."""
        move = getattr(self, f"_{event['type']}", None)
        if move is not None:
            move(event)

    def check(self) -> None:
        """Every card is there once."""
        found = Counter(card for place in (*self.hands, self.pile, self.discards) for card in place)
        if found != self.deck:
            lost, made = self.deck - found, found - self.deck
            raise Misplaced(f"cards are not conserved: lost {dict(lost)}, made {dict(made)}")

    def _dealer_draw(self, event: Fields) -> None:
        self.dealer = event["dealer"]

    def _round(self, event: Fields) -> None:
        self.round, self.dealer = event["round"], event["dealer"]

    def _deal(self, event: Fields) -> None:
        self.pile = less(self.pile, event["cards"], "the draw pile")
        self.hands[event["seat"]] += event["cards"]

    def _start_card(self, event: Fields) -> None:
        left = less(self.pile, [event["card"]], "the draw pile")
        if not event["back"]:
            self.pile = left
            self._on_top(event["card"])

    def _on_top(self, card: str) -> None:
        self.discards.append(card)
        self.color = None if is_wild(card) else card[0]

    def _play(self, event: Fields) -> None:
        seat, card = event["seat"], event["card"]
        self.hands[seat] = less(self.hands[seat], [card], f"the hand of seat {seat}")
        self.color_under = self.color
        self._on_top(card)
        self.color = event.get("color", self.color)

    def _discard(self, event: Fields) -> None:
        seat = event["seat"]
        self.hands[seat] = less(self.hands[seat], event["cards"], f"the hand of seat {seat}")
        self.discards[-1:-1] = event["cards"]

    def _flip(self, event: Fields) -> None:
        self.pile = less(self.pile, [event["card"]], "the draw pile")
        self._on_top(event["card"])

    def _color(self, event: Fields) -> None:
        self.color = event["color"]

    def _trade(self, event: Fields) -> None:
        for seat, cards in event["cards"]:
            self.hands[seat] = list(cards)

    def _draw(self, event: Fields) -> None:
        self.pile = less(self.pile, event["cards"], "the draw pile")
        self.hands[event["seat"]] += event["cards"]

    def _press(self, event: Fields) -> None:
        self.presses += 1
        self.counter = event["counter"]

    def _reshuffle(self, event: Fields) -> None:
        loose = self.loose()
        self.reshuffles += 1
        self.discards = self.discards[len(loose) :]
        self.pile += reshuffled(loose, self.seed, self.round, self.reshuffles)
        self.counter = 0
        self.filled_at = self.presses

    def _reverse(self, event: Fields) -> None:
        self.direction = event["direction"]

    def _take_back(self, event: Fields) -> None:
        if self.discards.pop() != event["card"]:
            raise Misplaced(f"{event['card']} is not the top card")
        self.hands[event["seat"]].append(event["card"])
        self.color = self.color_under

    def _forfeit(self, event: Fields) -> None:
        self.out.add(event["seat"])

    def _round_end(self, event: Fields) -> None:
        self.scores = [score + points for score, points in zip(self.scores, event["points"], strict=True)]
