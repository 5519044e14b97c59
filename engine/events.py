"""Events: what happened, as the dicts that are logged and sent, and the one place that hides anything from a seat.

A field that a seat may not see is absent from its copy, never null.
"""

from collections.abc import Callable
from typing import Literal, NotRequired, TypedDict, cast

Why = Literal[
    "turn", "start", "draw_two", "wild_draw_four", "guilty", "innocent", "banana", "shell", "lightning", "bobomb",
    "uno", "hit_two", "hit_four", "hit_fire", "all_hit", "attack",
]  # fmt: skip
"""Why cards are drawn or presses made."""

Item = Literal["mushroom", "banana", "shell", "lightning", "bobomb"]
RoundReason = Literal["out", "blocked", "turn_cap", "forfeit"]
MatchReason = Literal["target", "rounds", "max_rounds", "void_limit", "forfeit"]


class DealerDraw(TypedDict):
    """The draw for dealer (MK-3, CL-2): every card in the order drawn, tied seats drawing on."""

    type: Literal["dealer_draw"]
    cards: list[tuple[int, str]]
    dealer: int


class RoundBegins(TypedDict):
    """A round is dealt; void rounds take a number too."""

    type: Literal["round"]
    round: int
    dealer: int


class Deal(TypedDict):
    """A seat's first hand; only that seat sees the cards."""

    type: Literal["deal"]
    seat: int
    count: int
    cards: NotRequired[list[str]]


class StartCard(TypedDict):
    """A card was turned to start the discard pile; `back` if it may not start and went back."""

    type: Literal["start_card"]
    card: str
    back: bool


class Play(TypedDict):
    """A card was laid; `color` as named with it, `uno` if the call was made."""

    type: Literal["play"]
    seat: int
    card: str
    color: NotRequired[str]
    uno: NotRequired[bool]


class Flip(TypedDict):
    """An Item Box turned the top card of the draw pile (MK-28)."""

    type: Literal["flip"]
    seat: int
    card: str
    item: Item


class ColorNamed(TypedDict):
    """A color was named outside a play."""

    type: Literal["color"]
    seat: int
    color: str


class Target(TypedDict):
    """A player was chosen; null where the rule is optional and nobody was."""

    type: Literal["target"]
    seat: int
    target: int | None


Trade = TypedDict(  # `with` is a keyword of Python, so that a class body cannot say it
    "Trade",
    {
        "type": Literal["trade"],
        "seat": int,
        "with": int,
        "cards": NotRequired[list[tuple[int, list[str]]]],
    },
)
"""Hands moved; each party sees its own new hand among [seat, cards]."""


class Draw(TypedDict):
    """Cards were drawn; only that seat sees them."""

    type: Literal["draw"]
    seat: int
    count: int
    why: Why
    cards: NotRequired[list[str]]


class Discard(TypedDict):
    """Cards that a Discard All threw off, in printed order, itself not among them."""

    type: Literal["discard"]
    seat: int
    cards: list[str]


class Press(TypedDict):
    """The launcher was pressed; `counter`: presses since the last ejection, after this one."""

    type: Literal["press"]
    seat: int
    ejected: int
    counter: int


class Reverse(TypedDict):
    """The direction of play is now this."""

    type: Literal["reverse"]
    direction: int


class Skip(TypedDict):
    """A seat lost its turn."""

    type: Literal["skip"]
    seat: int


class Challenge(TypedDict):
    """A Wild Draw Four of seat `of` was challenged; only the challenger sees the hand that was judged."""

    type: Literal["challenge"]
    seat: int
    of: int
    guilty: bool
    hand: NotRequired[list[str]]


class TakeBack(TypedDict):
    """The offender took the Wild Draw Four back into the hand (MK-44)."""

    type: Literal["take_back"]
    seat: int
    card: str


class Caught(TypedDict):
    """A seat that did not call UNO was caught, by these seats (none where catching is automatic)."""

    type: Literal["caught"]
    seat: int
    by: list[int]


class Reshuffle(TypedDict):
    """This many discards became the draw pile."""

    type: Literal["reshuffle"]
    count: int


class Forfeit(TypedDict):
    """A seat left play."""

    type: Literal["forfeit"]
    seat: int
    why: str


class RoundEnd(TypedDict):
    """A round is over; `winner` null means void. `hands` as counted, `points` what each score changed by."""

    type: Literal["round_end"]
    winner: int | None
    reason: RoundReason
    hands: list[list[str]]
    points: list[int]


class MatchEnd(TypedDict):
    """The match is over; `places` are competition ranks, 1 the best."""

    type: Literal["match_end"]
    places: list[int]
    scores: list[int]
    reason: MatchReason


Event = (
    DealerDraw | RoundBegins | Deal | StartCard | Play | Flip | ColorNamed | Target | Trade | Draw | Discard | Press
    | Reverse | Skip | Challenge | TakeBack | Caught | Reshuffle | Forfeit | RoundEnd | MatchEnd
)  # fmt: skip

Loose = dict[str, object]
"""An event of whatever type, while fields are taken out of it."""


def without(event: Loose, field: str) -> Loose:
    """The event without the field."""
    return {name: value for name, value in event.items() if name != field}


def own_cards(event: Loose, seat: int | None) -> Loose:
    """Only the seat that was dealt or drew the cards sees them."""
    return event if event["seat"] == seat else without(event, "cards")


def own_verdict(event: Loose, seat: int | None) -> Loose:
    """MK-42, AMB-22b, AMB-50: the judged hand is shown to the challenger and to nobody else."""
    return event if event["seat"] == seat else without(event, "hand")


def own_trade(event: Loose, seat: int | None) -> Loose:
    """Each party to a trade sees the hand that it got."""
    hands = cast("list[tuple[int, list[str]]]", event["cards"])
    own = [(party, cards) for party, cards in hands if party == seat]
    return {**event, "cards": own} if own else without(event, "cards")


HIDES: dict[str, Callable[[Loose, int | None], Loose]] = {
    "deal": own_cards,
    "draw": own_cards,
    "challenge": own_verdict,
    "trade": own_trade,
}
"""The event types that hold something hidden, and what becomes of them for one seat (None: a spectator)."""


def sees_more(event: Event) -> bool:
    """Whether some seat may see more of the event than another."""
    return event["type"] in HIDES


def seen_by(event: Event, seat: int | None) -> Event:
    """The event as this seat may know it; None for a spectator. The same object where nothing is hidden from it."""
    hide = HIDES.get(event["type"])
    if hide is None:
        return event
    return cast("Event", hide(cast("Loose", event), seat))
