"""Hidden information: whatever is permuted that a seat may not know, that seat cannot tell (AMB-50, MK-42, AMB-22b).

Two matches are played side by side. They differ only in cards that the seat does not see in what follows; its
views, its events and its questions have to be the same, byte for byte. No edition can be left out: all rows of
EDITIONS are played.
"""

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

from lastcard.engine import EDITIONS, Event, Match, Rules, seen_by, sees_more
from lastcard.engine.chance import Pile
from lastcard.engine.events import HIDES
from tests.engine.play import GAMES, Game, Mood

SPECTATOR = None
DISCARD_ALL = re.compile("play [RGBY]A")
AHEAD = 12
"""Steps that are played on from the moment of the permutation."""


class Seen(NamedTuple):
    """All that reaches one seat (or a spectator) in a step."""

    events: list[str]
    view: str
    question: Any


def seen(match: Match, events: list[Event], seat: int | None) -> Seen:
    told = [json.dumps(seen_by(event, seat)) for event in events]
    if seat is SPECTATOR:
        return Seen(told, "", None)
    decision = match.decision
    asked = decision is not None and seat in decision.seats
    question = (decision.kind, match.legal(seat)) if decision is not None and asked else None
    return Seen(told, json.dumps(match.view(seat)), question)


def bits(cards: int) -> Iterator[int]:
    while cards:
        yield cards & -cards
        cards &= cards - 1


def stacked(match: Match) -> Match:
    """The match with its draw pile in the order in which it would be drawn, so that it can be permuted."""
    twin = match.clone()
    twin.pile = Pile(twin.pile.order(), None)
    return twin


PASSES = {"drawn": "keep", "extra": "stop"}
"""Answers that nobody else can tell from not having been asked, since only who can lay a card is."""


class Step(NamedTuple):
    """The answers to one decision; those of `PASSES` are none to anybody else."""

    kind: str
    answers: dict[int, str]


class Line(NamedTuple):
    """What was played ahead of a moment, and the cards that this showed to the seat."""

    steps: list[Step]
    shown: int
    judged: int
    """Cards in hands that were challenged before others, or that a Discard All left: not shown, but it is public
    whether they were lawful, and that they are of another color."""


def play_ahead(match: Match, seat: int | None, mood: Mood, lot: Random) -> Line:
    """Answers by lot until a round ends: then all hands are shown, and nothing is hidden any more."""
    steps = list[Step]()
    shown, judged = public(match, seat), 0
    if drawing_tells(match.rules):
        shown |= match.drawn
    for _ in range(AHEAD):
        before, match = match, match.clone()
        decision = match.decision
        if decision is None:
            break
        answers = mood.answers(match, lot)
        answer = answers[decision.seats[0]]
        if answer == "challenge":
            judged |= match.played.hand
            shown |= match.played.hand if seat in decision.seats else 0
        if DISCARD_ALL.match(answer):
            judged |= match.hands[decision.seats[0]]
        events = match.act(answers)
        if match.decision is None:
            break
        shown |= public(match, seat) | shown_by(events, before, match, seat)
        if seat in decision.seats or answer != PASSES.get(decision.kind):
            steps.append(Step(decision.kind, answers))
    return Line(steps, shown, judged)


def shown_by(events: list[Event], before: Match, match: Match, seat: int | None) -> int:
    """What a step showed to the seat and is not where `public` looks."""
    shown = 0
    for event in events:
        if event["type"] in ("play", "flip"):  # it may have been shuffled away within the step
            shown |= match.rules.deck.face[event["card"]]
        if event["type"] == "discard":
            shown |= sum(match.rules.deck.face[card] for card in {*event["cards"]})
        if event["type"] == "draw" and event["why"] in reasons_that_tell(match.rules):
            shown |= match.hands[event["seat"]] & ~before.hands[event["seat"]]
        if event["type"] == "trade" and seat is not SPECTATOR:
            shown |= before.hands[seat]
    return shown


def drawing_tells(rules: Rules) -> bool:
    """Under these house rules what becomes of a draw tells all seats whether the cards could be played."""
    may_be_played = rules.options["supply"] == "pile"
    return rules.options["draw_until_playable"] == "on" or (may_be_played and rules.options["forced_play"] == "on")


def reasons_that_tell(rules: Rules) -> set[str]:
    """Why cards are drawn of which something becomes known by when the drawing ends."""
    by_color = rules.options.get("hit_fire") == "named_color"
    return {*["turn"] * drawing_tells(rules), *["hit_fire"] * by_color}


