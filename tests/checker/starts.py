"""How a round begins: the deal and what its start card does, or a position to play from; knows no play."""

from tests.checker import chance
from tests.checker.cards import is_number, is_wild
from tests.checker.desk import Desk
from tests.checker.laying import name_color, symbol
from tests.checker.lines import Fields
from tests.checker.supplies import give, press, press_each, press_until

HAND = 7


def begin_round(desk: Desk, deck: list[str]) -> int:
    """Everything up to the first turn; returns the seat that has it."""
    books = desk.books
    number, dealer, seats = books.round + 1, books.dealer, books.in_play()
    draw: list[list[object]] = []
    if number == 1:
        draw, dealer = chance.draw_for_dealer(chance.Shuffle(deck, books.seed, "dealer"), seats)
    order, back = chance.deal(
        chance.Shuffle(deck, books.seed, f"deal|{number}"),
        HAND * len(seats),
        goes_back=lambda card: goes_back(desk, card),
        put_back=desk.option_is("start_wd4", "put_back"),
    )
    desk.lines.expect({"type": "round", "round": number, "dealer": dealer, "deck": order})
    return deal_out(desk, number, dealer, order, back, draw)


def deal_out(desk: Desk, number: int, dealer: int, order: list[str], back: list[str], draw: list[list[object]]) -> int:
    """The events of dealing this deck, in which these start cards went back; returns the seat with the first turn."""
    books = desk.books
    books.shuffle_in(order)
    if draw:
        desk.event("dealer_draw", cards=draw, dealer=dealer)
    desk.event("round", round=number, dealer=dealer)
    receivers = [*books.others(dealer), dealer]
    dealt = HAND * len(receivers)
    for place, seat in enumerate(receivers):
        desk.event("deal", seat=seat, count=HAND, cards=order[place : dealt : len(receivers)])
    for card in back:
        desk.event("start_card", card=card, back=True)
    desk.event("start_card", card=order[dealt], back=False)
    return first_turn(desk, order[dealt])


def goes_back(desk: Desk, card: str) -> bool:
    """Whether a card may not start: a Draw Four (MK-7), or all but numbers by option."""
    return card == "WD" or (desk.option_is("start_cards", "numbers_only") and not is_number(card))


def first_turn(desk: Desk, card: str) -> int:
    """What the start card does; returns the seat that has the first turn.

    The dealer or the first player names the color of a wild (MK-8, AT-16); that of one that strikes, who plays first
    (AMB-23, AT-22).
    """
    books, first = desk.books, desk.books.on(desk.books.dealer)
    match symbol(card):
        case "S":
            return lose_turn(desk, first)
        case "V":
            desk.event("reverse", direction=-1)
            return books.dealer
        case "D" | "H":
            give(desk, first, 2, "start")
            return lose_turn(desk, first)
        case "WH":
            give(desk, first, 4, "start")
            first = lose_turn(desk, first)
        case "WF":
            press_until(desk, first, "start", None)
            first = lose_turn(desk, first)
        case "WX":
            press_each(desk, books.dealer, "start")
            press(desk, books.dealer, "start")
    if is_wild(card):
        dealer_names = symbol(card) not in ("WH", "WF", "WX") and desk.option_is("start_color", "dealer")
        name_color(desk, books.dealer if dealer_names else first)
    return books.on(first) if first in books.out else first


def lose_turn(desk: Desk, first: int) -> int:
    """The first player loses its turn; returns the next."""
    desk.event("skip", seat=first)
    desk.passed_on = True
    return desk.books.on(first)


# ---- positions


def open_position(desk: Desk, setup: Fields) -> int:
    """The first round begins in a position; returns the seat that has the turn."""
    books = desk.books
    desk.script = list(setup.get("launcher", []))
    books.scores = list(setup.get("scores", books.scores))
    if "deal" in setup:
        return deal_position(desk, setup["deal"])
    hands, pile, discards = setup["hands"], setup.get("draw_pile", []), setup["discard_pile"]
    books.shuffle_in([card for place in (*hands, pile, discards) for card in place])
    books.hands, books.pile, books.discards = [list(hand) for hand in hands], list(pile), list(discards)
    books.color = setup.get("color", discards[-1][0])
    books.direction = setup.get("direction", 1)
    books.dealer = setup.get("dealer", 0)
    books.counter = setup.get("press", 0)
    books.round = 1
    desk.passed_on = setup.get("ply", 1) > 0
    first: int = setup.get("turn", 0)
    return first


def deal_position(desk: Desk, setup: Fields) -> int:
    """The first round is dealt, from the seed or from a stacked deck."""
    books, seats = desk.books, desk.books.in_play()
    number, dealer = setup.get("round", 1), setup.get("dealer")
    piles: dict[str, chance.Shuffle] = {}
    for label in ("dealer", f"deal|{number}"):
        given = setup.get("deck")
        piles[label] = chance.Shuffle(desk.deck, books.seed, label) if given is None else chance.Stacked(given)
    draw: list[list[object]] = []
    if dealer is None:
        draw, dealer = chance.draw_for_dealer(piles["dealer"], seats)
    put_back = "deck" in setup or desk.option_is("start_wd4", "put_back")
    order, back = chance.deal(
        piles[f"deal|{number}"], HAND * len(seats), lambda card: goes_back(desk, card), put_back=put_back
    )
    return deal_out(desk, number, dealer, order, back, draw)
