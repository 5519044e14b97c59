"""How cards come to a hand: drawn from the pile or ejected by presses of the launcher; knows no reason for it.

A seat that has left gets nothing.
"""

from tests.checker.chance import pressed
from tests.checker.desk import Desk


def reshuffle(desk: Desk) -> None:
    """The discards become part of the pile, if there are any that can (AMB-31)."""
    loose = desk.books.loose()
    if loose:
        desk.event("reshuffle", count=len(loose))


def draw(desk: Desk, seat: int, count: int, why: str) -> int:
    """A seat draws; what is not there is forgiven (AMB-32). Returns how many cards came."""
    books = desk.books
    if seat in books.out or count == 0:
        return 0
    if len(books.pile) < count:
        reshuffle(desk)
    cards = books.pile[:count]
    if cards:
        desk.event("draw", seat=seat, count=len(cards), why=why, cards=cards)
    return len(cards)


def draw_until_playable(desk: Desk, seat: int) -> int:
    """A seat draws on until a card can be laid or there is none left (house rule)."""
    books = desk.books
    if seat in books.out:
        return 0
    if not any(books.can_lay(card) for card in books.pile):
        reshuffle(desk)
    count = next((place for place, card in enumerate(books.pile, 1) if books.can_lay(card)), len(books.pile))
    return draw(desk, seat, count, "turn")


def press(desk: Desk, seat: int, why: str) -> list[str]:
    """A seat presses once and takes what comes. An empty launcher is filled before, if it can be (AMB-30)."""
    books = desk.books
    if seat in books.out:
        return []
    if not books.pile:
        reshuffle(desk)
    size = desk.script.pop(0) if desk.script else by_chance(desk)
    cards = books.pile[:size]
    desk.event("press", seat=seat, ejected=len(cards), counter=0 if cards else books.counter + 1)
    if cards:
        desk.event("draw", seat=seat, count=len(cards), why=why, cards=cards)
    return cards


def by_chance(desk: Desk) -> int:
    """How many cards the next press would eject, if they are there."""
    books = desk.books
    return pressed(
        books.seed,
        books.round,
        books.presses + 1,
        model=str(desk.options["launcher"]),
        since_ejection=books.counter,
        since_reload=books.presses - books.filled_at,
    )


def nothing_left(desk: Desk) -> bool:
    """Whether there is no card to draw, and none to shuffle."""
    return not desk.books.pile and not desk.books.loose()


def press_until(desk: Desk, seat: int, why: str, wanted: str | None) -> None:
    """A seat presses until cards come, or (`wanted`) one of this color, or none can come (AT-32, AMB-26)."""
    while seat not in desk.books.out:
        cards = press(desk, seat, why)
        if any(wanted is None or card[0] == wanted for card in cards) or nothing_left(desk):
            return


def press_each(desk: Desk, seat: int, why: str) -> None:
    """All others press once, in play order."""
    for other in desk.books.others(seat):
        press(desk, other, why)


def give(desk: Desk, seat: int, count: int, why: str) -> None:
    """So many cards from the pile, or so many presses."""
    if desk.options["supply"] == "pile":
        draw(desk, seat, count, why)
        return
    for _ in range(count):
        press(desk, seat, why)