def public(match: Match, seat: int | None) -> int:
    """The discards, and what the seat holds."""
    cards = 0 if seat is SPECTATOR else match.hands[seat]
    return cards | sum(match.discards)


def permuted(match: Match, shown: int, lot: Random) -> Match:
    """The match with all cards that are not shown dealt anew among the other hands, those laid aside and the pile."""
    twin = match.clone()
    places = [*twin.hands, *twin.aside, *twin.pile.order()]
    hidden = [card for place in places for card in bits(place & ~shown)]
    put = dict(zip(hidden, lot.sample(hidden, len(hidden)), strict=True))

    def changed(cards: int) -> int:
        return sum(put.get(card, card) for card in bits(cards))

    new = list(map(changed, places))
    seats = match.seats
    twin.hands, twin.aside, twin.pile = new[:seats], new[seats : 2 * seats], Pile(new[2 * seats :], None)
    twin.played, twin.drawn = twin.played._replace(hand=changed(twin.played.hand)), changed(twin.drawn)
    twin.check_cards()
    return twin


def follow(match: Match, seat: int | None, line: Line) -> Iterator[Seen]:
    """What the seat sees now and after each step of the line."""
    coming = [step.kind for step in line.steps] + ["none"]
    for place, following in enumerate(coming):
        events = match.act(line.steps[place - 1].answers) if place else []
        events += settle(match, seat, following)
        if match.decision is None:  # from here on all hands are shown
            ends = [event["type"] for event in events].index("round_end")
            yield seen(match, events[:ends], seat)._replace(view="")
            return
        yield seen(match, events, seat)


def settle(match: Match, seat: int | None, following: str) -> list[Event]:
    """Lets others lay nothing where the line does not say that they lay the card drawn, or one more."""
    decision = match.decision
    if decision is None or decision.kind not in PASSES or following == decision.kind or seat in decision.seats:
        return []
    actor, answer = decision.seats[0], PASSES[decision.kind]
    return match.act({actor: answer}) if match.is_legal(actor, answer) else []


def verdicts(step: Seen) -> list[Any]:
    """What came out about hidden cards: verdicts, and what a Discard All took along."""
    told = [event for event in map(json.loads, step.events) if event["type"] in ("challenge", "discard")]
    return [event.get("guilty", event.get("cards")) for event in told]


def same(match: Match, twin: Match, seat: int | None, line: Line) -> bool:
    """Whether the seat sees the same in both; an AssertionError if not. False: a verdict came out otherwise, so that
    the seat may well see something else.
    """
    for one, other in zip(follow(match.clone(), seat, line), follow(twin, seat, line), strict=True):
        if verdicts(one) != verdicts(other):
            return False
        assert one == other, f"seat {seat}"
    return True


