"""What the cards of the Attack editions do: one small function each, entered in the table of `effects`.

Hits and penalties are counted in presses; `supplies` presses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.effects import EFFECTS, ask_target, strike, trade_hands
from lastcard.engine.state import Effect, State
from lastcard.engine.supplies import press, press_until
from lastcard.engine.turns import EXTRA, LEAVE, OTHERS, OWN

if TYPE_CHECKING:
    from collections.abc import Callable


def discard_all(state: State) -> None:
    """AT-26, AMB-25, details 11: all cards of its own color leave the hand with it, wilds stay, none has an effect.

    It is laid on its color or on another one, as any card is (AT-27, AMB-25b); an empty hand wins (AMB-25c).
    """
    seat, deck = state.turn, state.rules.deck
    thrown = state.hands[seat] & state.rules.colored[state.played.card[0]]
    if not thrown:
        return
    state.hands[seat] ^= thrown
    state.played = state.played._replace(hand=state.hands[seat])
    top = state.discards.pop()
    state.discards += [*deck.apart(thrown), top]
    state.events.append({"type": "discard", "seat": seat, "cards": deck.codes(thrown)})


def hit_two(state: State) -> None:
    """AT-28, AMB-30b: the next player presses twice and loses the turn; so too after a last card (AT-43)."""
    strike(state, 2, "hit_two")


def hit_four(state: State) -> None:
    """AT-29: the next player presses four times and loses the turn; so too after a last card (AT-43)."""
    strike(state, 4, "hit_four")


def hit_fire(state: State) -> None:
    """AT-32, AMB-26: the next player presses until cards come, and loses the turn."""
    victim = state.struck()
    if not state.has_won(victim):
        HIT_FIRE[state.rules.hit_fire](state, victim)
    state.miss()


def until_any_card(state: State, victim: int) -> None:
    """AMB-26: until a press ejects a card."""
    press_until(state, victim, state.rules.deck.everything, "hit_fire")


def until_named_color(state: State, victim: int) -> None:
    """AMB-26, German test: until a card of the named color comes."""
    color = state.color
    assert color is not None, "it is named with the card"
    press_until(state, victim, state.rules.colored[color], "hit_fire")


HIT_FIRE: dict[str, Callable[[State, int], None]] = {"any_card": until_any_card, "named_color": until_named_color}


def all_hit_everyone(state: State) -> None:
    """AT-33 (002), details 4: all others press once, then its player, unless it was the last card."""
    if state.rules.all_hit == "everyone":
        for seat in state.others():
            press(state, seat, "all_hit")
        if state.hands[state.turn]:
            press(state, state.turn, "all_hit")


def all_hit_others(state: State) -> None:
    """AT-33 (WPA, REF, GE), AMB-27: all others press once."""
    if state.rules.all_hit == "others":
        for seat in state.others():
            press(state, seat, "all_hit")


def attack_attack(state: State) -> None:
    """AT-30, details 14: another player is chosen."""
    ask_target(state, attacked)


def attacked(state: State, target: int) -> None:
    """AT-30: two presses for the chosen one, who loses no turn; AT-31, AMB-8: who plays next is an option."""
    for _ in range(2):
        press(state, target, "attack")
    if state.rules.attack_next == "skip_one":
        state.miss()


def trade(state: State) -> None:
    """AT-34: whole hands are swapped with a chosen opponent, whether one may or must; AT-35: not after a last card."""
    if state.hands[state.turn]:
        state.optional = state.rules.trade_hands == "may"
        ask_target(state, trade_hands)


def extra_card(state: State) -> None:
    """AT-24, AMB-3b, AMB-3c: after a Skip or Reverse its player may lay one more card, if one can be played."""
    seat = state.turn
    if not EXTRA_CARD[state.rules.extra_card](state):
        return
    if state.in_play() == 2 and state.rules.two_player_extra == "turn":  # AMB-3e, AT-48: a full turn comes instead
        return
    if state.playable_by(seat):
        state.ask("extra", (seat,), {"card": state.top_card, "missed": state.missed})


def at_any_table(state: State) -> bool:
    """AT-24 (002): after every Skip or Reverse."""
    return True


def with_two_players(state: State) -> bool:
    """AT-24 (EXT, ATA), AMB-3: in the two-player game only."""
    return state.in_play() == 2


def at_no_table(state: State) -> bool:
    """AMB-3: the rule is left out."""
    return False


EXTRA_CARD: dict[str, Callable[[State], bool]] = {
    "always": at_any_table,
    "two_players": with_two_players,
    "never": at_no_table,
}

EFFECTS.update(
    {
        effect.name: effect
        for effect in (
            Effect(LEAVE, "discard_all", discard_all),
            Effect(OWN, "all_hit_everyone", all_hit_everyone),
            Effect(OWN, "trade", trade),
            Effect(OTHERS, "hit_two", hit_two, asks=False),
            Effect(OTHERS, "hit_four", hit_four, asks=False),
            Effect(OTHERS, "hit_fire", hit_fire, asks=False),
            Effect(OTHERS, "all_hit_others", all_hit_others, asks=False),
            Effect(OTHERS, "attack_attack", attack_attack),
            Effect(EXTRA, "extra_card", extra_card),
        )
    }
)
