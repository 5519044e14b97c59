"""What a play forces on others: the challenge, draws and presses, extra turns; knows no step before and after."""

from tests.checker.cards import can_be_laid, is_wild, printed
from tests.checker.desk import Desk
from tests.checker.laying import Play, can_stack, choose_target, next_seats, two_left
from tests.checker.supplies import draw, give, press_each, press_until

STRIKES = {"draw_two": 2, "hit_two": 2, "hit_four": 4}
"""Cards or presses for the next seat."""


def force(desk: Desk, play: Play) -> list[int]:
    """What the play forces on others; returns the seats that are next, of which all but the last miss their turn."""
    match play.effect:
        case "draw_two" | "hit_two" | "hit_four":
            return strike(desk, play, STRIKES[play.effect])
        case "wild_draw_four":
            return challenge(desk, play)
        case "hit_fire":
            return hit_fire(desk, play)
        case "attack_attack":
            return attack(desk, play)
        case "mushroom" | "lightning":
            return have_another_turn(desk, play)
    if play.effect == "all_hit" and desk.option_is("all_hit", "others"):
        press_each(desk, play.seat, "all_hit")
    if play.effect == "banana" and (desk.passed_on or desk.option_is("banana_first_turn", "previous_seat")):
        draw(desk, desk.books.before(play.seat), 2, "banana")
    if play.effect == "shell":
        draw(desk, choose_target(desk, play.seat), 1, "shell")
    return next_seats(desk, play.seat, play.missed)


def have_another_turn(desk: Desk, play: Play) -> list[int]:
    """The player goes on, if it has not left (MK-33, MK-39); with Lightning all others draw first."""
    if play.effect == "lightning":
        for other in desk.books.others(play.seat):
            draw(desk, other, 1, "lightning")
    return next_seats(desk, play.seat) if play.seat in desk.books.out else [play.seat]


def find_victim(desk: Desk, play: Play) -> tuple[list[int], int]:
    """Whom a Hit or Draw strikes: the next seat that has not to miss its turn, and those that have (AMB-3d)."""
    *missing, victim = next_seats(desk, play.seat, play.missed)
    if two_left(desk, play.seat):  # between two players it is the opponent, which misses its turn for both reasons
        return [], desk.books.on(play.seat)
    return missing, victim


def spared(play: Play, victim: int) -> bool:
    """Whether the victim is the player itself, and has won with this card (AT-42)."""
    return play.last and victim == play.seat


def strike(desk: Desk, play: Play, count: int) -> list[int]:
    """The next seat draws or presses and loses its turn; with `stacking` that waits for its turn."""
    missing, victim = find_victim(desk, play)
    if spared(play, victim):
        return [*missing, victim]
    desk.stack += count
    if desk.option_is("stacking", "off") or play.last:
        return [*missing, *suffer(desk, victim, play.effect)]
    return [*missing, victim]


def suffer(desk: Desk, victim: int, why: str) -> list[int]:
    """A seat takes what waits for it and loses its turn."""
    count, desk.stack = desk.stack, 0
    give(desk, victim, count, why)
    return [victim, desk.books.on(victim)]


def challenge(desk: Desk, play: Play) -> list[int]:
    """A Wild Draw Four strikes the next seat, unless it is challenged with success (MK-42..46)."""
    books, seat = desk.books, play.seat
    victim = books.on(seat)
    action = desk.ask(victim, "challenge", lambda: ["challenge", "accept"])
    books.held = False
    if victim in books.out:  # it strikes nobody, and what was stacked is gone
        desk.stack = 0
        return next_seats(desk, victim)
    if action == "accept":
        return strike(desk, play, 4)
    total, desk.stack = desk.stack + 4, 0
    guilty = unlawful(desk, play)
    desk.event("challenge", seat=victim, of=seat, guilty=guilty, hand=printed(play.hand))
    if not guilty:
        draw(desk, victim, total + 2, "innocent")
        return [victim, books.on(victim)]
    if desk.option_is("wd4_guilty", "take_back"):
        desk.event("take_back", seat=seat, card=play.card)
    draw(desk, seat, total, "guilty")
    return [victim]


def unlawful(desk: Desk, play: Play) -> bool:
    """Whether the hand at the play held a card that forbade the Draw Four; wilds never do (AMB-19..21)."""
    cards = [card for card in play.hand if not is_wild(card)]
    if desk.option_is("wd4_unlawful", "color"):
        return any(card[0] == play.color for card in cards)
    return any(could_be_laid(desk, card, play) for card in cards)


def could_be_laid(desk: Desk, card: str, play: Play) -> bool:
    """Whether a card could have been laid in the place of this play; on a stack only a draw card can."""
    return can_be_laid(card, play.top, play.color) and (not play.stacked or can_stack(desk, card, play.top))


def hit_fire(desk: Desk, play: Play) -> list[int]:
    """The next seat presses until cards come, or one of the named color (AT-32)."""
    missing, victim = find_victim(desk, play)
    if not spared(play, victim):
        press_until(desk, victim, "hit_fire", desk.books.color if desk.option_is("hit_fire", "named_color") else None)
    return [*missing, victim, desk.books.on(victim)]


def attack(desk: Desk, play: Play) -> list[int]:
    """A chosen opponent presses twice (AT-30); who is next goes by option (AT-31)."""
    give(desk, choose_target(desk, play.seat), 2, "attack")
    return next_seats(desk, play.seat, play.missed + desk.option_is("attack_next", "skip_one"))
