"""What may be answered to each kind of decision, and what takes the answer: two tables by kind.

`turn` and `drawn` are also written out in `match.Match`, since a match spends its time there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.cards import COLORS
from lastcard.engine.effects import answer_catch, answer_challenge
from lastcard.engine.turns import decline, keep, lay, lay_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lastcard.engine.events import Event
    from lastcard.engine.state import State


def legal_turn(state: State, seat: int) -> tuple[str, ...]:
    """The cards that may be laid, and `draw`."""
    return state.rules.listings[state.playable_by(seat)]


def legal_drawn(state: State, seat: int) -> tuple[str, ...]:
    """The drawn card, no other (AMB-42), and `keep` unless the house rule forbids it."""
    plays = state.rules.plays_of(state.drawn)
    return tuple(plays) if state.rules.forced_play else (*plays, "keep")


def legal_extra(state: State, seat: int) -> tuple[str, ...]:
    """AMB-3b: any card that may be laid, or `stop`."""
    return (*state.rules.plays_of(state.playable_by(seat)), "stop")


def legal_color(state: State, seat: int) -> tuple[str, ...]:
    """The four colors."""
    return tuple(f"color {color}" for color in COLORS)


def legal_target(state: State, seat: int) -> tuple[str, ...]:
    """The opponents still in play, in play order from the actor; `target none` where the rule is optional."""
    none = ("target none",) if state.optional else ()
    return (*(f"target {other}" for other in state.others()), *none)


def legal_challenge(state: State, seat: int) -> tuple[str, ...]:
    """MK-42."""
    return ("challenge", "accept")


def legal_catch(state: State, seat: int) -> tuple[str, ...]:
    """MK-49."""
    return ("catch", "wait")


LEGAL: dict[str, Callable[[State, int], tuple[str, ...]]] = {
    "turn": legal_turn,
    "drawn": legal_drawn,
    "extra": legal_extra,
    "color": legal_color,
    "target": legal_target,
    "challenge": legal_challenge,
    "catch": legal_catch,
}


def take_turn(state: State, answers: Mapping[int, str]) -> list[Event]:
    """`play ...` or `draw`."""
    ((seat, action),) = answers.items()
    if action == "draw":
        return decline(state, seat)
    play = state.rules.plays[action]
    card = state.hands[seat] & play.face & state.playable
    return lay(state, seat, play, card & -card)


def take_drawn(state: State, answers: Mapping[int, str]) -> list[Event]:
    """`play ...` with the drawn card, or `keep`."""
    ((seat, action),) = answers.items()
    if action == "keep":
        return keep(state)
    return lay(state, seat, state.rules.plays[action], state.drawn)


def take_extra(state: State, answers: Mapping[int, str]) -> list[Event]:
    """`play ...` or `stop`."""
    ((seat, action),) = answers.items()
    if action == "stop":
        return resume(state, [])
    play = state.rules.plays[action]
    card = state.hands[seat] & play.face & state.playable
    return lay_extra(state, seat, play, card & -card)


def take_color(state: State, answers: Mapping[int, str]) -> list[Event]:
    """`color R`: a color named outside a play (MK-8, MK-40, AMB-15)."""
    ((seat, action),) = answers.items()
    color = action[-1]
    state.set_color(color)
    return resume(state, [{"type": "color", "seat": seat, "color": color}])


def take_target(state: State, answers: Mapping[int, str]) -> list[Event]:
    """`target SEAT`, or `target none`."""
    ((seat, action),) = answers.items()
    chosen = action.removeprefix("target ")
    target = None if chosen == "none" else int(chosen)
    state.optional = False
    effect, state.resume = state.resume, None
    assert effect is not None, "a target is asked for something"
    state.events = [{"type": "target", "seat": seat, "target": target}]
    state.decision = None
    if target is not None:
        effect(state, target)
    state.run()
    return state.events


def take_challenge(state: State, answers: Mapping[int, str]) -> list[Event]:
    """`challenge` or `accept`."""
    state.events = []
    answer_challenge(state, answers)
    state.run()
    return state.events


def take_catch(state: State, answers: Mapping[int, str]) -> list[Event]:
    """`catch` or `wait`, from all who were asked."""
    state.events = []
    answer_catch(state, answers)
    state.run()
    return state.events


def resume(state: State, events: list[Event]) -> list[Event]:
    """Goes on with the agenda after a decision that gave these events."""
    state.events = events
    state.decision = None
    state.run()
    return state.events


ANSWERS: dict[str, Callable[[State, Mapping[int, str]], list[Event]]] = {
    "turn": take_turn,
    "drawn": take_drawn,
    "extra": take_extra,
    "color": take_color,
    "target": take_target,
    "challenge": take_challenge,
    "catch": take_catch,
}
