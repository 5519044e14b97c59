"""The options of the rules: names, values and meaning. Knows no edition; which edition takes which is in `editions`."""

from collections.abc import Mapping
from typing import NamedTuple

from lastcard.engine.errors import OptionError

Value = str | int


class Choice(NamedTuple):
    """An option with a closed list of values."""

    values: tuple[str, ...]
    meaning: str
    rules: tuple[str, ...] = ()

    def read(self, name: str, value: object) -> Value:
        """The value, checked. `true` and `false` do for `on` and `off`, also as a command line writes them."""
        word = (
            {True: "on", False: "off", "true": "on", "false": "off"}.get(value)
            if isinstance(value, bool | str)
            else None
        )
        if word in self.values:
            value = word
        if not isinstance(value, str) or value not in self.values:
            raise OptionError(f"option {name}: {value!r} is not a value, expected one of {', '.join(self.values)}")
        return value


class Number(NamedTuple):
    """An option with a whole number for its value."""

    least: int
    most: int
    meaning: str
    rules: tuple[str, ...] = ()

    def read(self, name: str, value: object) -> Value:
        """The value, checked. A text of digits does, since a command line has nothing else."""
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:12])
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            raise OptionError(
                f"option {name}: {value!r} is not a value, expected a whole number from {self.least} to {self.most}"
            )
        return value


Option = Choice | Number

SWITCH = ("off", "on")

OPTIONS: dict[str, Option] = {
    "supply": Choice(("pile", "launcher"), "where cards come from"),
    "start_color": Choice(
        ("dealer", "first_player"), "who names the color of a wild start card", ("MK-8", "AMB-4", "CL-6")
    ),
    "start_wd4": Choice(
        ("shuffle_back", "put_back"),
        "a start card that may not start is shuffled back, or waits until all others are gone",
        ("MK-7", "CL-7"),
    ),
    "start_cards": Choice(
        ("sheet", "numbers_only"), "start cards act as the sheet says, or only numbers may start", ("AMB-24",)
    ),
    "next_dealer": Choice(("left", "round_winner"), "who deals the next round", ("MK-13", "AMB-17")),
    "wd4_unlawful": Choice(
        ("color", "any_playable"),
        "a Wild Draw Four is unlawful with a card of the color in hand, or with any playable card that is no wild",
        ("MK-43", "AMB-19", "AMB-21"),
    ),
    "wd4_guilty": Choice(
        ("keep", "take_back"),
        "after a successful challenge the card stands, or is taken back",
        ("MK-44", "AMB-22"),
    ),
    "banana_first_turn": Choice(
        ("nobody", "previous_seat"),
        "whom a Banana hits before the turn has passed for the first time",
        ("AMB-6",),
    ),
    "itembox_last": Choice(
        ("resolve", "after_penalties", "at_once"),
        "an Item Box as last card: the item first, then a look at the hand; others draw but no Bob-omb; no item at all",
        ("AMB-1",),
    ),
    "launcher": Choice(
        ("hazard5", "iid", "fixed_sequence", "scripted"),
        "how many cards a press ejects: as measured, the same without memory, a claimed fixed sequence, or given",
        ("AT-10",),
    ),
    "extra_card": Choice(
        ("always", "two_players", "never"), "when a card may be added after a Skip or Reverse", ("AT-24",)
    ),
    "two_player_extra": Choice(
        ("card", "turn"), "with two players it is an added card before a further turn, or that turn alone", ("AMB-3e",)
    ),
    "all_hit": Choice(("everyone", "others"), "whether All Hit makes its own player press too", ("AT-33", "AMB-27")),
    "trade_hands": Choice(("may", "must"), "whether Trade Hands has to be used", ("AT-34",)),
    "trade_last": Choice(("forbidden", "wins"), "whether Trade Hands may be the last card", ("AT-35", "AMB-28")),
    "attack_next": Choice(
        ("next", "skip_one"), "who plays after Attack-Attack: the next player, or the one after", ("AT-31", "AMB-8")
    ),
    "hit_fire": Choice(
        ("any_card", "named_color"), "Hit Fire ends with any card, or with one of the named color", ("AT-32", "AMB-26")
    ),
    "custom_effect": Choice(
        ("none", "hit_four", "attack_attack", "hit_fire", "all_hit"),
        "what Wild Customizable does beside naming a color",
        ("AT-36", "AMB-29"),
    ),
    "custom_count": Number(0, 3, "how many Wild Customizable are in the deck", ("AT-36", "AMB-29")),
    "uno_penalty": Number(0, 20, "cards or presses for a missed call that was caught", ("MK-48", "AMB-39", "CL-17")),
    "false_call_penalty": Number(0, 20, "cards or presses for calling UNO with more than one card left", ("AMB-40",)),
    "catch": Choice(
        ("asked", "auto"),
        "opponents are asked whether they catch, or every missed call is caught",
        ("AMB-37",),
    ),
    "scoring": Choice(
        ("winner_collects", "plus_minus", "penalty_lowest"),
        "the winner scores the other hands; and the others lose theirs; or the others score theirs and the lowest wins",
        ("MK-52", "AMB-18", "CL-22"),
    ),
    "target": Number(1, 1_000_000, "the match ends when a score reaches it (instead of rounds)", ("MK-54", "CL-22")),
    "rounds": Number(
        1, 10_000, "the match ends after so many rounds that were not void (instead of target)", ("MK-54",)
    ),
    "stacking": Choice(
        ("off", "same", "cross"),
        "house rule: a draw card may be laid on one of the same kind, or of either kind",
        ("CL-14",),
    ),
    "draw_until_playable": Choice(SWITCH, "house rule: who draws goes on until a card can be played"),
    "forced_play": Choice(SWITCH, "house rule: a drawn card that can be played has to be", ("AMB-42",)),
    "seven_zero": Choice(SWITCH, "house rule: a seven trades hands, a zero moves all hands on"),
    "blocked_round": Choice(("void", "lowest_hand_wins"), "how a blocked round ends", ("AMB-33",)),
    "turn_cap": Number(1, 1_000_000, "turns after which a round is blocked", ("AMB-33",)),
    "void_limit": Number(1, 10_000, "void rounds in a row that end the match"),
    "max_rounds": Number(1, 1_000_000, "rounds dealt, void ones too, that end the match"),
}

INSTEAD = {"target": "rounds", "rounds": "target"}
"""Of these two a match has one; setting it takes the other away."""


def resolve(
    known: Mapping[str, Value],
    fixed: Mapping[str, tuple[str, ...]],
    given: Mapping[str, object],
    edition: str,
) -> dict[str, Value]:
    """The edition's values with the given ones in their place. `fixed` narrows the values of an option.

    Raises OptionError for an option that the edition does not know, a value that the option does not, or both
    `target` and `rounds`.
    """
    both = sorted(set(INSTEAD) & set(given))
    if len(both) > 1:
        raise OptionError("options target and rounds exclude each other: give one of them")
    resolved = dict(known)
    for name, value in given.items():
        if name not in known and INSTEAD.get(name) not in known:
            raise OptionError(
                f"edition {edition} knows no option {name!r}; it knows {', '.join(sorted({*known, *INSTEAD}))}"
            )
        resolved.pop(INSTEAD.get(name, ""), None)
        option = OPTIONS[name]
        if name in fixed and isinstance(option, Choice):
            option = option._replace(values=fixed[name])
        resolved[name] = option.read(name, value)
    return resolved
