"""A turn, from the question to the seat that is next, and when a round is blocked; knows no effect of a card."""

from tests.checker.cards import worth
from tests.checker.desk import Desk
from tests.checker.forced import suffer
from tests.checker.laying import can_stack, effect_of, layable, next_seats, ways
from tests.checker.plays import RoundOver, carry_out
from tests.checker.supplies import draw, draw_until_playable, nothing_left, press


def play_on(desk: Desk, seat: int) -> None:
    """Turns, from this seat's on, until the round is over. Raises RoundOver."""
    while True:
        desk.stirred = False
        *missing, following = take_stacked_turn(desk, seat) if desk.stack else take_turn(desk, seat)
        end_turn(desk, seat)
        for other in missing:
            lose_turn(desk, other)
        desk.passed_on |= following != seat
        seat = following


def take_turn(desk: Desk, seat: int) -> list[int]:
    """A card is laid, or drawn and perhaps laid, or the launcher is pressed; returns the seats that are next."""
    action = desk.ask(seat, "turn", lambda: [*layable(desk, seat), "draw"])
    if action == "draw" and desk.options["supply"] == "launcher":
        press_for_turn(desk, seat)
    elif action == "draw":
        action = draw_for_turn(desk, seat)
    if action.startswith("play"):
        return carry_out(desk, seat, action)
    return next_seats(desk, seat)


def take_stacked_turn(desk: Desk, seat: int) -> list[int]:
    """A draw card is laid on the draw card, or all that waits is taken and the turn is lost (house rule)."""
    top = desk.books.top
    action = desk.ask(
        seat, "turn", lambda: [*(play for play in layable(desk, seat) if can_stack(desk, play.split()[1], top)), "draw"]
    )
    if action != "draw":
        return carry_out(desk, seat, action)
    desk.stirred = not nothing_left(desk)
    *_, following = suffer(desk, seat, effect_of(desk, top))
    lose_turn(desk, seat)
    return [following]


def draw_for_turn(desk: Desk, seat: int) -> str:
    """Who does not lay a card draws one, and may lay that one (MK-16..18); returns the play, or `keep`."""
    books = desk.books
    count = (
        draw_until_playable(desk, seat) if desk.option_is("draw_until_playable", "on") else draw(desk, seat, 1, "turn")
    )
    if not count:
        return "keep"
    desk.stirred = True
    card = books.hands[seat][-1]
    if not books.can_lay(card):
        return "keep"
    keep = [] if desk.option_is("forced_play", "on") else ["keep"]
    action = desk.ask(seat, "drawn", lambda: ways(card) + keep)
    return "keep" if seat in books.out else action


def press_for_turn(desk: Desk, seat: int) -> None:
    """Who does not lay a card presses once (AT-8), and that ends the turn (AT-12)."""
    while seat not in desk.books.out:
        desk.stirred |= not nothing_left(desk)
        cards = press(desk, seat, "turn")
        if (
            any(desk.books.can_lay(card) for card in cards)
            or nothing_left(desk)
            or not desk.option_is("draw_until_playable", "on")
        ):
            return


def lose_turn(desk: Desk, seat: int) -> None:
    """A seat is passed over, unless it has left."""
    if seat not in desk.books.out:
        desk.event("skip", seat=seat)
        desk.passed_on = True


def end_turn(desk: Desk, seat: int) -> None:
    """Whether the round is blocked is looked at when a turn ends (AMB-33). Raises RoundOver."""
    desk.turns += 1
    if desk.stirred:
        desk.passes = 0
    elif seat not in desk.books.out:
        desk.passes += 1
    if desk.passes >= len(desk.books.in_play()):
        raise RoundOver(lowest(desk), "blocked")
    if desk.turns >= int(desk.options["turn_cap"]):
        raise RoundOver(lowest(desk), "turn_cap")


def lowest(desk: Desk) -> int | None:
    """Who wins a round that is stuck: nobody, or the only one with the lowest hand."""
    if desk.option_is("blocked_round", "void"):
        return None
    values = {seat: worth(desk.books.hands[seat]) for seat in desk.books.in_play()}
    seats = [seat for seat, value in values.items() if value == min(values.values())]
    return seats[0] if len(seats) == 1 else None
