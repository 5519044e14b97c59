"""What may be laid and what it will do, who is next and who is chosen; knows no step of a play."""

from dataclasses import dataclass

from tests.checker.cards import COLORS, is_wild, printed
from tests.checker.desk import Desk

EFFECTS = {
    "0": "zero",
    "7": "seven",
    "S": "skip",
    "V": "reverse",
    "D": "draw_two",
    "H": "hit_two",
    "A": "discard_all",
    "T": "trade_hands",
    "WD": "wild_draw_four",
    "WI": "item_box",
    "WH": "hit_four",
    "WA": "attack_attack",
    "WF": "hit_fire",
    "WX": "all_hit",
}
"""By symbol. A Customizable has the effect that the option gives it; other cards have none."""

STACKED = ("draw_two", "wild_draw_four", "hit_two", "hit_four")
"""What may be passed on when draw cards are stacked."""


@dataclass
class Play:
    """A card on the table, as it was when the cards of the play had left the hand."""

    seat: int
    card: str
    effect: str
    called: bool
    top: str
    """The card that it was laid on ..."""
    color: str | None
    """... and the active color at that time."""
    hand: list[str]
    """What was left in the hand."""
    missed: int
    """How many seats miss a turn by the cards that its player laid before it in this turn."""
    stacked: bool
    """Whether it was laid on a draw card that waited to be taken."""
    traded: bool = False

    @property
    def last(self) -> bool:
        """Whether it was the last card."""
        return not self.hand


def symbol(card: str) -> str:
    """What a card is apart from its color."""
    return card if is_wild(card) else card[1]


def names_color(card: str) -> bool:
    """Whether its color is named when it is played."""
    return is_wild(card) and card != "WI"


def ways(card: str) -> list[str]:
    """The actions that lay a card."""
    return [f"play {card} {color}" for color in COLORS] if names_color(card) else [f"play {card}"]


def effect_of(desk: Desk, card: str) -> str:
    """What a card does when it is played."""
    return str(desk.options["custom_effect"]) if card == "WC" else EFFECTS.get(symbol(card), "none")


def layable(desk: Desk, seat: int) -> list[str]:
    """The actions that lay a card of this hand, in printed order."""
    hand = desk.books.hands[seat]
    cards = [card for card in printed(list(set(hand))) if desk.books.can_lay(card)]
    if len(hand) == 1 and symbol(hand[0]) == "T" and desk.option_is("trade_last", "forbidden"):
        cards = []  # AMB-28
    return [action for card in cards for action in ways(card)]


def targets(desk: Desk, seat: int) -> list[str]:
    """The actions that choose an opponent, in play order."""
    return [f"target {other}" for other in desk.books.others(seat)]


def can_stack(desk: Desk, card: str, top: str) -> bool:
    """Whether a draw card may be laid on this one that waits to be taken (house rule)."""
    return symbol(card) == symbol(top) if desk.option_is("stacking", "same") else effect_of(desk, card) in STACKED


# ---- questions that several effects ask


def name_color(desk: Desk, seat: int) -> None:
    """A color is named outside a play."""
    action = desk.ask(seat, "color", lambda: [f"color {color}" for color in COLORS])
    desk.event("color", seat=seat, color=action.split()[1])


def choose_target(desk: Desk, seat: int) -> int:
    """An opponent is chosen."""
    target = int(desk.ask(seat, "target", lambda: targets(desk, seat)).split()[1])
    desk.event("target", seat=seat, target=target)
    return target


# ---- who is next


def two_left(desk: Desk, seat: int) -> bool:
    """Whether this seat and one other are in play."""
    return len(desk.books.in_play()) == 2 and seat not in desk.books.out


def next_seats(desk: Desk, seat: int, missed: int = 0) -> list[int]:
    """The seats that miss a turn when it passes on, and the one that has it; between two players the opponent misses
    one turn, however many cards say so (AMB-3d).
    """
    if two_left(desk, seat):
        missed = min(missed, 1)
    return [desk.books.on(seat, steps) for steps in range(1, missed + 2)]
