"""What is in the `state` of an ask and in every event, for the JSON Schema and tests. Hides nothing itself.

The engine makes these objects as plain dicts and the protocol passes them on unopened; the classes here say
what a bot may rely on. A field that is hidden from the reader, or that does not apply, is absent.
"""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from lastcard.protocol.messages import Count, Number, Seat

Card = Annotated[str, Meta(pattern="^(?:[RGBY][0-9SVDHAT]|W[DIHAFXC]?)$")]
Color = Literal["R", "G", "B", "Y"]
Direction = Literal[1, -1]
Item = Literal["mushroom", "banana", "shell", "lightning", "bobomb"]
Why = Literal[
    "turn",
    "start",
    "draw_two",
    "wild_draw_four",
    "guilty",
    "innocent",
    "banana",
    "shell",
    "lightning",
    "bobomb",
    "uno",
    "hit_two",
    "hit_four",
    "hit_fire",
    "all_hit",
    "attack",
]


class About(Struct, frozen=True):
    """What a decision is about: drawn {card}, extra {card, missed}, color {why}, target {card},
    challenge {seat, color}, catch {seat}.
    """

    card: Card | UnsetType = UNSET
    missed: Count | UnsetType = UNSET
    why: str | UnsetType = UNSET
    seat: Seat | UnsetType = UNSET
    color: Color | UnsetType = UNSET


class View(Struct, frozen=True, kw_only=True):
    """Everything that one seat may know: the `state` of an ask.

    `turn` is the seat whose turn it is or whose play is being carried out; `color` is null while one must
    still be named; `before` is the seat that a banana would hit; `press` counts presses since the last
    ejection.
    """

    round: Count
    dealer: Seat
    turn: Seat
    direction: Direction
    top: Card
    color: Color | None
    hand: list[Card]
    counts: list[Count]
    draw_pile: Count
    scores: list[Number]
    out: list[Seat]
    before: Seat | None
    press: Count | UnsetType = UNSET
    about: About | UnsetType = UNSET


class Event(Struct, frozen=True, tag_field="type"):
    """Something that happened."""


class DealerDraw(Event, frozen=True, tag="dealer_draw"):
    """The draw for dealer: [seat, card] in the order drawn; tied seats draw on."""

    cards: list[tuple[Seat, Card]]
    dealer: Seat


class Round(Event, frozen=True, tag="round"):
    """A round is dealt; void rounds take a number too."""

    round: Count
    dealer: Seat


class Deal(Event, frozen=True, tag="deal"):
    """A first hand; only its seat sees the cards."""

    seat: Seat
    count: Count
    cards: list[Card] | UnsetType = UNSET


class StartCard(Event, frozen=True, tag="start_card"):
    """A card was turned to start; `back` if it may not start and went back."""

    card: Card
    back: bool


class Play(Event, frozen=True, tag="play"):
    """A card was laid, with the color named and the call made, if any."""

    seat: Seat
    card: Card
    color: Color | UnsetType = UNSET
    uno: bool | UnsetType = UNSET


class Discard(Event, frozen=True, tag="discard"):
    """Cards thrown with a Discard All."""

    seat: Seat
    cards: list[Card]


class Flip(Event, frozen=True, tag="flip"):
    """An Item Box turned this card."""

    seat: Seat
    card: Card
    item: Item


class ColorNamed(Event, frozen=True, tag="color"):
    """A color was named outside a play."""

    seat: Seat
    color: Color


class Target(Event, frozen=True, tag="target"):
    """A player was chosen; null if nobody was."""

    seat: Seat
    target: Seat | None


class Trade(Event, frozen=True, tag="trade"):
    """Hands moved: [seat, its new hand] of the reader alone."""

    seat: Seat
    other: Seat = field(name="with")
    cards: list[tuple[Seat, list[Card]]] | UnsetType = UNSET


class Draw(Event, frozen=True, tag="draw"):
    """Cards were drawn; only their seat sees them."""

    seat: Seat
    count: Count
    why: Why
    cards: list[Card] | UnsetType = UNSET


class Press(Event, frozen=True, tag="press"):
    """The launcher was pressed and gave so many cards; `counter` is the presses since the last ejection."""

    seat: Seat
    ejected: Count
    counter: Count


class Reverse(Event, frozen=True, tag="reverse"):
    """The direction of play is now this."""

    direction: Direction


class Skip(Event, frozen=True, tag="skip"):
    """A seat lost its turn."""

    seat: Seat


class Challenge(Event, frozen=True, tag="challenge"):
    """The Wild Draw Four of seat `of` was challenged; only the challenger sees the hand."""

    seat: Seat
    of: Seat
    guilty: bool
    hand: list[Card] | UnsetType = UNSET


class TakeBack(Event, frozen=True, tag="take_back"):
    """A Wild Draw Four went back into the hand it came from."""

    seat: Seat
    card: Card


class Caught(Event, frozen=True, tag="caught"):
    """A seat that did not call was caught, by these seats."""

    seat: Seat
    by: list[Seat]


class Reshuffle(Event, frozen=True, tag="reshuffle"):
    """So many discards became the draw pile."""

    count: Count


class Forfeit(Event, frozen=True, tag="forfeit"):
    """A seat left play."""

    seat: Seat
    why: str


class RoundEnd(Event, frozen=True, tag="round_end"):
    """A round is over: null for a void one; the hands as counted; what each score changed by."""

    winner: Seat | None
    reason: Literal["out", "blocked", "turn_cap", "forfeit"]
    hands: list[list[Card]]
    points: list[Number]


class MatchEnd(Event, frozen=True, tag="match_end"):
    """The match is over; places are competition ranks, 1 the best."""

    places: list[Count]
    scores: list[Number]
    reason: Literal["target", "rounds", "max_rounds", "void_limit", "forfeit"]


EVENTS: Final[tuple[type[Event], ...]] = (
    DealerDraw,
    Round,
    Deal,
    StartCard,
    Play,
    Discard,
    Flip,
    ColorNamed,
    Target,
    Trade,
    Draw,
    Press,
    Reverse,
    Skip,
    Challenge,
    TakeBack,
    Caught,
    Reshuffle,
    Forfeit,
    RoundEnd,
    MatchEnd,
)
"""Every event of every edition."""
