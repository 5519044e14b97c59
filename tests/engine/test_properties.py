"""What holds in every state of every match, whatever the edition, the options and the answers (spec.md 2, 3)."""

from itertools import chain, pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcard.engine import EDITIONS, IllegalAction, LastcardError, Match, Rules
from lastcard.engine.cards import ORDER
from tests.engine.books import Books
from tests.engine.play import EVERY_ACTION, GAMES, Game, picture

tables = pytest.mark.parametrize(("name", "seats"), GAMES)


@tables
def test_every_card_is_in_one_place_after_every_event(name: str, seats: int) -> None:
    for number in range(2):
        game = Game.by_lot(name, seats, number)
        books = Books(game.match)
        for events in game.steps():
            books.keep(events)
        assert books.ended is not None


# --- what is legal


def rank(action: str, match: Match, seat: int) -> tuple[int, int, int]:
    """The place of an action in `legal`: plays in printed order with colors R G B Y, colors, targets, the last."""
    verb, *words = action.split()
    if verb == "play":
        return 0, ORDER[words[0]], "RGBY".index(words[1]) if words[1:] else -1
    if verb == "color":
        return 1, "RGBY".index(words[0]), 0
    if verb == "target" and words[0] != "none":
        return 2, (int(words[0]) - seat) * match.direction % match.seats, 0
    return 3, ("challenge", "accept", "catch", "wait").index(action) if action[0] in "caw" else 0, 0


FALLBACK = {
    "turn": "draw", "drawn": "keep", "extra": "stop", "color": "color Y", "challenge": "accept", "catch": "wait",
}  # fmt: skip


def fallback(match: Match, seat: int) -> str:
    """What the last entry of a listing has to be."""
    assert match.decision is not None
    kind, about = match.decision.kind, match.decision.about
    if kind != "target":
        return FALLBACK[kind]
    assert about is not None
    if str(about["card"])[1:] == "T" and match.rules.options["trade_hands"] == "may":
        return "target none"
    before = (seat - match.direction) % match.seats  # the last one in play order
    while before in match.out:
        before = (before - match.direction) % match.seats
    return f"target {before}"


def check_listing(match: Match) -> None:
    assert match.decision is not None
    for seat in range(match.seats):
        legal = match.legal(seat)
        if seat not in match.decision.seats:
            assert not legal
            continue
        assert legal, "every asked seat can do something"
        ranks = [rank(action, match, seat) for action in legal]
        assert all(first < second for first, second in pairwise(ranks)), legal
        if match.decision.kind == "drawn" and match.rules.options["forced_play"] == "on":
            assert all(action.startswith("play ") for action in legal)
            continue
        assert legal[-1] == fallback(match, seat)
        assert "target none" not in legal[:-1]
        if match.decision.kind in ("drawn", "extra"):
            assert legal[0].startswith("play "), "asked only where a card can be laid"


@tables
def test_legal_is_in_order_and_ends_with_the_fallback(name: str, seats: int) -> None:
    for number in range(100, 104):
        game = Game.by_lot(name, seats, number)
        for _ in game.steps():
            if game.match.decision is not None:
                check_listing(game.match)


def other_answers(match: Match, seat: int, lot: Random) -> dict[int, str]:
    """Something legal from every other seat that is asked."""
    assert match.decision is not None
    return {other: lot.choice(match.legal(other)) for other in match.decision.seats if other != seat}


def accepts(match: Match, answers: dict[int, str]) -> None:
    twin = match.clone()
    assert all(twin.is_legal(seat, action) for seat, action in answers.items())
    assert twin.act(answers) is not None
    twin.check_cards()


def refuses(match: Match, answers: dict[int, str]) -> None:
    with pytest.raises(IllegalAction, match=r"\w"):
        match.act(answers)


def mutations(action: str) -> set[str]:
    """Texts that look like the action and are none."""
    spaced = {action.replace(" ", "  ", 1), f" {action}", f"{action} ", f"{action}\n", action.replace(" ", "\t")}
    cased = {action.lower(), action.upper(), action.title()}
    grown = {f"{action} {action}", f"{action} uno uno", f"{action} UNO", f"{action},", f"{action} none", f"{action}0"}
    shrunk = {action[:-1], action[1:], action.split()[0] if " " in action else "", action.replace(" ", "", 1)}
    if not action.startswith("play "):
        grown.add(f"{action} uno")
    return (spaced | cased | grown | shrunk) - {action}


