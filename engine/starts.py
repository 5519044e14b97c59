"""What start cards do (MK-8..12, AT-14..22, CL-3..6): one small function each, in one table by name.

An edition lists the names by symbol (`editions.Edition.starts`). The seat on turn is the first player: the one
to the left of the dealer (MK-12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.state import Effect, State
from lastcard.engine.supplies import press, press_until
from lastcard.engine.turns import NEXT

if TYPE_CHECKING:
    from collections.abc import Callable


def plain(state: State) -> None:
    """MK-12, AT-6, AT-17: the first player begins."""
    state.begin_turn(state.turn if state.turn not in state.out else state.after(state.turn))


def skip(state: State) -> None:
    """MK-11, CL-5, AT-15: the first player is skipped."""
    state.turn = state.dealer
    state.missed = 1
    state.pass_turn()


def draw_two(state: State) -> None:
    """MK-9, CL-3, AMB-35: the first player draws two and loses the turn."""
    state.draw(state.turn, 2, "start")
    skip(state)


def reverse(state: State) -> None:
    """MK-10, CL-4, AT-14: the order is reversed and the dealer plays first; with two players too (AMB-34)."""
    state.direction = -1
    state.events.append({"type": "reverse", "direction": -1})
    state.begin_turn(state.dealer)


def wild(state: State) -> None:
    """MK-8, CL-6, AMB-4, AT-16, AT-20, AT-21, AMB-24: a color is named, and the first player has to follow it."""
    ask_color(state, START_COLOR[state.rules.start_color](state))


def ask_color(state: State, namer: int) -> None:
    """That seat names the color, and then the first player plays."""
    state.color = None
    state.ask("color", (namer,), {"why": "start"})
    state.plan((Effect(NEXT, "plain", plain),))


def hit_two(state: State) -> None:
    """AT-18, AMB-24b: the first player presses twice and loses the turn."""
    state.rules.supply.penalty(state, state.turn, 2, "start")
    skip(state)


def hit_four(state: State) -> None:
    """AT-19, AMB-23: the first player presses four times and loses the turn; who plays first names the color."""
    state.rules.supply.penalty(state, state.turn, 4, "start")
    name_and_play(state)


def hit_fire(state: State) -> None:
    """AT-22, details 9: the first player presses until cards come and loses the turn; the next one names and plays."""
    press_until(state, state.turn, state.rules.deck.everything, "start")
    name_and_play(state)


def name_and_play(state: State) -> None:
    """The first player is skipped; the next one plays first and names the color (AMB-23, details 9)."""
    skip(state)
    ask_color(state, state.turn)


def all_hit(state: State) -> None:
    """AT-22, details 9: all press, from the left of the dealer, who then names the color and plays."""
    for seat in [state.turn, *state.others()]:
        press(state, seat, "start")
    ask_color(state, state.turn)


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
    "hit_two": hit_two,
    "hit_four": hit_four,
    "hit_fire": hit_fire,
    "all_hit": all_hit,
}
