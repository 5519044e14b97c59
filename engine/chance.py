"""All chance: streams of SHA-256 that anyone can recompute, and piles that are shuffled as they are drawn.

Knows seeds, labels and numbers, and no rule. `spec.md`'s chapter on chance is this file in words.
"""

import re
from hashlib import sha256

from lastcard.engine.errors import LastcardError

SEED = re.compile(r"[0-9A-Za-z._-]{1,64}")

ACCEPTED = (0, *(256 - 256 % n for n in range(1, 257)))
"""By n: bytes at or above this are read again, so that every remainder is equally likely."""


def check_seed(seed: str) -> str:
    """The seed itself. Raises LastcardError if it is not 1 to 64 characters of [0-9A-Za-z._-]."""
    if not SEED.fullmatch(seed):
        raise LastcardError(f"seed {seed!r} is not 1 to 64 characters of 0-9 A-Z a-z . _ -")
    return seed


class Stream:
    """The bytes of SHA-256(`lastcard/1|SEED|LABEL|i`) for i = 0, 1, ..., and numbers read from them."""

    __slots__ = ("block", "data", "place", "prefix")

    def __init__(self, seed: str, label: str) -> None:
        self.prefix = f"lastcard/1|{seed}|{label}|"
        self.data = sha256(f"{self.prefix}0".encode()).digest()
        self.block = 1
        self.place = 0

    def clone(self) -> "Stream":
        """A stream that will give the same bytes from here on."""
        twin = Stream.__new__(Stream)
        twin.prefix, twin.block, twin.data, twin.place = self.prefix, self.block, self.data, self.place
        return twin

    def byte(self) -> int:
        """The next byte."""
        if self.place == len(self.data):
            self.data = sha256(f"{self.prefix}{self.block}".encode()).digest()
            self.block += 1
            self.place = 0
        self.place += 1
        return self.data[self.place - 1]

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, each equally likely; n is 1 to 65,536. `below(1)` reads nothing."""
        if n == 1:
            return 0
        if n <= 256:
            accepted = ACCEPTED[n]
            value = self.byte()
            while value >= accepted:
                value = self.byte()
            return value % n
        accepted = 65536 - 65536 % n
        place = self.place
        if place + 2 <= len(self.data):
            value = self.data[place] << 8 | self.data[place + 1]
            self.place = place + 2
        else:
            value = self.byte() << 8 | self.byte()
        while value >= accepted:
            value = self.byte() << 8 | self.byte()
        return value % n

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        return bytes(self.byte() for _ in range(count))


class Pile:
    """A face-down pile of cards (bits). With a stream the next card is chosen when it is drawn, so that no more is
    shuffled than is used; without one the pile is stacked and its order stands.
    """

    __slots__ = ("bottom", "cards", "place", "stream")

    def __init__(self, cards: list[int], stream: Stream | None) -> None:
        self.cards = cards
        self.place = 0
        self.stream = stream
        self.bottom: list[int] = []

    def __len__(self) -> int:
        return len(self.cards) - self.place + len(self.bottom)

    def clone(self) -> "Pile":
        """A pile that will give the same cards from here on."""
        twin = Pile.__new__(Pile)
        twin.cards, twin.place, twin.bottom = self.cards.copy(), self.place, self.bottom.copy()
        twin.stream = self.stream.clone() if self.stream is not None else None
        return twin

    def draw(self) -> int:
        """The next card, or 0 if there is none."""
        cards, place, stream = self.cards, self.place, self.stream
        left = len(cards) - place
        if left <= 1 or stream is None:
            return self.draw_unshuffled()
        self.place = place + 1
        # Stream.below written out for its commonest case, a byte that is accepted
        at = stream.place
        if left <= 256 and at < len(stream.data) and (value := stream.data[at]) < ACCEPTED[left]:
            stream.place = at + 1
            other = place + value % left
        else:
            other = place + stream.below(left)
        card = cards[other]
        cards[other] = cards[place]
        cards[place] = card
        return card

    def draw_unshuffled(self) -> int:
        """The next card where nothing is left to chance."""
        if self.place < len(self.cards):
            self.place += 1
            return self.cards[self.place - 1]
        return self.bottom.pop(0) if self.bottom else 0

    def shuffle_back(self) -> None:
        """The card drawn last goes back among the rest; a stacked pile takes it at its bottom (details 12)."""
        self.place -= 1
        if self.stream is None:
            self.cards.append(self.cards.pop(self.place))

    def put_back(self) -> None:
        """The card drawn last is laid aside until all others are gone."""
        self.place -= 1
        self.bottom.append(self.cards.pop(self.place))

    def order(self) -> list[int]:
        """The cards in the order in which they will be drawn. Draws nothing."""
        twin = self.clone()
        return [twin.draw() for _ in range(len(twin))]
