"""The editions, side by side: each is a deck, what its cards are worth and do, and a value for each option.

An edition is a value. Nothing in the engine looks at its name; a new one is one more row of `EDITIONS`.
The effects named here are the functions of `effects`, `items` and `starts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lastcard.engine.cards import COLORS
from lastcard.engine.errors import EditionError
from lastcard.engine.options import Value


@dataclass(frozen=True, slots=True)
class Edition:
    """One way to play: a deck, the effects of its cards, and the options that it knows with their values."""

    name: str
    title: str
    colored: Mapping[str, int]
    """How many of each symbol there are in every color."""
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
    """Wilds whose player names no color with them."""
    options: Mapping[str, Value]
    fixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Options of which this edition takes only some values."""
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What a turned card does, by color letter or `W` (MK-32)."""
    hand_size: int = 7

    @property
    def deck(self) -> list[str]:
        """Every card of the deck, in no order."""
        return self.deck_with(self.options)

    def deck_with(self, options: Mapping[str, Value]) -> list[str]:
        """The deck under these options: how many Customizable cards there are is agreed before a match (AT-36)."""
        wilds = dict(self.wilds)
        if "custom_count" in options:
            wilds["WC"] = int(options["custom_count"])
        colored = [color + symbol for color in COLORS for symbol, count in self.colored.items() for _ in range(count)]
        return colored + [wild for wild, count in wilds.items() for _ in range(count)]


NUMBERS_TWICE = dict.fromkeys("123456789", 2)
ONE_ZERO_TWO_OF_EACH = {"0": 1, **NUMBERS_TWICE, "S": 2, "V": 2, "D": 2}
"""MK-2, CL-1: the colored cards of both decks."""

WILD_EFFECTS: dict[str, tuple[str, ...]] = {
    "WH": ("hit_four",),
    "WA": ("attack_attack",),
    "WF": ("hit_fire",),
    "WX": ("all_hit_everyone", "all_hit_others"),
}
"""The wilds of the Attack editions; a plain Wild and a Customizable do nothing but name a color."""

CUSTOM_EFFECTS: dict[str, dict[str, tuple[str, ...]]] = {
    "hit_four": {"WC": WILD_EFFECTS["WH"]},
    "attack_attack": {"WC": WILD_EFFECTS["WA"]},
    "hit_fire": {"WC": WILD_EFFECTS["WF"]},
    "all_hit": {"WC": WILD_EFFECTS["WX"]},
}
"""AT-36, AMB-29: what a Customizable does by the option `custom_effect`; with `none` nothing."""

EVERYWHERE: dict[str, Value] = {
    "start_color": "first_player",
    "start_cards": "sheet",
    "next_dealer": "left",
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
"""Options that every edition knows, with the commonest value."""

WITH_PILE: dict[str, Value] = {
    "supply": "pile",
    "start_wd4": "shuffle_back",
    "wd4_unlawful": "color",
    "wd4_guilty": "keep",
    **EVERYWHERE,
}

WITH_LAUNCHER: dict[str, Value] = {
    "supply": "launcher",
    "launcher": "hazard5",
    "extra_card": "always",
    "two_player_extra": "card",
    "all_hit": "everyone",
    "trade_hands": "may",
    "trade_last": "forbidden",
    "attack_next": "next",
    "hit_fire": "any_card",
    "custom_effect": "none",
    "custom_count": 3,
    **EVERYWHERE,
}

MARIO_KART = Edition(
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
    options={**WITH_PILE, "start_color": "dealer", "banana_first_turn": "nobody", "itembox_last": "resolve"},
    fixed={"supply": ("pile",)},
    items={  # MK-32
        "R": ("mushroom",),
        "Y": ("banana",),
        "G": ("shell",),
        "B": ("lightning", "after_lightning"),
        "W": ("bobomb",),
    },
)

ATTACK = Edition(
    name="attack",
    title="UNO Attack",
    colored={**NUMBERS_TWICE, "S": 2, "V": 1, "H": 2, "A": 2},  # AT-2
    wilds={"W": 4, "WH": 1, "WA": 4, "WC": 3},
    points={"S": 20, "V": 20, "H": 20, "A": 30, "T": 30, "W": 50, "WH": 40, "WA": 50, "WF": 50, "WX": 50, "WC": 50},
    effects={
        "S": ("skip", "extra_card"),
        "V": ("reverse", "extra_card"),
        "H": ("hit_two",),
        "A": ("discard_all",),
        "T": ("trade",),
        **WILD_EFFECTS,
    },
    starts={
        "S": "skip",
        "V": "reverse",
        "H": "hit_two",
        "W": "wild",
        "WH": "hit_four",
        "WA": "wild",
        "WF": "hit_fire",
        "WX": "all_hit",
        "WC": "wild",
    },
    never_start=frozenset(),
    unnamed=frozenset(),
    options=WITH_LAUNCHER,
    fixed={"supply": ("launcher",)},
)

CLASSIC = Edition(
    name="classic",
    title="UNO",
    colored=ONE_ZERO_TWO_OF_EACH,
    wilds={"W": 4, "WD": 4},
    points={"S": 20, "V": 20, "D": 20, "W": 50, "WD": 50},  # CL-22
    effects={"S": ("skip",), "V": ("reverse",), "D": ("draw_two",), "WD": ("challenge", "draw_four")},
    starts={"S": "skip", "V": "reverse", "D": "draw_two", "W": "wild"},
    never_start=frozenset({"WD"}),
    unnamed=frozenset(),
    options=WITH_PILE,
    fixed={"supply": ("pile",)},
)

MARIO_KART_JP = replace(
    MARIO_KART,
    name="mario-kart-jp",
    title="UNO Mario Kart, Mattel's Japanese page",
    options={
        **{name: value for name, value in MARIO_KART.options.items() if name != "target"},
        "start_color": "first_player",
        "start_wd4": "put_back",
        "next_dealer": "round_winner",
        "wd4_unlawful": "any_playable",
        "wd4_guilty": "take_back",
        "scoring": "plus_minus",
        "rounds": 5,
    },
)

ATTACK_TRADE_HANDS = replace(
    ATTACK,
    name="attack-trade-hands",
    title="UNO Attack with Trade Hands",
    colored={**NUMBERS_TWICE, "S": 2, "V": 2, "H": 2, "A": 1, "T": 1},
    wilds={"W": 4, "WF": 2, "WX": 2, "WC": 0},
    options={**WITH_LAUNCHER, "custom_count": 0},
)

ATTACK_OFFICIAL = replace(
    ATTACK,
    name="attack-official",
    title="UNO Attack, the official sheet",
    options={
        **WITH_LAUNCHER,
        "extra_card": "two_players",
        "two_player_extra": "turn",
        "all_hit": "others",
        "trade_hands": "must",
    },
)

EDITIONS: dict[str, Edition] = {
    edition.name: edition
    for edition in (MARIO_KART, MARIO_KART_JP, ATTACK, ATTACK_TRADE_HANDS, ATTACK_OFFICIAL, CLASSIC)
}


def edition(name: str) -> Edition:
    """The edition of this name. Raises EditionError, which lists those there are."""
    try:
        return EDITIONS[name]
    except KeyError:
        raise EditionError(f"there is no edition {name!r}; there are {', '.join(EDITIONS)}") from None
