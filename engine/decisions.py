"""A decision: who has to choose now, and what about. Knows nothing of what is legal or what follows."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["turn", "drawn", "extra", "color", "target", "challenge", "catch"]

About = dict[str, str | int | list[int]]
"""What a decision is about, as in a view: drawn {card}, extra {card, missed}, color {why}, target {card},
challenge {seat, color}, catch {seat}.
"""


@dataclass(slots=True)
class Decision:
    """An open decision; several seats only where they answer at the same time (`catch`). It is never changed."""

    kind: Kind
    seats: tuple[int, ...]
    about: About | None = None


MOST_SEATS = 10
LEAST_SEATS = 2
"""MK-1, AT-1, CL-1. Ten players leave 41 or 37 cards to draw (AMB-49), so that the piles do run out."""

TURN = tuple(Decision("turn", (seat,)) for seat in range(MOST_SEATS))
"""The `turn` decision of each seat; it is by far the commonest and is about nothing."""
