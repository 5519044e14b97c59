"""Cards, their codes and printed order, and a deck as a numbering of its cards. Knows no rule of play.

A card is an ASCII code: a color letter and a symbol (`R7`, `GS`, `YD`), or a wild (`W`, `WD`, `WI`).
Inside the engine a *card of a deck* is one bit of an int and a hand is the union of its cards' bits, so
that copying, counting, comparing and conserving hands are single operations. Bits ascend in printed order.
"""

from collections.abc import Iterable, Iterator

from lastcard.engine.errors import NotationError

COLORS = "RGBY"
NUMBERS = "0123456789"
ACTIONS = "SVDHAT"
"""Skip, reverse, draw two, hit two, discard all, trade hands: in printed order."""
WILDS = ("W", "WD", "WI", "WH", "WA", "WF", "WX", "WC")

ORDER = {
    code: place
    for place, code in enumerate([color + symbol for color in COLORS for symbol in NUMBERS + ACTIONS] + [*WILDS])
}
"""Every code of the notation and its place in printed order."""


def is_wild(card: str) -> bool:
    """Whether the card has no color of its own."""
    return card[0] == "W"


def is_number(card: str) -> bool:
    """Whether the card is a colored number."""
    return card[1:] in NUMBERS and not is_wild(card)


def symbol(card: str) -> str:
    """What the card does, without its color: the digit or letter of a colored card, the whole code of a wild."""
    return card if is_wild(card) else card[1:]


def printed(cards: Iterable[str]) -> list[str]:
    """The cards in printed order. Raises NotationError at a code that is none."""
    listed = list(cards)
    for card in listed:
        if card not in ORDER:
            raise NotationError(
                f"{card!r} is not a card: expected a color R G B Y with a symbol, or a wild, as R7 or WD"
            )
    return sorted(listed, key=ORDER.__getitem__)


class Deck:
    """The cards of one deck, each with its own bit; the lowest bit is the first card in printed order."""

    __slots__ = ("bits", "cards", "code", "everything", "face")

    def __init__(self, cards: Iterable[str]) -> None:
        self.cards: tuple[str, ...] = tuple(printed(cards))
        self.bits: tuple[int, ...] = tuple(1 << place for place in range(len(self.cards)))
        self.code: dict[int, str] = dict(zip(self.bits, self.cards, strict=True))
        self.face: dict[str, int] = {}
        for bit, card in self.code.items():
            self.face[card] = self.face.get(card, 0) | bit
        self.everything = (1 << len(self.cards)) - 1

    def apart(self, hand: int) -> list[int]:
        """The single cards of a hand, in printed order."""
        cards: list[int] = []
        while hand:
            cards.append(hand & -hand)
            hand &= hand - 1
        return cards

    def codes(self, hand: int) -> list[str]:
        """The codes of a hand's cards, in printed order."""
        code = self.code
        listed: list[str] = []
        while hand:
            bit = hand & -hand
            listed.append(code[bit])
            hand ^= bit
        return listed

    def take(self, cards: Iterable[str], free: int) -> Iterator[int]:
        """One bit of `free` for each card, in the order given. The caller sees to it that there are enough."""
        for card in cards:
            bit = self.face[card] & free
            bit &= -bit
            free ^= bit
            yield bit
