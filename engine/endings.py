"""How rounds and matches end: who scores what, who deals next, and the places. Knows no card effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.scoring import SCORING, ranks

if TYPE_CHECKING:
    from collections.abc import Callable

    from lastcard.engine.events import MatchReason, RoundReason
    from lastcard.engine.state import State


def end_round(state: State, winner: int | None, reason: RoundReason) -> None:
    """Counts the hands (MK-50, CL-22), those laid aside by a forfeit once, and looks whether the match is over."""
    deck = state.rules.deck
    counted = [deck.codes(hand | aside) for hand, aside in zip(state.hands, state.aside, strict=True)]
    points = [0] * state.seats
    if winner is not None:
        worth = [sum(state.rules.points[card] for card in hand) for hand in counted]
        points = SCORING[state.rules.scoring].points(winner, worth)
    for seat, change in enumerate(points):
        state.scores[seat] += change
    state.round_winner = winner
    state.decision, state.resume = None, None
    state.agenda.clear()
    state.events.append({"type": "round_end", "winner": winner, "reason": reason, "hands": counted, "points": points})
    if winner is None:
        state.voids += 1
    else:
        state.voids, state.rounds_won = 0, state.rounds_won + 1
        state.dealer = NEXT_DEALER[state.rules.next_dealer](state, winner)
    ended = match_ended(state)
    if ended is not None:
        end_match(state, ended)


def left_of(state: State, seat: int) -> int:
    """The next seat to the left that is still in play."""
    seat = (seat + 1) % state.seats
    while seat in state.out:
        seat = (seat + 1) % state.seats
    return seat


def dealer_to_the_left(state: State, winner: int) -> int:
    """MK-13 (000, 001, 003), AMB-17: the deal passes to the left."""
    return left_of(state, state.dealer)


def dealer_is_winner(state: State, winner: int) -> int:
    """MK-13 (004): whoever went out deals."""
    return winner


NEXT_DEALER: dict[str, Callable[[State, int], int]] = {
    "left": dealer_to_the_left,
    "round_winner": dealer_is_winner,
}


def match_ended(state: State) -> MatchReason | None:
    """Why the match is over now that a round is, or None if it goes on."""
    if state.in_play() == 1:
        return "forfeit"
    reached = goal_reached(state)
    if reached is not None:
        return reached
    if state.voids >= state.rules.void_limit:
        return "void_limit"
    if state.round >= state.rules.max_rounds:
        return "max_rounds"
    return None


def goal_reached(state: State) -> MatchReason | None:
    """MK-54, AT-45, CL-22: the goal that the round's winner has brought the match to, or None."""
    scoring = SCORING[state.rules.scoring]
    if state.round_winner is None or (scoring.untied and leaders(state) > 1):  # AMB-48: a further round until untied
        return None
    target, rounds = state.rules.target, state.rules.rounds
    if target is not None and max(state.scores) >= target:
        return "target"
    if rounds is not None and state.rounds_won >= rounds:
        return "rounds"
    return None


def leaders(state: State) -> int:
    """How many seats share the first place."""
    return places(state).count(1)


def places(state: State) -> list[int]:
    """Competition ranks of the scores, 1 the best; forfeited seats share the last places."""
    sign = SCORING[state.rules.scoring].sign
    return ranks(
        [(seat in state.out, 0 if seat in state.out else -sign * score) for seat, score in enumerate(state.scores)]
    )


def end_match(state: State, reason: MatchReason) -> None:
    """The match is over, with the scores as they stand."""
    state.reason = reason
    state.decision, state.resume = None, None
    state.agenda.clear()
    state.events.append({"type": "match_end", "places": places(state), "scores": state.scores.copy(), "reason": reason})


def void_round(state: State, reason: RoundReason) -> None:
    """AMB-33: nobody scores."""
    end_round(state, None, reason)


def lowest_hand_wins(state: State, reason: RoundReason) -> None:
    """AMB-33: the lowest hand alone in play wins the blocked round; if it is shared the round is void."""
    worth = {
        seat: sum(state.rules.points[card] for card in state.rules.deck.codes(hand))
        for seat, hand in enumerate(state.hands)
        if seat not in state.out
    }
    lowest = [seat for seat, points in worth.items() if points == min(worth.values())]
    end_round(state, lowest[0] if len(lowest) == 1 else None, reason)


BLOCKED: dict[str, Callable[[State, RoundReason], None]] = {
    "void": void_round,
    "lowest_hand_wins": lowest_hand_wins,
}
