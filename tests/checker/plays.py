"""A play from the card that leaves the hand to the seat that is next, step by step; knows no turn and no score.

The order is that of AMB-37: the card, the own hand, the catch, the challenge, what it forces on others, an extra card
or turn, the next seat.
"""

from tests.checker.cards import printed
from tests.checker.desk import Desk
from tests.checker.forced import force
from tests.checker.laying import Play, effect_of, layable, names_color, next_seats, two_left
from tests.checker.own_hand import change_own_hand
from tests.checker.supplies import give


class RoundOver(Exception):
    """Somebody has won the round, or nobody can."""

    def __init__(self, winner: int | None, reason: str) -> None:
        super().__init__(reason)
        self.winner = winner
        self.reason = reason


def carry_out(desk: Desk, seat: int, action: str) -> list[int]:
    """All that a play brings about, extra cards included; returns the seats that are next, of which all but the last
    miss their turn. Raises RoundOver.
    """
    missed = 0
    while True:
        play = lay(desk, seat, action, missed)
        change_own_hand(desk, play)
        catch(desk, play)
        if play.effect not in ("skip", "reverse"):
            following = force(desk, play)
            break
        missed = miss_turns(desk, play)
        extra = ask_for_extra(desk, play)
        if extra is None:
            following = next_seats(desk, seat, missed)
            break
        action = extra
    if not desk.books.hands[seat] and seat not in desk.books.out:
        raise RoundOver(seat, "out")
    return following


def lay(desk: Desk, seat: int, action: str, missed: int) -> Play:
    """Step 1: the cards leave the hand."""
    books = desk.books
    card, *words = action.split()[1:]
    called = "uno" in words
    event: dict[str, object] = {"seat": seat, "card": card}
    if names_color(card):
        event["color"] = words[0]
    if called:
        event["uno"] = True
    effect = effect_of(desk, card)
    play = Play(seat, card, effect, called, books.top, books.color, [], missed, stacked=desk.stack > 0)
    desk.stirred = True
    desk.event("play", **event)
    books.held = effect == "wild_draw_four" and desk.option_is("wd4_guilty", "take_back")
    if effect == "discard_all":
        throw_all(desk, seat, card)
    play.hand = list(books.hands[seat])
    return play


def throw_all(desk: Desk, seat: int, card: str) -> None:
    """All other cards of its color go under a Discard All, without their effects (AT-26, AMB-25)."""
    thrown = printed([other for other in desk.books.hands[seat] if other[0] == card[0]])
    if thrown:
        desk.event("discard", seat=seat, cards=thrown)


def catch(desk: Desk, play: Play) -> None:
    """A call that was due and not made may be caught; a call that was not due may cost something."""
    seat = play.seat
    if play.called and len(play.hand) > 1:
        give(desk, seat, int(desk.options["false_call_penalty"]), "uno")
    if seat in desk.books.out or play.called or play.traded or len(play.hand) != 1 or len(desk.books.hands[seat]) != 1:
        return
    others = desk.books.others(seat)
    by: list[int] = []
    if desk.option_is("catch", "asked"):
        answers = desk.ask_all(others, "catch", ["catch", "wait"])
        by = [other for other in others if answers.get(other) == "catch"]
        if not by:
            return
    desk.event("caught", seat=seat, by=by)
    give(desk, seat, int(desk.options["uno_penalty"]), "uno")


def miss_turns(desk: Desk, play: Play) -> int:
    """How many turns are to be missed by now; between two players a Reverse is a Skip (AMB-34)."""
    if play.effect == "reverse":
        desk.event("reverse", direction=-desk.books.direction)
    return play.missed + (play.effect == "skip" or two_left(desk, play.seat))


def ask_for_extra(desk: Desk, play: Play) -> str | None:
    """The extra card after a Skip or Reverse (AT-24, AMB-3); None if there is none."""
    seat, two = play.seat, two_left(desk, play.seat)
    allowed = desk.option_is("extra_card", "always") or (desk.option_is("extra_card", "two_players") and two)
    if not allowed or (two and desk.option_is("two_player_extra", "turn")):
        return None
    if seat in desk.books.out or not layable(desk, seat):
        return None
    action = desk.ask(seat, "extra", lambda: [*layable(desk, seat), "stop"])
    return None if action == "stop" else action