@tables
def test_listed_actions_are_accepted_and_all_others_are_refused(name: str, seats: int) -> None:
    game = Game.by_lot(name, seats, 7, rounds=3)
    for step, _ in enumerate(game.steps(400)):
        match, lot = game.match, game.lot
        if match.decision is None or (step % 37 and match.decision.kind in ("turn", "drawn", "challenge")):
            continue
        before = picture(match)
        for seat in match.decision.seats:
            legal = match.legal(seat)
            others = other_answers(match, seat, lot)
            called = {f"{action} uno" for action in legal if action.startswith("play ")}
            for action in (*legal, *called):
                accepts(match, others | {seat: action})
            texts = {
                *EVERY_ACTION,
                *(f"{action} uno" for action in EVERY_ACTION),
                *chain.from_iterable(map(mutations, legal)),
            }
            for text in texts - {*legal} - called:
                assert not match.is_legal(seat, text), text
                refuses(match, others | {seat: text})
        assert picture(match) == before


@tables
def test_only_those_who_are_asked_may_answer(name: str, seats: int) -> None:
    game = Game.by_lot(name, seats, 8)
    for _ in game.steps(60):
        match = game.match
        if match.decision is None:
            refuses(match, {0: "draw"})
            continue
        before = picture(match)
        right = {seat: match.legal(seat)[0] for seat in match.decision.seats}
        first, action = next(iter(right.items()))
        wrong: list[dict[int, str]] = [{}, right | {-1: action}, right | {seats: action}]
        wrong += [right | {seat: action} for seat in range(seats) if seat not in right]
        wrong += [{seat: action} for seat in range(-1, seats + 1) if {seat} != {*right}]
        wrong += [{seat: text for seat, text in right.items() if seat != first}]
        for answers in wrong:
            refuses(match, answers)
        assert not any(match.is_legal(seat, action) for seat in range(-1, seats + 1) if seat not in right)
        assert picture(match) == before


def test_nothing_is_answered_or_dealt_out_of_time() -> None:
    match = Match(Rules.of("classic", {"rounds": 1}), 2, "s")
    refuses(match, {0: "draw"})
    match.deal()
    with pytest.raises(LastcardError, match="dealt when the one before is over"):
        match.deal()
    match.forfeit(0, "test")
    assert match.over
    refuses(match, {0: "draw"})
    with pytest.raises(LastcardError, match="dealt when the one before is over"):
        match.deal()


@pytest.mark.parametrize("seats", [-1, 0, 1, 11, 100])
def test_a_match_has_two_to_ten_seats(seats: int) -> None:
    with pytest.raises(LastcardError, match=f"2 to 10 seats, not {seats}$"):
        Match(Rules.of("mario-kart"), seats, "s")


# --- ends, clones, repetition


@tables
def test_a_match_of_fallbacks_ends(name: str, seats: int) -> None:
    game = Game.by_lot(name, seats, 9)
    match = game.match
    steps = 0
    while not match.over:
        decision = match.decision
        if decision is None:
            match.deal()
        else:
            match.act({seat: match.legal(seat)[-1] for seat in decision.seats})
        steps += 1
    assert steps <= (2 * match.turn_cap + 3) * match.rules.max_rounds


@tables
def test_a_clone_is_equal_and_goes_its_own_way(name: str, seats: int) -> None:
    game = Game.by_lot(name, seats, 11)
    for step, _ in enumerate(game.steps(250)):
        if step % 10:
            continue
        match, before = game.match, picture(game.match)
        twin, third = match.clone(), match.clone()
        assert picture(twin) == before
        state = game.lot.getstate()
        played = list(Game(twin, game.mood, game.lot).steps(30))
        if twin.decision is not None:
            twin.forfeit(twin.decision.seats[0], "test")
        assert picture(match) == before
        game.lot.setstate(state)
        assert list(Game(third, game.mood, game.lot).steps(30)) == played
        game.lot.setstate(state)


