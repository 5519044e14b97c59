"""The editions, side by side: each is a deck, what its cards are worth and do, and a value for each option.

An edition is a value. Nothing in the engine looks at its name; a new one is one more row of `EDITIONS`.
The effects named here are the functions of `effects`, `items` and `starts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lastcard.engine.cards import COLORS
from lastcard.engine.errors import EditionError
from lastcard.engine.options import Value


@dataclass(frozen=True, slots=True)
class Edition:
    """One way to play: a deck, the effects of its cards, and the options that it knows with their values."""

    name: str
    title: str
    colored: Mapping[str, int]
    """How many of each symbol there are in every colour."""
    wilds: Mapping[str, int]
    points: Mapping[str, int]
    """What a card left in hand is worth, by symbol; a number is worth its face."""
    effects: Mapping[str, tuple[str, ...]]
    """What a card does when it is played, by symbol; a card that is not listed does nothing more."""
    starts: Mapping[str, str]
    """What a start card does, by symbol; a card that is not listed starts as a plain card."""
    never_start: frozenset[str]
    """Symbols that may not start the discard pile (MK-7, CL-7)."""
    unnamed: frozenset[str]
    """Wilds whose player names no colour with them."""
    options: Mapping[str, Value]
    fixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Options of which this edition takes only some values."""
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What a turned card does, by colour letter or `W` (MK-32)."""
    hand_size: int = 7

    @property
    def deck(self) -> list[str]:
        """Every card of the deck, in no order."""
        colored = [color + symbol for color in COLORS for symbol, count in self.colored.items() for _ in range(count)]
        return colored + [wild for wild, count in self.wilds.items() for _ in range(count)]


ONE_ZERO_TWO_OF_EACH = {"0": 1, **dict.fromkeys("123456789", 2), "S": 2, "V": 2, "D": 2}
"""MK-2, CL-1: the coloured cards of both decks."""

COMMON: dict[str, Value] = {
    "supply": "pile",
    "start_color": "first_player",
    "start_wd4": "shuffle_back",
    "start_cards": "sheet",
    "next_dealer": "left",
    "wd4_unlawful": "color",
    "wd4_guilty": "keep",
    "uno_penalty": 2,
    "false_call_penalty": 0,
    "catch": "asked",
    "scoring": "winner_collects",
    "target": 500,
    "stacking": "off",
    "draw_until_playable": "off",
    "forced_play": "off",
    "seven_zero": "off",
    "blocked_round": "void",
    "turn_cap": 2000,
    "void_limit": 3,
    "max_rounds": 100,
}

EDITIONS: dict[str, Edition] = {
    edition.name: edition
    for edition in (
        Edition(
            name="mario-kart",
            title="UNO Mario Kart",
            colored=ONE_ZERO_TWO_OF_EACH,
            wilds={"WD": 4, "WI": 8},
            points={"S": 20, "V": 20, "D": 20, "WD": 50, "WI": 50},  # MK-53
            effects={
                "S": ("skip",),
                "V": ("reverse",),
                "D": ("draw_two",),
                "WD": ("challenge", "draw_four"),
                "WI": ("flip",),
            },
            starts={"S": "skip", "V": "reverse", "D": "draw_two", "WI": "wild"},
            never_start=frozenset({"WD"}),
            unnamed=frozenset({"WI"}),
            options={
                **COMMON,
                "start_color": "dealer",
                "banana_first_turn": "nobody",
                "itembox_last": "resolve",
            },
            fixed={"supply": ("pile",)},
            items={  # MK-32
                "R": ("mushroom",),
                "Y": ("banana",),
                "G": ("shell",),
                "B": ("lightning", "after_lightning"),
                "W": ("bobomb",),
            },
        ),
        Edition(
            name="classic",
            title="UNO",
            colored=ONE_ZERO_TWO_OF_EACH,
            wilds={"W": 4, "WD": 4},
            points={"S": 20, "V": 20, "D": 20, "W": 50, "WD": 50},  # CL-22
            effects={"S": ("skip",), "V": ("reverse",), "D": ("draw_two",), "WD": ("challenge", "draw_four")},
            starts={"S": "skip", "V": "reverse", "D": "draw_two", "W": "wild"},
            never_start=frozenset({"WD"}),
            unnamed=frozenset(),
            options=COMMON,
            fixed={"supply": ("pile",)},
        ),
    )
}


def edition(name: str) -> Edition:
    """The edition of this name. Raises EditionError, which lists those there are."""
    try:
        return EDITIONS[name]
    except KeyError:
        raise EditionError(f"there is no edition {name!r}; there are {', '.join(EDITIONS)}") from None
