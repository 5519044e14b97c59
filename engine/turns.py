"""The course of turns: laying a card, drawing, what ends a play, a turn, a blocked round. Knows no card's effect.

`lay` and `draw_one` are where a match spends its time. Their common cases are written out at their beginning;
everything else goes through the agenda.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.decisions import TURN
from lastcard.engine.endings import BLOCKED, end_round
from lastcard.engine.state import Effect, Played, State

if TYPE_CHECKING:
    from lastcard.engine.events import Event, RoundReason
    from lastcard.engine.rules import Play

LEAVE, OWN, CATCH, CHALLENGE, OTHERS, EXTRA, NEXT = 1, 2, 3, 4, 5, 6, 7
"""The order inside a play (AMB-37); one card leaves the hand in `lay` itself."""


def lay(state: State, seat: int, play: Play, card: int) -> list[Event]:
    """The seat lays the card (MK-14, MK-15, CL-8, CL-9); its effects follow in their order (MK-19)."""
    state.hands[seat] = hand = state.hands[seat] ^ card
    state.discards.append(card)
    state.passes = 0
    quick = play.quick
    if quick is None or not hand or ((hand & (hand - 1)) == 0) is not play.uno:
        return lay_with_agenda(state, seat, play, hand)
    # no effect asks anybody anything, and the call was made just if it was due: no agenda is needed
    event = play.event.copy()
    event["seat"] = seat
    events: list[Event] = [event]
    state.color = play.color
    state.playable = play.playable
    if quick or state.out or state.turns + 1 >= state.turn_cap:
        state.events = events
        state.missed = 0
        for run in quick:
            run(state)
        end_turn(state)
    else:  # `end_turn` for a plain card, written out
        state.turns += 1
        state.gone = True
        state.turn = following = (seat + state.direction) % state.seats
        state.decision = TURN[following]
    return events


def lay_with_agenda(state: State, seat: int, play: Play, hand: int) -> list[Event]:
    """The rest of `lay` where effects ask, where the round may end, or where a call is due."""
    state.missed, state.again = 0, False
    return carry_out(state, seat, play, hand)


def lay_extra(state: State, seat: int, play: Play, card: int) -> list[Event]:
    """The seat adds a card (AT-24); the seats that miss their turn add up (AMB-3d)."""
    state.hands[seat] = hand = state.hands[seat] ^ card
    state.discards.append(card)
    return carry_out(state, seat, play, hand)


def carry_out(state: State, seat: int, play: Play, hand: int) -> list[Event]:
    """Lets the effects of a play happen, in their order."""
    state.played = Played(play.card, play.uno, hand, state.color, state.playable)
    state.traded, state.verdict = False, None
    state.color, state.playable, state.held = play.color, play.playable, play.held
    state.decision = None
    event = play.event.copy()
    event["seat"] = seat
    state.events = [event]
    state.agenda = [*play.effects]
    state.run()
    return state.events


def draw_one(state: State, seat: int) -> list[Event]:
    """MK-16, CL-11, AMB-43: one card from the pile; if it can be played it may be, at once (MK-17, CL-12, AMB-42)."""
    events: list[Event] = []
    state.events = events
    state.missed = 0
    card = state.pile.draw() or state.take()
    if not card:
        state.passes += 1  # details 1: a turn that got no card because none existed
        end_turn(state)
        return events
    state.passes = 0
    state.hands[seat] |= card
    rules = state.rules
    code = rules.deck.code[card]
    events.append({"type": "draw", "seat": seat, "count": 1, "why": "turn", "cards": [code]})
    if card & state.playable:
        state.drawn = card
        state.decision = rules.drawn[code][seat]
    else:
        end_turn(state)  # MK-18
    return events


def draw_until_playable(state: State, seat: int) -> list[Event]:
    """House rule: cards from the pile until one can be played."""
    events: list[Event] = []
    state.events = events
    state.missed = 0
    code, card = state.rules.deck.code, 0
    cards: list[str] = []
    while not card & state.playable and (taken := state.take()):
        card = taken
        state.hands[seat] |= card
        cards.append(code[card])
    if cards:
        state.passes = 0
        events.append({"type": "draw", "seat": seat, "count": len(cards), "why": "turn", "cards": cards})
    else:
        state.passes += 1
    if card & state.playable:
        state.drawn = card
        state.decision = state.rules.drawn[code[card]][seat]
    else:
        end_turn(state)
    return events


def decline(state: State, seat: int) -> list[Event]:
    """`draw`: the seat takes the consequence of not playing."""
    return take_stack(state, seat) if state.stack else state.rules.decline(state, seat)


def take_stack(state: State, seat: int) -> list[Event]:
    """House rule stacking: who does not stack draws the sum and loses the turn."""
    events: list[Event] = []
    state.events = events
    count, state.stack = state.stack, 0
    state.missed = 0
    state.set_color(state.color)
    state.passes = state.passes + 1 if state.dry() else 0
    state.rules.supply.penalty(state, seat, count, state.stacked)
    state.events.append({"type": "skip", "seat": seat})
    end_turn(state)
    return events


def keep(state: State) -> list[Event]:
    """The drawn card stays in the hand: the same events as drawing a card that cannot be played, none more."""
    events: list[Event] = []
    state.events = events
    state.missed = 0
    end_turn(state)
    return events


def end_turn(state: State) -> None:
    """A turn ends, and the next one begins past the seats that miss theirs, unless the round is blocked."""
    state.turns += 1
    if (state.passes or state.turns >= state.turn_cap) and blocked(state):
        return
    if state.missed or state.stack or state.out:
        state.pass_turn()
        return
    state.gone = True
    state.turn = following = (state.turn + state.direction) % state.seats
    state.decision = TURN[following]


def finish(state: State) -> None:
    """The last step of a play: the round is won (MK-50, AT-42, CL-19), or a further or the next turn (MK-41) begins."""
    seat = state.turn
    state.held = 1
    if not state.hands[seat] and seat not in state.out:
        end_round(state, seat, "out")
    elif not state.again or seat in state.out:
        end_turn(state)
    else:
        state.turns += 1
        if not blocked(state):
            state.begin_turn(seat)


FINISH = Effect(NEXT, "finish", finish)


def blocked(state: State) -> bool:
    """AMB-33: ends the round if everybody in turn has passed, or if there were too many turns."""
    reason: RoundReason
    if state.passes >= state.in_play():
        reason = "blocked"
    elif state.turns >= state.turn_cap:
        reason = "turn_cap"
    else:
        return False
    BLOCKED[state.rules.blocked_round](state, reason)
    return True
