"""Forfeits: a seat leaves play in any state of a match (`spec.md`, forfeit)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lastcard.engine.actions import ANSWERS, LEGAL, resume
from lastcard.engine.endings import end_match, end_round
from lastcard.engine.turns import end_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from lastcard.engine.events import Event
    from lastcard.engine.state import State


def leave(state: State, seat: int, why: str) -> list[Event]:
    """The hand is laid aside and counts once; an open decision of the seat is answered by its fallback.

    A seat out of play draws nothing, so that the fallback of a turn merely passes it on. When one seat is left
    it wins the round in progress, and the match is over.
    """
    in_round = state.decision is not None
    state.out = state.out | {seat}
    if in_round:
        state.aside[seat], state.hands[seat] = state.hands[seat], 0
    told: list[Event] = [{"type": "forfeit", "seat": seat, "why": why}]
    state.events = told
    if state.in_play() == 1:
        last = next(other for other in range(state.seats) if other not in state.out)
        if in_round:
            end_round(state, last, "forfeit")
        else:
            end_match(state, "forfeit")
        return told
    decision = state.decision
    if decision is None or seat not in decision.seats:
        return told
    remaining = tuple(other for other in decision.seats if other != seat)
    if remaining:  # a catch: the others still answer
        state.decision = replace(decision, seats=remaining)
        return told
    return told + LEAVES.get(decision.kind, fall_back)(state, seat)


def fall_back(state: State, seat: int) -> list[Event]:
    """The seat's open decision is answered by its last legal action."""
    decision = state.decision
    assert decision is not None, "only an open decision falls back"
    return ANSWERS[decision.kind](state, {seat: LEGAL[decision.kind](state, seat)[-1]})


def pass_over(state: State, seat: int) -> list[Event]:
    """The seat's turn passes, and with it what was stacked against it."""
    state.events = []
    state.decision = None
    state.drawn = state.stack = state.missed = 0
    state.set_color(state.color)
    end_turn(state)
    return state.events


def void_penalty(state: State, seat: int) -> list[Event]:
    """The challenger leaves: the Wild Draw Four stands, and strikes nobody in its place."""
    state.stack, state.held = 0, 1
    state.verdict = True
    return resume(state, [])


LEAVES: dict[str, Callable[[State, int], list[Event]]] = {
    "turn": pass_over,
    "drawn": pass_over,
    "challenge": void_penalty,
}
"""Where the fallback would make the seat draw, or somebody else in its place."""
