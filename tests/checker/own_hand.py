"""What a play does to the hand of its player: items, trades, an All Hit that includes it; knows no other step."""

from tests.checker.cards import printed
from tests.checker.desk import Desk
from tests.checker.laying import Play, name_color, targets
from tests.checker.supplies import draw, press, press_each, reshuffle

ITEMS = {"R": "mushroom", "Y": "banana", "G": "shell", "B": "lightning", "W": "bobomb"}


def change_own_hand(desk: Desk, play: Play) -> None:
    """The item of an Item Box, trades, an All Hit that includes its player."""
    if play.effect == "item_box":
        open_box(desk, play)
    elif play.effect == "all_hit" and desk.option_is("all_hit", "everyone"):
        press_each(desk, play.seat, "all_hit")
        if not play.last:
            press(desk, play.seat, "all_hit")
    elif play.last:
        return
    elif play.effect == "trade_hands" or (play.effect == "seven" and desk.option_is("seven_zero", "on")):
        trade(desk, play)
    elif play.effect == "zero" and desk.option_is("seven_zero", "on"):
        move_hands(desk, play)


def open_box(desk: Desk, play: Play) -> None:
    """A card is turned; from here on the play has the effect of its item (MK-28, MK-29)."""
    books = desk.books
    if play.last and desk.option_is("itembox_last", "at_once"):
        play.effect = "none"
        return
    if not books.pile:
        reshuffle(desk)
    card = books.pile[0]
    play.effect = ITEMS[card[0]]
    desk.event("flip", seat=play.seat, card=card, item=play.effect)
    if play.effect == "bobomb" and not (play.last and desk.option_is("itembox_last", "after_penalties")):
        draw(desk, play.seat, 2, "bobomb")
        if books.hands[play.seat]:
            name_color(desk, play.seat)


def trade(desk: Desk, play: Play) -> None:
    """Hands are traded with an opponent, with Trade Hands perhaps with nobody (AT-34)."""
    seat, hands = play.seat, desk.books.hands
    none = ["target none"] if play.effect == "trade_hands" and desk.option_is("trade_hands", "may") else []
    action = desk.ask(seat, "target", lambda: targets(desk, seat) + none)
    if action == "target none":
        desk.event("target", seat=seat, target=None)
        return
    other = int(action.split()[1])
    play.traded = True
    desk.event("target", seat=seat, target=other)
    if seat in desk.books.out:  # its hand is laid aside
        return
    new = {seat: printed(hands[other]), other: printed(hands[seat])}
    desk.event("trade", **{"seat": seat, "with": other, "cards": [[party, new[party]] for party in sorted(new)]})


def move_hands(desk: Desk, play: Play) -> None:
    """All hands move one seat on in the direction of play."""
    books = desk.books
    moves = [(seat, books.before(seat)) for seat in (play.seat, *books.others(play.seat))]
    play.traded = True
    desk.events(
        [
            {"type": "trade", "seat": seat, "with": giver, "cards": [[seat, printed(books.hands[giver])]]}
            for seat, giver in moves
        ]
    )
