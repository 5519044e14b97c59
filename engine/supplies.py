"""Where cards come from: a pile from which cards are drawn, or a launcher that is pressed. Two rows of one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lastcard.engine.chance import Stream
from lastcard.engine.errors import PositionError
from lastcard.engine.launcher import MODELS
from lastcard.engine.state import State
from lastcard.engine.turns import draw_one, draw_until_playable, end_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from lastcard.engine.events import Event, Why


def press(state: State, seat: int, why: Why) -> int:
    """AT-10, AT-11: one press; the seat takes all that comes out. Returns the cards.

    A launcher that is empty is reloaded first (AT-47, AMB-30, details 10), which sets the counter back.
    """
    if seat in state.out:
        return 0
    left = len(state.pile)
    if not left and state.reshuffle():
        state.press = state.since_reload = 0
        left = len(state.pile)
    state.presses += 1
    count = min(ejects(state), left)
    state.press = 0 if count else state.press + 1
    state.since_reload += 1
    state.events.append({"type": "press", "seat": seat, "ejected": count, "counter": state.press})
    if not count:
        return 0
    draw, code = state.pile.draw, state.rules.deck.code
    came = [draw() for _ in range(count)]
    cards = sum(came)
    state.hands[seat] |= cards
    told = [code[card] for card in came]
    state.events.append({"type": "draw", "seat": seat, "count": count, "why": why, "cards": told})
    return cards


def ejects(state: State) -> int:
    """How many cards the next press would eject from a full launcher, by script or by model."""
    if state.script:
        return state.script.pop(0)
    if state.script is not None and state.script_only:
        if state.dry():
            return 0
        raise PositionError(f"launcher: press {state.presses} is not scripted, expected a number of cards for it")
    stream = Stream(state.seed, f"launcher|{state.round}|{state.presses}")
    return MODELS[state.rules.launcher](stream, state.press, state.since_reload)


def press_until(state: State, seat: int, wanted: int, why: Why) -> None:
    """Presses until one of the wanted cards comes, or no card can come any more (AMB-26, AMB-32)."""
    while not press(state, seat, why) & wanted and not state.dry():
        pass


def press_times(state: State, seat: int, count: int, why: Why) -> None:
    """That many presses."""
    for _ in range(count):
        press(state, seat, why)


def press_once(state: State, seat: int) -> list[Event]:
    """AT-8, AT-9, AT-12: not playing costs one press, and nothing that comes out may be played in this turn."""
    return press_turn(state, seat, press)


def press_until_playable(state: State, seat: int) -> list[Event]:
    """House rule: presses until a card comes that could be played; the turn ends all the same (AT-12)."""
    return press_turn(state, seat, press_for_playable)


def press_for_playable(state: State, seat: int, why: Why) -> None:
    """Presses until a playable card comes, or none can."""
    press_until(state, seat, state.playable, why)


def press_turn(state: State, seat: int, how: Callable[[State, int, Why], object]) -> list[Event]:
    """A turn of pressing; it is a pass only if there was no card to be had (details 1)."""
    events: list[Event] = []
    state.events = events
    state.missed = 0
    state.passes = state.passes + 1 if state.dry() else 0
    how(state, seat, "turn")
    end_turn(state)
    return events


class Supply(NamedTuple):
    """One way to get cards."""

    decline: dict[str, Callable[[State, int], list[Event]]]
    """What `draw` does on a turn, by the house rule `draw_until_playable`."""
    penalty: Callable[[State, int, int, Why], None]
    """So many cards or presses for a seat."""
    launches: bool


SUPPLIES: dict[str, Supply] = {
    "pile": Supply({"off": draw_one, "on": draw_until_playable}, State.draw, launches=False),
    "launcher": Supply({"off": press_once, "on": press_until_playable}, press_times, launches=True),
}
"""By the option `supply`."""
