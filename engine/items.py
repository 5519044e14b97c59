"""Mario Kart items: what an Item Box turns up and what that does. Nothing here happens in ordinary play (MK-27).

An edition lists the effects by the color of the turned card (`editions.Edition.items`, MK-32).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.cards import is_wild
from lastcard.engine.effects import EFFECTS, ask_target
from lastcard.engine.state import Effect, State
from lastcard.engine.turns import EXTRA, OTHERS, OWN

if TYPE_CHECKING:
    from lastcard.engine.events import Item


def flip(state: State) -> None:
    """MK-28, MK-29: the top card of the draw pile is turned, lies on top now (MK-31), and its item takes effect."""
    if not state.hands[state.turn] and state.rules.itembox_last == "at_once":  # AMB-1
        return
    card = state.take()
    assert card, "under an Item Box lies a card that can be reshuffled (AMB-15)"
    code = state.rules.deck.code[card]
    state.discards.append(card)
    # MK-30, AMB-2, AMB-13, AMB-14: only the item acts; a colored card brings its color, a wild none yet
    state.set_color(None if is_wild(code) else code[0])
    effects = state.rules.items[code[0]]
    item: Item = ITEM_OF[effects[0].name]
    state.events.append({"type": "flip", "seat": state.turn, "card": code, "item": item})
    state.plan(effects)


def take_another_turn(state: State) -> None:
    """MK-33, MK-34, MK-39, AMB-16: a full turn more, unless the hand is empty and the round won."""
    state.again = bool(state.hands[state.turn])


def mushroom(state: State) -> None:
    """MK-33: the Item Box player takes another turn."""
    take_another_turn(state)


def banana(state: State) -> None:
    """MK-35, AMB-9, AMB-12: the player who went directly before draws two and loses no turn."""
    victim = state.before()
    if victim is not None:
        state.draw(victim, 2, "banana")


def shell(state: State) -> None:
    """MK-37: the Item Box player picks an opponent, who draws one."""
    ask_target(state, hit_by_shell)


def hit_by_shell(state: State, target: int) -> None:
    """MK-37, AMB-12: the chosen one draws one and loses no turn."""
    state.draw(target, 1, "shell")


def lightning(state: State) -> None:
    """MK-38, AMB-10, AMB-11: all others draw one, in play order."""
    for seat in state.others():
        state.draw(seat, 1, "lightning")


def after_lightning(state: State) -> None:
    """MK-39: and the Item Box player takes another turn."""
    take_another_turn(state)


def bobomb(state: State) -> None:
    """MK-40, AMB-1: the Item Box player draws two, is therefore not out, and names the color."""
    if not state.hands[state.turn] and state.rules.itembox_last == "after_penalties":
        return
    state.draw(state.turn, 2, "bobomb")
    if state.hands[state.turn] or state.turn in state.out:
        state.ask("color", (state.turn,), {"why": "bobomb"})


ITEM_OF: dict[str, Item] = {
    "mushroom": "mushroom",
    "banana": "banana",
    "shell": "shell",
    "lightning": "lightning",
    "bobomb": "bobomb",
}
"""The item's name in events, by its first effect."""

EFFECTS.update(
    {
        effect.name: effect
        for effect in (
            Effect(OWN, "flip", flip),
            Effect(OWN, "bobomb", bobomb),
            Effect(OTHERS, "banana", banana),
            Effect(OTHERS, "shell", shell),
            Effect(OTHERS, "lightning", lightning),
            Effect(EXTRA, "mushroom", mushroom),
            Effect(EXTRA, "after_lightning", after_lightning),
        )
    }
)
