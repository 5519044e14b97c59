"""Cards, chance and the launcher as plainly as they can be written, for the second engine. Imports no engine."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

COLORS = "RGBY"
ORDER = [color + symbol for color in COLORS for symbol in "0123456789SVDHAT"]
ORDER += ["W", "WD", "WI", "WH", "WA", "WF", "WX", "WC"]

CLASSIC_COLOR = "0 11 22 33 44 55 66 77 88 99 SS VV DD"
ATTACK_COLOR = "11 22 33 44 55 66 77 88 99 SS V HH AA"
TRADE_COLOR = "11 22 33 44 55 66 77 88 99 SS VV HH A T"
DECKS = {
    "mario-kart": (CLASSIC_COLOR, "WD WD WD WD WI WI WI WI WI WI WI WI"),
    "mario-kart-jp": (CLASSIC_COLOR, "WD WD WD WD WI WI WI WI WI WI WI WI"),
    "attack": (ATTACK_COLOR, "W W W W WA WA WA WA WH"),
    "attack-trade-hands": (TRADE_COLOR, "W W W W WX WX WF WF"),
    "attack-official": (ATTACK_COLOR, "W W W W WA WA WA WA WH"),
    "classic": (CLASSIC_COLOR, "W W W W WD WD WD WD"),
}
"""The colored cards of each color, and the wilds; beside them as many WC as the table agrees."""

POINTS = {"S": 20, "V": 20, "D": 20, "H": 20, "A": 30, "T": 30, "WH": 40}


def deck_of(edition: str, customizable: int = 0) -> list[str]:
    """Every card, in printed order."""
    colored, wilds = DECKS[edition]
    cards = [color + symbol for color in COLORS for symbol in colored.replace(" ", "")]
    return by_print(cards + wilds.split() + ["WC"] * customizable)


def by_print(cards: Iterator[str] | Sequence[str]) -> list[str]:
    return sorted(cards, key=ORDER.index)


def kind_of(card: str) -> str:
    """A colored card's symbol, or the wild itself."""
    return card if card[0] == "W" else card[1:]


def points_of(card: str) -> int:
    kind = kind_of(card)
    return int(kind) if kind.isdigit() else POINTS.get(kind, 50)


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


# --- the launcher: rules.md 4b, 4c and, for the sequence, 4a 2

EJECTS = [(58, 323), (132, 265), (78, 133), (30, 55), (1, 1)]
SIZES = {1: 1, 2: 3, 3: 6, 4: 9, 5: 10, 6: 9, 7: 6, 8: 3, 9: 1}
SIZES_OF_THE_FIFTH = {
    1: 1, 2: 4, 3: 10, 4: 19, 5: 29, 6: 38, 7: 43, 8: 43, 9: 38, 10: 29, 11: 19, 12: 10, 13: 4, 14: 1,
}  # fmt: skip
WITHOUT_MEMORY = {
    0: 5966, 1: 79, 2: 237, 3: 476, 4: 718, 5: 807, 6: 739, 7: 512, 8: 279, 9: 119, 10: 31, 11: 21, 12: 11, 13: 4,
    14: 1,
}  # fmt: skip
SEQUENCE = "2,6,9,13,17,21,24,26,27,29,32,36,37,41,44,47,48,51,54,57,58,62,66,69,72,73,77,81,84,85,88,92,93,96"


def pick(source: Iterator[int], weights: dict[int, int]) -> int:
    """A number by its weight: one number below the sum, against running sums."""
    value = below(source, sum(weights.values()))
    for number, weight in weights.items():
        value -= weight
        if value < 0:
            return number
    raise AssertionError("a number below the sum is below some running sum")


def ejected(model: str, source: Iterator[int], since_ejection: int, since_reload: int) -> int:
    """How many cards a press brings; both counts are of the presses before this one."""
    if model == "iid":
        return pick(source, WITHOUT_MEMORY)
    if model == "fixed_sequence":
        place = str(since_reload % 96 + 1)
        return pick(source, SIZES) if place in SEQUENCE.split(",") else 0
    number = min(since_ejection + 1, 5)
    numerator, denominator = EJECTS[number - 1]
    if below(source, denominator) >= numerator:
        return 0
    return pick(source, SIZES_OF_THE_FIFTH if number == 5 else SIZES)
