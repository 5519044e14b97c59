"""Cards and chance as plainly as they can be written, for the second engine. Imports no engine."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

COLORS = "RGBY"
ORDER = [color + symbol for color in COLORS for symbol in "0123456789SVD"] + ["W", "WD", "WI"]
WILDS = {"mario-kart": {"WD": 4, "WI": 8}, "classic": {"W": 4, "WD": 4}}


def deck_of(edition: str) -> list[str]:
    """Every card, in printed order."""
    cards = list(WILDS[edition].items())
    cards += [(color + symbol, 1 if symbol == "0" else 2) for color in COLORS for symbol in "0123456789SVD"]
    return by_print(card for card, count in cards for _ in range(count))


def by_print(cards: Iterator[str] | Sequence[str]) -> list[str]:
    return sorted(cards, key=ORDER.index)


def points_of(card: str) -> int:
    if card[0] == "W":
        return 50
    return int(card[1]) if card[1].isdigit() else 20


def stream(seed: str, label: str) -> Iterator[int]:
    """The bytes of a stream of chance, one after the other, for ever."""
    block = 0
    while True:
        yield from sha256(f"lastcard/1|{seed}|{label}|{block}".encode("ascii")).digest()
        block += 1


def below(source: Iterator[int], n: int) -> int:
    """design.md 4, word for word."""
    if n == 1:
        return 0
    m = 256 if n <= 256 else 65_536
    while True:
        value = next(source) if m == 256 else next(source) * 256 + next(source)
        if value < m - m % n:
            return value % n


class Pile:
    """The array of design.md 4, and `i`."""

    def __init__(self, cards: list[str], source: Iterator[int]) -> None:
        self.array, self.i, self.source = list(cards), 0, source
        self.last: list[str] = []

    def __len__(self) -> int:
        return len(self.array) - self.i + len(self.last)

    def draw(self) -> str | None:
        if self.i == len(self.array):
            return self.last.pop(0) if self.last else None
        j = self.i + below(self.source, len(self.array) - self.i)
        self.array[self.i], self.array[j] = self.array[j], self.array[self.i]
        self.i += 1
        return self.array[self.i - 1]

    def shuffle_back(self) -> None:
        self.i -= 1

    def put_back(self) -> None:
        self.i -= 1
        self.last.append(self.array.pop(self.i))
