"""Decks, points and options of the six editions, written out by hand from the sheets; knows no play of a card.

Everything in this folder is a second account of the game, for auditing: it imports nothing of lastcard.
"""

COLORS = "RGBY"

SYMBOLS = "0123456789SVDHAT"
"""In printed order: numbers, Skip, Reverse, Draw Two, Hit 2, Discard All, Trade Hands."""

WILDS = ("W", "WD", "WI", "WH", "WA", "WF", "WX", "WC")
"""In printed order: Wild, Draw Four, Item Box, Hit 4, Attack-Attack, Hit Fire, All Hit, Customizable."""

PRINTED = {
    card: place for place, card in enumerate([*(color + symbol for color in COLORS for symbol in SYMBOLS), *WILDS])
}

CLASSIC_COLOR = "0 11 22 33 44 55 66 77 88 99 SS VV DD"
ATTACK_COLOR = "11 22 33 44 55 66 77 88 99 HH V SS AA"
TRADE_COLOR = "11 22 33 44 55 66 77 88 99 HH VV SS A T"

SHEETS: dict[str, tuple[str, dict[str, int]]] = {
    "mario-kart": (CLASSIC_COLOR, {"WD": 4, "WI": 8}),
    "mario-kart-jp": (CLASSIC_COLOR, {"WD": 4, "WI": 8}),
    "attack": (ATTACK_COLOR, {"W": 4, "WA": 4, "WH": 1}),
    "attack-trade-hands": (TRADE_COLOR, {"W": 4, "WX": 2, "WF": 2}),
    "attack-official": (ATTACK_COLOR, {"W": 4, "WA": 4, "WH": 1}),
    "classic": (CLASSIC_COLOR, {"W": 4, "WD": 4}),
}
"""What stands on the cards of one color, a letter a card, and the wilds. Customizable cards are an option."""

ON_OFF = ("off", "on")
CUSTOM = ("none", "hit_four", "attack_attack", "hit_fire", "all_hit")

EVERYWHERE: dict[str, tuple[str, ...] | tuple[int, int]] = {
    "start_color": ("dealer", "first_player"),
    "start_cards": ("sheet", "numbers_only"),
    "next_dealer": ("left", "round_winner"),
    "uno_penalty": (0, 20),
    "false_call_penalty": (0, 20),
    "catch": ("asked", "auto"),
    "scoring": ("winner_collects", "plus_minus", "penalty_lowest"),
    "stacking": ("off", "same", "cross"),
    "draw_until_playable": ON_OFF,
    "forced_play": ON_OFF,
    "seven_zero": ON_OFF,
    "blocked_round": ("void", "lowest_hand_wins"),
    "turn_cap": (1, 1_000_000),
    "void_limit": (1, 10_000),
    "max_rounds": (1, 1_000_000),
}
"""The options that all editions know: words, or the least and the greatest number."""

WITH_PILE: dict[str, tuple[str, ...] | tuple[int, int]] = {
    "supply": ("pile",),
    "start_wd4": ("shuffle_back", "put_back"),
    "wd4_unlawful": ("color", "any_playable"),
    "wd4_guilty": ("keep", "take_back"),
}

WITH_ITEMS: dict[str, tuple[str, ...] | tuple[int, int]] = {
    "banana_first_turn": ("nobody", "previous_seat"),
    "itembox_last": ("resolve", "after_penalties", "at_once"),
}

WITH_LAUNCHER: dict[str, tuple[str, ...] | tuple[int, int]] = {
    "supply": ("launcher",),
    "launcher": ("hazard5", "iid", "fixed_sequence", "scripted"),
    "extra_card": ("always", "two_players", "never"),
    "two_player_extra": ("card", "turn"),
    "all_hit": ("everyone", "others"),
    "trade_hands": ("may", "must"),
    "trade_last": ("forbidden", "wins"),
    "attack_next": ("next", "skip_one"),
    "hit_fire": ("any_card", "named_color"),
    "custom_effect": CUSTOM,
    "custom_count": (0, 3),
}

KNOWN = {
    "mario-kart": EVERYWHERE | WITH_PILE | WITH_ITEMS,
    "mario-kart-jp": EVERYWHERE | WITH_PILE | WITH_ITEMS,
    "attack": EVERYWHERE | WITH_LAUNCHER,
    "attack-trade-hands": EVERYWHERE | WITH_LAUNCHER,
    "attack-official": EVERYWHERE | WITH_LAUNCHER,
    "classic": EVERYWHERE | WITH_PILE,
}

LENGTHS = {"target": (1, 1_000_000), "rounds": (1, 10_000)}
"""Of these two options a match has exactly one."""


def printed(cards: list[str]) -> list[str]:
    """The cards in the order of the sheet."""
    return sorted(cards, key=PRINTED.__getitem__)


def deck_of(edition: str, custom_count: int) -> list[str]:
    """The whole deck, in printed order."""
    symbols, wilds = SHEETS[edition]
    cards = [color + symbol for color in COLORS for symbol in symbols.replace(" ", "")]
    for wild, count in {**wilds, "WC": custom_count}.items():
        cards += [wild] * count
    return printed(cards)


def is_wild(card: str) -> bool:
    """Whether it has no color of its own."""
    return card in WILDS


def is_number(card: str) -> bool:
    """Whether a figure stands on it."""
    return not is_wild(card) and card[1].isdigit()


def points_of(card: str) -> int:
    """What it is worth in a hand that is counted."""
    if is_wild(card):
        return 40 if card == "WH" else 50
    if is_number(card):
        return int(card[1])
    return 30 if card[1] in "AT" else 20


def worth(hand: list[str]) -> int:
    """What a hand is worth."""
    return sum(points_of(card) for card in hand)


def can_be_laid(card: str, top: str, color: str | None) -> bool:
    """The ordinary test: any wild; the active color; the number or symbol of the top card."""
    if is_wild(card):
        return True
    return card[0] == color or (not is_wild(top) and card[1] == top[1])


def option_faults(edition: str, options: dict[str, object]) -> list[str]:
    """What is wrong with the options of a log, a sentence each."""
    known = KNOWN[edition] | {name: LENGTHS[name] for name in LENGTHS if name in options}
    faults = [f"option {name} is missing" for name in known if name not in options]
    if sum(name in options for name in LENGTHS) != 1:
        faults.append("a match has either the option target or the option rounds")
    for name, value in options.items():
        if name not in known:
            faults.append(f"edition {edition} knows no option {name}")
        elif not fits(value, known[name]):
            faults.append(f"option {name} cannot be {value!r}")
    return faults


def fits(value: object, allowed: tuple[str, ...] | tuple[int, int]) -> bool:
    """Whether an option may have this value: one of the words, or a number between two."""
    least, most = allowed[0], allowed[-1]
    if isinstance(least, int) and isinstance(most, int):
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    return value in allowed
