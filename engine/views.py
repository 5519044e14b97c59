"""The view: everything that one seat may know of the round, rebuilt from the state. The only projection there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from lastcard.engine.decisions import About
    from lastcard.engine.state import State


class View(TypedDict):
    """`state` on the wire."""

    round: int
    dealer: int
    turn: int
    direction: int
    top: str | None
    color: str | None
    hand: list[str]
    counts: list[int]
    draw_pile: int
    scores: list[int]
    out: list[int]
    before: int | None
    press: NotRequired[int]
    about: NotRequired[About]


def view(state: State, seat: int) -> View:
    """What this seat may know. `about` is there if the seat is asked about something."""
    decision = state.decision
    shown: View = {
        "round": state.round,
        "dealer": state.dealer,
        "turn": state.turn,
        "direction": state.direction,
        "top": state.top_card if state.discards else None,
        "color": state.color,
        "hand": state.rules.deck.codes(state.hands[seat]),
        "counts": [hand.bit_count() for hand in state.hands],
        "draw_pile": len(state.pile),
        "scores": state.scores.copy(),
        "out": sorted(state.out) if state.out else [],
        "before": state.before(),
    }
    if state.rules.supply.launches:
        shown["press"] = state.press
    if decision is not None and decision.about is not None and seat in decision.seats:
        shown["about"] = decision.about.copy()
    return shown
