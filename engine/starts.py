"""What start cards do (MK-8..12, CL-3..6): one small function each, in one table by name.

An edition lists the names by symbol (`editions.Edition.starts`). The seat on turn is the first player: the one
to the left of the dealer (MK-12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.state import Effect, State
from lastcard.engine.turns import NEXT

if TYPE_CHECKING:
    from collections.abc import Callable


def plain(state: State) -> None:
    """MK-12: the first player begins."""
    state.begin_turn(state.turn if state.turn not in state.out else state.after(state.turn))


def skip(state: State) -> None:
    """MK-11, CL-5: the first player is skipped."""
    state.turn = state.dealer
    state.missed = 1
    state.pass_turn()


def draw_two(state: State) -> None:
    """MK-9, CL-3, AMB-35: the first player draws two and loses the turn."""
    state.draw(state.turn, 2, "start")
    skip(state)


def reverse(state: State) -> None:
    """MK-10, CL-4: the order is reversed and the dealer plays first; with two players too (AMB-34)."""
    state.direction = -1
    state.events.append({"type": "reverse", "direction": -1})
    state.begin_turn(state.dealer)


def wild(state: State) -> None:
    """MK-8, CL-6, AMB-4: a colour is named, and the first player has to follow it."""
    state.color = None
    state.ask("color", (START_COLOR[state.rules.start_color](state),), {"why": "start"})
    state.plan((Effect(NEXT, "plain", plain),))


def named_by_dealer(state: State) -> int:
    """MK-8 (000, 001, 003)."""
    return state.dealer


def named_by_first_player(state: State) -> int:
    """MK-8 (004), CL-6."""
    return state.turn


START_COLOR: dict[str, Callable[[State], int]] = {
    "dealer": named_by_dealer,
    "first_player": named_by_first_player,
}

STARTS: dict[str, Callable[[State], None]] = {
    "plain": plain,
    "skip": skip,
    "draw_two": draw_two,
    "reverse": reverse,
    "wild": wild,
}