def differences(name: str, seats: int, number: int) -> int:
    """Plays a game by lot and permutes it at every tenth state, for one seat and for a spectator. Fails at the first
    difference; returns how many cards were put elsewhere in all.
    """
    game = Game.by_lot(name, seats, number, max_rounds=2)
    moved = 0
    for step, _ in enumerate(game.steps(200)):
        if step == 15 and seats > 2 and number % 2:
            game.match.forfeit(number % seats, "test")
        if game.match.decision is None or step % 10:
            continue
        match = stacked(game.match)
        for seat in (SPECTATOR, step // 10 % seats):
            line = play_ahead(match, seat, game.mood, game.lot)
            for fixed in (line.shown, line.shown, line.shown, line.shown | line.judged):
                twin = permuted(match, fixed, game.lot)
                moved += sum((a & ~b).bit_count() for a, b in zip(match.hands, twin.hands, strict=True))
                if same(match, twin, seat, line):
                    break
            else:
                pytest.fail("the verdicts come out otherwise with the same hands")
    return moved


@pytest.mark.parametrize(("name", "seats"), GAMES)
def test_a_seat_cannot_tell_what_is_hidden_from_it(name: str, seats: int) -> None:
    assert sum(differences(name, seats, number) for number in range(7)) > 1000


@pytest.mark.soak
@pytest.mark.parametrize(("name", "seats"), GAMES)
def test_a_seat_cannot_tell_what_is_hidden_from_it_in_many_games(name: str, seats: int) -> None:
    assert sum(differences(name, seats, number) for number in range(1000, 1200)) > 10_000


@pytest.mark.parametrize("kind", sorted(HIDES))
def test_a_leak_in_any_event_would_be_seen(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(HIDES, kind)
    if kind == "deal":
        event: Any = {"type": "deal", "seat": 0, "count": 1, "cards": ["R1"]}
        assert "cards" in seen_by(event, 1)
        return
    with pytest.raises(AssertionError):  # noqa: PT012  (the first of many games that shows it)
        for number in range(60):
            for name in EDITIONS:
                differences(name, 3, number)


# --- the redaction, event by event

HIDDEN: list[tuple[dict[str, Any], dict[int | None, dict[str, Any]]]] = [
    (
        {"type": "deal", "seat": 1, "count": 2, "cards": ["R1", "W"]},
        {1: {"type": "deal", "seat": 1, "count": 2, "cards": ["R1", "W"]}, 0: {"type": "deal", "seat": 1, "count": 2}},
    ),
    (
        {"type": "draw", "seat": 1, "count": 1, "why": "uno", "cards": ["R1"]},
        {
            1: {"type": "draw", "seat": 1, "count": 1, "why": "uno", "cards": ["R1"]},
            2: {"type": "draw", "seat": 1, "count": 1, "why": "uno"},
        },
    ),
    (
        {"type": "challenge", "seat": 2, "of": 1, "guilty": True, "hand": ["R1"]},
        {
            2: {"type": "challenge", "seat": 2, "of": 1, "guilty": True, "hand": ["R1"]},
            1: {"type": "challenge", "seat": 2, "of": 1, "guilty": True},
            0: {"type": "challenge", "seat": 2, "of": 1, "guilty": True},
        },
    ),
    (
        {"type": "trade", "seat": 0, "with": 2, "cards": [(0, ["R1"]), (2, ["G1", "G2"])]},
        {
            0: {"type": "trade", "seat": 0, "with": 2, "cards": [(0, ["R1"])]},
            2: {"type": "trade", "seat": 0, "with": 2, "cards": [(2, ["G1", "G2"])]},
            1: {"type": "trade", "seat": 0, "with": 2},
        },
    ),
]


@pytest.mark.parametrize(("event", "views"), HIDDEN, ids=[event["type"] for event, _ in HIDDEN])
def test_each_seat_gets_its_own_part_of_an_event(event: Any, views: dict[int | None, dict[str, Any]]) -> None:
    whole = json.dumps(event)
    assert sees_more(event)
    for seat, expected in views.items():
        assert seen_by(event, seat) == expected
    nobody = next(part for part in views.values() if part.keys() != event.keys())
    assert seen_by(event, SPECTATOR) == nobody
    assert json.dumps(event) == whole, "the event itself stays whole, for the log"


def test_every_event_that_hides_something_is_in_the_table() -> None:
    assert {event["type"] for event, _ in HIDDEN} == set(HIDES)


@pytest.mark.parametrize("name", sorted(EDITIONS))
def test_no_field_of_an_event_is_null_but_the_winner_and_the_target_that_is_none(name: str) -> None:
    null = set[tuple[str, str]]()
    for number in range(6):
        for events in Game.by_lot(name, 4, number, trade_hands="may").steps():
            for event in events:
                for seat in (SPECTATOR, 0, 1):
                    part = seen_by(event, seat)
                    null |= {(event["type"], field) for field, value in part.items() if value is None}
    chooses = "T" in EDITIONS[name].colored
    assert null - {("round_end", "winner")} == ({("target", "target")} if chooses else set())


# --- the view

FIELDS = {
    "round", "dealer", "turn", "direction", "top", "color", "hand", "counts", "draw_pile", "scores", "out", "before",
}  # fmt: skip
WITH_LAUNCHER = FIELDS | {"press"}
ABOUT = {
    "drawn": {"card"}, "extra": {"card", "missed"}, "color": {"why"}, "target": {"card"},
    "challenge": {"seat", "color"}, "catch": {"seat"},
}  # fmt: skip


@pytest.mark.parametrize(("name", "seats"), [(name, seats) for name, seats in GAMES if seats < 5])
def test_a_view_has_its_fields_and_only_the_asked_know_what_about(name: str, seats: int) -> None:
    fields = WITH_LAUNCHER if EDITIONS[name].options["supply"] == "launcher" else FIELDS
    for number in range(5):
        game = Game.by_lot(name, seats, number)
        for _ in game.steps():
            match = game.match
            decision = match.decision
            for seat in range(seats):
                view = match.view(seat)
                assert json.loads(json.dumps(view)) == view
                about = view.get("about")
                if decision is None or seat not in decision.seats or decision.kind == "turn":
                    assert view.keys() == fields
                else:
                    assert about is not None
                    assert about.keys() == ABOUT[decision.kind]
                    assert view.keys() == fields | {"about"}