def spoil(value: Any) -> None:
    """Empties every list and dict in it."""
    if isinstance(value, list | dict):
        for part in [*value.values()] if isinstance(value, dict) else [*value]:
            spoil(part)
        value.clear()


@tables
def test_what_is_done_to_events_and_views_does_nothing_to_the_match(name: str, seats: int) -> None:
    game = Game.by_lot(name, seats, 14)
    for events in game.steps(120):
        before = picture(game.match)
        spoil(events)
        for seat in range(seats):
            spoil(game.match.view(seat))
        assert picture(game.match) == before
    while not game.match.over:
        events = game.step()
    before = picture(game.match)
    spoil(events)
    assert picture(game.match) == before


@tables
def test_same_seed_and_same_answers_give_the_same_events(name: str, seats: int) -> None:
    first, second = (list(Game.by_lot(name, seats, 12).steps()) for _ in range(2))
    assert first == second


def test_another_seed_gives_another_deal() -> None:
    deals = {repr(Match(Rules.of("classic"), 3, str(seed)).deal()) for seed in range(50)}
    assert len(deals) == 50


# --- scores


def worth(name: str, hand: list[str]) -> int:
    special = EDITIONS[name].points
    symbols = [card if card[0] == "W" else card[1:] for card in hand]
    return sum(int(symbol) if symbol.isdigit() else special[symbol] for symbol in symbols)


def recount(name: str, scoring: str, event: Any) -> list[int]:
    """MK-52, CL-22: what the round did to the scores, from the hands that it ended with."""
    hands = [worth(name, hand) for hand in event["hands"]]
    winner = event["winner"]
    if winner is None:
        return [0] * len(hands)
    lost = [0 if seat == winner else hand for seat, hand in enumerate(hands)]
    if scoring == "penalty_lowest":
        return lost
    change = [-hand if scoring == "plus_minus" else 0 for hand in lost]
    change[winner] = sum(lost)
    return change


def competition_ranks(scores: list[int], best_first: list[int]) -> list[int]:
    return [1 + best_first.index(score) for score in scores]


@tables
def test_scores_are_a_recount_of_the_rounds(name: str, seats: int) -> None:
    for scoring in ("winner_collects", "plus_minus", "penalty_lowest"):
        game = Game.by_lot(name, seats, 13, scoring=scoring, rounds=3, turn_cap=600)
        scores = [0] * seats
        for events in game.steps():
            for event in events:
                if event["type"] == "round_end":
                    change = recount(name, scoring, event)
                    assert event["points"] == change
                    scores = [old + new for old, new in zip(scores, change, strict=True)]
            assert game.match.scores == scores
        best_first = sorted(scores, reverse=scoring != "penalty_lowest")
        assert game.match.places == competition_ranks(scores, best_first)


# --- Hypothesis chooses what happens, and can shrink it


@given(
    name=st.sampled_from(sorted(EDITIONS)),
    seats=st.integers(2, 10),
    number=st.integers(0, 10_000),
    choices=st.lists(st.integers(0, 2**16), max_size=80),
)
def test_any_course_of_a_match_keeps_the_books(name: str, seats: int, number: int, choices: list[int]) -> None:
    """Each number is one choice: an answer of every asked seat, or seldom a forfeit of a seat; then fallbacks."""
    match = Game.by_lot(name, seats, number).match
    books = Books(match)
    for choice in choices:
        if match.over:
            break
        if match.decision is None:
            books.keep(match.deal())
        elif choice % 23 == 0:
            books.keep(match.forfeit(choice // 23 % seats, "test"))
        else:
            answers = {}
            for place, seat in enumerate(match.decision.seats):
                legal = match.legal(seat)
                action = legal[(choice >> place) % len(legal)]
                answers[seat] = action + " uno" * (action.startswith("play ") and choice % 3 == 0)
            books.keep(match.act(answers))
        if match.decision is not None:
            check_listing(match)
            assert not {*match.decision.seats} & match.out
    while not match.over:
        if match.decision is None:
            books.keep(match.deal())
        else:
            books.keep(match.act({seat: match.legal(seat)[-1] for seat in match.decision.seats}))
