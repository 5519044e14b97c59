"""Chance by the seed: who deals, the order of every pile, what the launcher ejects; knows no hand and no rule of play.

All of it comes from streams of SHA-256: block i of a stream is the hash of `lastcard/1|SEED|LABEL|i`.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256

from tests.checker.cards import is_number, printed

CHANCES = [(58, 323), (132, 265), (78, 133), (30, 55), (1, 1)]
"""hazard5: of so many presses that were the s-th since the last ejection, so many ejected."""

EARLY = {1: 1, 2: 3, 3: 6, 4: 9, 5: 10, 6: 9, 7: 6, 8: 3, 9: 1}
"""How often so many cards come at an ejection, on one of the first four presses ..."""

LATE = {1: 1, 2: 4, 3: 10, 4: 19, 5: 29, 6: 38, 7: 43, 8: 43, 9: 38, 10: 29, 11: 19, 12: 10, 13: 4, 14: 1}
"""... and on the fifth."""

ANY = {
    0: 5966,
    1: 79,
    2: 237,
    3: 476,
    4: 718,
    5: 807,
    6: 739,
    7: 512,
    8: 279,
    9: 119,
    10: 31,
    11: 21,
    12: 11,
    13: 4,
    14: 1,
}
"""iid: of 10,000 presses so many brought so many cards."""

FIXED = "2 6 9 13 17 21 24 26 27 29 32 36 37 41 44 47 48 51 54 57 58 62 66 69 72 73 77 81 84 85 88 92 93 96"
"""fixed_sequence: the presses that eject, of every 96 since the launcher was filled."""


class Stream:
    """The bytes of one label, read from the front."""

    def __init__(self, seed: str, label: str) -> None:
        self.bytes = self.blocks(f"lastcard/1|{seed}|{label}|")

    @staticmethod
    def blocks(start: str) -> Iterator[int]:
        number = 0
        while True:
            yield from sha256(f"{start}{number}".encode("ascii")).digest()
            number += 1

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, all equally likely: values that would favor the low ones are read over."""
        if n == 1:
            return 0
        while True:
            value, values = next(self.bytes), 256
            if n > 256:
                value, values = value * 256 + next(self.bytes), 65536
            if value < values - values % n:
                return value % n


class Shuffle:
    """A pile of which each card is drawn by lot when it is needed."""

    def __init__(self, cards: list[str], seed: str, label: str) -> None:
        self.cards = list(cards)
        self.drawn = 0
        self.stream = Stream(seed, label)

    def draw(self) -> str:
        """One card."""
        other = self.drawn + self.stream.below(len(self.cards) - self.drawn)
        card = self.cards[other]
        self.cards[other] = self.cards[self.drawn]
        self.cards[self.drawn] = card
        self.drawn += 1
        return card

    def rest(self) -> list[str]:
        """All that are left, in the order in which they come."""
        return [self.draw() for _ in range(len(self.cards) - self.drawn)]


class Stacked(Shuffle):
    """A pile whose order was given."""

    def __init__(self, cards: list[str]) -> None:
        super().__init__(cards, "", "")

    def draw(self) -> str:
        """The next card."""
        self.drawn += 1
        return self.cards[self.drawn - 1]


def draw_for_dealer(pile: Shuffle, seats: list[int]) -> tuple[list[list[object]], int]:
    """[seat, card] in the order drawn, and the dealer: the highest number; who is tied for it draws on."""
    drawn: list[list[object]] = []
    while len(seats) > 1:
        cards = {seat: pile.draw() for seat in seats}
        drawn += [[seat, card] for seat, card in cards.items()]
        values = {seat: int(card[1]) if is_number(card) else 0 for seat, card in cards.items()}
        seats = [seat for seat in seats if values[seat] == max(values.values())]
    return drawn, seats[0]


def deal(pile: Shuffle, cards: int, goes_back: Callable[[str], bool], *, put_back: bool) -> tuple[list[str], list[str]]:
    """The deck of a round in the order in which it is dealt and drawn, and the start cards that went back.

    `cards` are dealt to hands first. A start card that goes back is drawn by lot again among all that are left,
    or (`put_back`) comes again when these are gone.
    """
    order = [pile.draw() for _ in range(cards)]
    back: list[str] = []
    while goes_back(card := pile.draw()):
        back.append(card)
        if not put_back:
            pile.drawn -= 1
    return [*order, card, *pile.rest(), *(back if put_back else [])], back


def reshuffled(cards: list[str], seed: str, number: int, count: int) -> list[str]:
    """Discards that are shuffled, for the `count`-th time in this round, in the order in which they come."""
    return Shuffle(printed(cards), seed, f"reshuffle|{number}|{count}").rest()


def weighed(stream: Stream, weights: dict[int, int]) -> int:
    """A number of cards, each as often as its weight says."""
    value = stream.below(sum(weights.values()))
    for cards, weight in weights.items():
        if value < weight:
            return cards
        value -= weight
    raise AssertionError("a weight was left out")


def pressed(seed: str, number: int, press: int, *, model: str, since_ejection: int, since_reload: int) -> int:
    """How many cards press number `press` of the round would eject; the others count presses before it."""
    stream = Stream(seed, f"launcher|{number}|{press}")
    if model == "iid":
        return weighed(stream, ANY)
    if model == "fixed_sequence":
        return weighed(stream, EARLY) if str(since_reload % 96 + 1) in FIXED.split() else 0
    part, whole = CHANCES[min(since_ejection, 4)]
    if stream.below(whole) >= part:
        return 0
    return weighed(stream, EARLY if since_ejection < 4 else LATE)
