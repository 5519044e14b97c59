"""Forfeits at any moment: of every seat, asked or not, in every kind of decision and between rounds (spec.md 2.14)."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from lastcard.engine import EDITIONS, LastcardError, Match, Rules, from_setup
from tests.engine.books import Books
from tests.engine.leaving_cases import ATTACK_CASES, CASES, LEFT
from tests.engine.play import GAMES, Game, Mood

KINDS = {
    "pile": ["turn", "drawn", "color", "target", "challenge", "catch"],
    "launcher": ["turn", "extra", "color", "target", "catch"],
}
"""The kinds of decisions there are with each supply."""
TABLES = [(name, seats) for name, seats in GAMES if seats in (2, 3, 5)]


def kinds(name: str) -> list[str]:
    return KINDS[str(EDITIONS[name].options["supply"])]


def moments(name: str, seats: int, each: int) -> Iterator[Books]:
    """States by lot, `each` of every kind of decision, with their books."""
    wanted = dict.fromkeys(kinds(name), each)
    for number in range(200):
        options = {
            "stacking": ("off", "same", "cross")[number % 3],
            "wd4_guilty": ("keep", "take_back")[number % 2],
            "catch": "asked",
            "seven_zero": "on",
            "extra_card": "always",
            "two_player_extra": "card",
            "turn_cap": 60,
            "max_rounds": 2,
        }
        game = Game.by_lot(name, seats, number, **options)
        books = Books(game.match)
        for step, events in enumerate(game.steps(200)):
            for event in events:
                books.read(event)
            kind = game.match.decision.kind if game.match.decision else None
            if kind is not None and wanted.get(kind) and ((step + number) % 3 == 0 or kind == "color"):
                wanted[kind] -= 1
                yield books
        if not any(wanted.values()):
            return
    pytest.fail(f"{name} with {seats} seats: no decisions {[kind for kind, left in wanted.items() if left]}")


def play_on(books: Books, lot: Random) -> None:
    """To the end of the match, by lot; nobody who left is asked for anything."""
    match, mood = books.match, Mood.by_lot(lot)
    while not match.over:
        if match.decision is None:
            books.keep(match.deal())
            continue
        assert match.decision.seats
        assert not {*match.decision.seats} & match.out
        books.keep(match.act(mood.answers(match, lot)))
    assert match.places is not None
    for seat, place in enumerate(match.places):  # those who left share the last places
        assert place == match.in_play() + 1 if seat in match.out else place <= match.in_play()


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_any_seat_may_leave_in_any_decision(name: str, seats: int) -> None:
    tried = 0
    for books in moments(name, seats, each=2):
        for seat in range(seats):
            lot = Random(f"{tried} {seat}")
            follow = books.copy()
            events = follow.match.forfeit(seat, "crash")
            follow.keep(events)
            ended = any(event["type"] in ("round_end", "match_end") for event in events)
            assert (follow.match.decision is None) == ended
            play_on(follow, lot)
            tried += 1
    assert tried == 2 * seats * len(kinds(name))


@pytest.mark.parametrize(("name", "seats"), [table for table in TABLES if table[1] > 2])
def test_several_seats_may_leave_one_after_the_other(name: str, seats: int) -> None:
    for number, books in enumerate(moments(name, seats, each=2)):
        lot = Random(number)
        leaving = lot.sample(range(seats), lot.randint(2, seats))
        follow = books.copy()
        for seat in leaving:
            if not follow.match.over:
                follow.keep(follow.match.forfeit(seat, "crash"))
            if not follow.match.over and follow.match.decision is not None and lot.random() < 0.5:
                follow.keep(follow.match.act(Mood(0.8, 0.5, 0.3).answers(follow.match, lot)))
            if not follow.match.over and follow.match.decision is not None:
                assert not {*follow.match.decision.seats} & follow.match.out
        play_on(follow, lot)


# --- what exactly becomes of a play or a decision whose seat leaves


EVERY_CASE = {**CASES, **ATTACK_CASES}


@pytest.mark.parametrize("case", EVERY_CASE)
def test_seat_that_leaves(case: str) -> None:
    fields, steps, events, (kind, seats, legal) = EVERY_CASE[case]
    setup: dict[str, Any] = {"discard_pile": ["R9"], "draw_pile": ["B6", "B7", "B8", "B9"]} | fields
    name = setup.pop("edition", "attack" if case in ATTACK_CASES else "mario-kart")
    if case in ATTACK_CASES:
        setup.setdefault("launcher", [0, 1])
    match, _ = from_setup(Rules.of(name, setup.pop("options", {})), setup)
    told: list[Any] = []
    for step in steps:
        if isinstance(step, dict):
            told = match.act(step)
        else:
            told = match.forfeit(step[0], "crash") if step[1] == LEFT else match.act({step[0]: step[1]})
        match.check_cards()
    happened = [event for event in told if event["type"] != "forfeit"]
    assert len(happened) == len(events)
    for event, expected in zip(happened, events, strict=True):
        assert event | expected == event
    decision = match.decision
    assert (decision.kind, decision.seats) == (kind, seats) if decision else kind == "over"
    assert [list(match.legal(seat)) for seat in seats] == [legal] * len(seats)


@pytest.mark.parametrize("name", sorted(EDITIONS))
def test_who_leaves_before_the_first_deal_has_no_part_in_it(name: str) -> None:
    match = Match(Rules.of(name, {"rounds": 3, "turn_cap": 200}), 5, "early")
    books = Books(match)
    books.keep(match.forfeit(2, "startup"))
    books.keep(match.forfeit(4, "startup"))
    events = match.deal()
    drawn = next(event for event in events if event["type"] == "dealer_draw")
    assert {seat for seat, _ in drawn["cards"]} == {0, 1, 3}
    assert [event["seat"] for event in events if event["type"] == "deal"].count(2) == 0
    books.keep(events)
    play_on(books, Random(1))
    assert [match.places[seat] for seat in (2, 4)] == [4, 4] if match.places else False


@pytest.mark.parametrize("name", sorted(EDITIONS))
def test_all_but_one_may_leave_before_the_first_deal(name: str) -> None:
    match = Match(Rules.of(name), 3, "alone")
    assert match.forfeit(1, "startup") == [{"type": "forfeit", "seat": 1, "why": "startup"}]
    assert match.forfeit(0, "version") == [
        {"type": "forfeit", "seat": 0, "why": "version"},
        {"type": "match_end", "places": [2, 2, 1], "scores": [0, 0, 0], "reason": "forfeit"},
    ]
    assert match.over
    assert match.decision is None


@pytest.mark.parametrize("leaves", ["dealer", "winner", "left of the dealer"])
@pytest.mark.parametrize("next_dealer", ["left", "round_winner"])
def test_who_leaves_between_rounds_does_not_deal_the_next(leaves: str, next_dealer: str) -> None:
    for number in range(6):
        game = Game.by_lot("classic", 4, number, rounds=4, next_dealer=next_dealer, turn_cap=500, max_rounds=9)
        books = Books(game.match)
        match = game.match
        for events in game.steps():
            books.keep(events)
            if match.decision is None and not match.over and match.round_winner is not None:
                break
        if match.over:
            continue
        dealer, winner = match.dealer, match.round_winner
        assert winner is not None
        seat = {"dealer": dealer, "winner": winner, "left of the dealer": (dealer + 1) % 4}[leaves]
        expected = (dealer + 1) % 4 if seat == dealer else dealer
        books.keep(match.forfeit(seat, "crash"))
        events = match.deal()
        assert match.dealer == expected
        books.keep(events)
        assert {event["seat"] for event in events if event["type"] == "deal"} == set(range(4)) - {seat}
        play_on(books, Random(number))


def test_a_hand_that_was_laid_aside_counts_once() -> None:
    rules = Rules.of("classic", {"rounds": 3})
    for seed in map(str, range(20)):
        match = Match(rules, 3, seed)
        match.deal()
        hand = match.hand_of(1)
        ends = [event for event in match.forfeit(1, "crash") if event["type"] == "round_end"]
        lot = Random(seed)
        while not match.over:
            events = match.deal() if match.decision is None else match.act(Mood(1, 0.9, 0.2).answers(match, lot))
            ends += [event for event in events if event["type"] == "round_end"]
        assert [event["hands"][1] for event in ends] == [sorted(hand, key=hand.index), *[[]] * (len(ends) - 1)]


def test_a_seat_leaves_once_and_nobody_leaves_a_match_that_is_over() -> None:
    match = Match(Rules.of("classic"), 3, "s")
    match.deal()
    assert match.forfeit(0, "crash")
    assert match.forfeit(0, "crash") == []
    assert match.forfeit(1, "crash")
    assert match.over
    assert match.forfeit(2, "crash") == []
    assert match.out == {0, 1}


@pytest.mark.parametrize("seat", [-1, 3, 10])
def test_a_seat_that_is_none_cannot_leave(seat: int) -> None:
    match = Match(Rules.of("classic"), 3, "s")
    with pytest.raises(LastcardError, match=f"there is no seat {seat}"):
        match.forfeit(seat, "crash")
