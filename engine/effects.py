"""What cards do when they are played: one small function each, in one table by name.

An edition lists the names by symbol (`editions.Edition.effects`). The stage says when in the play the effect
happens (AMB-37). What an Item Box turns up is in `items`, what start cards do in `starts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.state import Effect, State
from lastcard.engine.turns import CATCH, CHALLENGE, OTHERS, OWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lastcard.engine.events import Why

# --- skip, reverse, draw cards


def skip(state: State) -> None:
    """MK-23, AT-23, CL-13: the next player loses the turn."""
    state.miss()


def reverse(state: State) -> None:
    """MK-22, AT-23, CL-13: the direction flips; with two players that skips the opponent as well (AMB-34, CL-23)."""
    state.direction = -state.direction
    state.events.append({"type": "reverse", "direction": state.direction})
    if state.duel():
        state.miss()


def draw_two(state: State) -> None:
    """MK-20, MK-21, CL-13: the next player draws two and loses the turn; so too after a last card (MK-51, CL-20)."""
    strike(state, 2, "draw_two")


def draw_four(state: State) -> None:
    """MK-25, CL-10: the next player draws four and loses the turn, unless a challenge decided otherwise."""
    if state.verdict is None:
        strike(state, 4, "wild_draw_four")
    elif not state.verdict:
        penalize(state, 4 + 2, "innocent")


def strike(state: State, count: int, why: Why) -> None:
    """The next player draws, after a last card too (AMB-45).

    With stacking (CL-14) that player may lay a card on it instead, unless the round ends with this one.
    """
    if state.rules.stacks and (state.hands[state.turn] or state.turn in state.out):
        if state.duel():
            state.missed = 0  # a Skip before it in a chain made the opponent miss the very turn that answers the stack
        state.stack += count
        state.stacked = why
    else:
        penalize(state, count, why)


def penalize(state: State, count: int, why: Why) -> None:
    """The next player draws or presses that often and for whatever is stacked, and loses the turn."""
    count, state.stack = count + state.stack, 0
    victim = state.struck()
    if not state.has_won(victim):
        state.rules.supply.penalty(state, victim, count, why)
    state.miss()


# --- the choice of a player


def ask_target(state: State, effect: Callable[[State, int], None]) -> None:
    """The actor chooses another player for the effect. Who left during the catch is asked no more: the fallback."""
    if state.turn in state.out:
        target = state.others()[-1]
        state.events.append({"type": "target", "seat": state.turn, "target": target})
        effect(state, target)
        return
    state.resume = effect
    state.ask("target", (state.turn,), {"card": state.played.card})


# --- the challenge of a Wild Draw Four


def challenge(state: State) -> None:
    """MK-42, CL-15: only the player who would draw may challenge; what is judged is the play (AMB-20, AMB-22c)."""
    about: dict[str, str | int | list[int]] = {"seat": state.turn}
    if state.played.color is not None:
        about["color"] = state.played.color
    state.ask("challenge", (state.struck(),), about)


def answer_challenge(state: State, answers: Mapping[int, str]) -> None:
    """MK-44, MK-45, MK-46, CL-16: who was wrong draws; an accepted play stands, lawful or not (MK-26, AMB-22d)."""
    ((seat, answer),) = answers.items()
    state.decision = None
    state.held = 1
    if answer == "accept":
        return
    offender = state.turn
    guilty = bool(UNLAWFUL[state.rules.wd4_unlawful](state))
    state.verdict = guilty
    hand = state.rules.deck.codes(state.played.hand)
    state.events.append({"type": "challenge", "seat": seat, "of": offender, "guilty": guilty, "hand": hand})
    if guilty:
        undo = GUILTY.get(state.rules.wd4_guilty)
        if undo is not None:
            undo(state)
        count, state.stack = 4 + state.stack, 0
        state.draw(offender, count, "guilty")
        state.set_color(state.color)


def held_color(state: State) -> int:
    """MK-43 (000, 001, 003), CL-10, AMB-19: unlawful with a card of the color that was active (AMB-20)."""
    color = state.played.color
    return state.played.hand & state.rules.colored[color] if color is not None else 0


def held_playable(state: State) -> int:
    """MK-43 (004): unlawful with any card that could have been played; wilds never count (AMB-21)."""
    return state.played.hand & state.played.playable & ~state.rules.wild


UNLAWFUL: dict[str, Callable[[State], int]] = {"color": held_color, "any_playable": held_playable}


def card_is_taken_back(state: State) -> None:
    """MK-44 (004), details 6: the card returns to the hand, the old top and its color are restored."""
    card = state.discards.pop()
    (state.aside if state.turn in state.out else state.hands)[state.turn] |= card
    state.events.append({"type": "take_back", "seat": state.turn, "card": state.rules.deck.code[card]})
    state.color = state.played.color


GUILTY: dict[str, Callable[[State], None]] = {"take_back": card_is_taken_back}
"""What becomes of the card; otherwise it stays, with the named color (MK-44 in 000, 001, 003; AMB-22)."""


# --- UNO


def catch(state: State) -> None:
    """MK-47, MK-49, AT-37, AT-40, CL-17, CL-18, AMB-37: one chance to catch, after the play and its effect on the hand.

    AMB-36, AMB-41: the call is due each time that a hand comes to one card by its own play.
    """
    left = state.played.hand.bit_count()
    if state.played.uno:
        if left > 1:
            false_call(state)
    elif left == 1 and state.hands[state.turn].bit_count() == 1 and not state.traded and state.others():  # AMB-36
        CATCHING[state.rules.catch](state)


def false_call(state: State) -> None:
    """AMB-40, AT-41: a call with more than one card left costs what the table agreed, by default nothing."""
    state.rules.supply.penalty(state, state.turn, state.rules.false_call_penalty, "uno")


def ask_all(state: State) -> None:
    """AMB-37: every opponent still in play is asked, all at once."""
    state.ask("catch", tuple(state.others()), {"seat": state.turn})


def catch_always(state: State) -> None:
    """AMB-37, MK-48: every missed call is caught, by nobody in particular."""
    caught(state, [])


CATCHING: dict[str, Callable[[State], None]] = {"asked": ask_all, "auto": catch_always}


def answer_catch(state: State, answers: Mapping[int, str]) -> None:
    """AMB-37: several catches are one penalty, and the order of arrival has no effect."""
    state.decision = None
    by = [seat for seat in state.others() if answers.get(seat) == "catch"]
    if by:
        caught(state, by)


def caught(state: State, by: list[int]) -> None:
    """MK-48, CL-17, AT-38, AMB-39: the penalty is drawn at once."""
    state.events.append({"type": "caught", "seat": state.turn, "by": by})
    state.rules.supply.penalty(state, state.turn, state.rules.uno_penalty, "uno")


# --- house rules


def seven(state: State) -> None:
    """House rule seven_zero: the player of a seven trades hands with a chosen opponent."""
    if state.hands[state.turn]:
        ask_target(state, trade_hands)


def trade_hands(state: State, target: int) -> None:
    """The two hands change places."""
    seat, hands, codes = state.turn, state.hands, state.rules.deck.codes
    if seat in state.out:
        return
    hands[seat], hands[target] = hands[target], hands[seat]
    state.traded = True
    own = sorted([(seat, codes(hands[seat])), (target, codes(hands[target]))])
    state.events.append({"type": "trade", "seat": seat, "with": target, "cards": own})


def zero(state: State) -> None:
    """House rule seven_zero: every hand moves on one seat in the direction of play."""
    if not state.hands[state.turn]:
        return
    codes = state.rules.deck.codes
    order = [state.turn, *state.others()]
    hands = [state.hands[seat] for seat in order]
    for place, seat in enumerate(order):
        giver = order[place - 1]
        state.hands[seat] = hands[place - 1]
        own = [(seat, codes(state.hands[seat]))]
        state.events.append({"type": "trade", "seat": seat, "with": giver, "cards": own})
    state.traded = True


HOUSE: dict[str, dict[str, tuple[str, ...]]] = {"seven_zero": {"7": ("seven",), "0": ("zero",)}}
"""Effects that a house rule adds to symbols when it is on."""

EFFECTS: dict[str, Effect] = {
    effect.name: effect
    for effect in (
        Effect(OWN, "seven", seven),
        Effect(OWN, "zero", zero),
        Effect(CATCH, "catch", catch),
        Effect(CHALLENGE, "challenge", challenge),
        Effect(OTHERS, "skip", skip, asks=False),
        Effect(OTHERS, "reverse", reverse, asks=False),
        Effect(OTHERS, "draw_two", draw_two, asks=False),
        Effect(OTHERS, "draw_four", draw_four),
    )
}
