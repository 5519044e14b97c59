"""The launcher: every press of a match against a second launcher, and the figures of `rules.md` 4. Knows no card.

The second launcher reads the public events alone: what came out, and when it was loaded again.
"""

from collections.abc import Callable, Iterator
from math import sqrt
from random import Random
from typing import NamedTuple

import pytest

from lastcard.engine import Event, LastcardError, Match, OptionError, PositionError, Rules, Stream, from_setup
from lastcard.engine.launcher import MODELS
from tests.engine.plain import below, stream

EDITIONS = ("attack", "attack-trade-hands", "attack-official")


# a second launcher, as plain as `rules.md` 4 says it

EJECTS = [(58, 323), (132, 265), (78, 133), (30, 55), (1, 1)]
SIZES = {1: 1, 2: 3, 3: 6, 4: 9, 5: 10, 6: 9, 7: 6, 8: 3, 9: 1}
FIFTH = {1: 1, 2: 4, 3: 10, 4: 19, 5: 29, 6: 38, 7: 43, 8: 43, 9: 38, 10: 29, 11: 19, 12: 10, 13: 4, 14: 1}
NO_MEMORY = {
    0: 5966, 1: 79, 2: 237, 3: 476, 4: 718, 5: 807, 6: 739, 7: 512, 8: 279, 9: 119, 10: 31, 11: 21, 12: 11, 13: 4,
    14: 1,
}  # fmt: skip
SEQUENCE = [
    2, 6, 9, 13, 17, 21, 24, 26, 27, 29, 32, 36, 37, 41, 44, 47, 48, 51, 54, 57, 58, 62, 66, 69, 72, 73, 77, 81, 84, 85,
    88, 92, 93, 96,
]  # fmt: skip


def pick(source: Iterator[int], weights: dict[int, int]) -> int:
    """`below` the sum of the weights, against running sums."""
    value = below(source, sum(weights.values()))
    for number, weight in weights.items():
        value -= weight
        if value < 0:
            return number
    raise AssertionError("below the sum of all weights")


def hazard5(source: Iterator[int], counter: int, _: int) -> int:
    counter = min(counter, 4)  # it goes on beyond 4 only while there is no card to eject anywhere
    numerator, denominator = EJECTS[counter]
    if below(source, denominator) >= numerator:
        return 0
    return pick(source, FIFTH if counter == 4 else SIZES)


def iid(source: Iterator[int], _: int, __: int) -> int:
    return pick(source, NO_MEMORY)


def fixed_sequence(source: Iterator[int], _: int, since_reload: int) -> int:
    return pick(source, SIZES) if since_reload % 96 + 1 in SEQUENCE else 0


SECOND: dict[str, Callable[[Iterator[int], int, int], int]] = {
    "hazard5": hazard5,
    "iid": iid,
    "fixed_sequence": fixed_sequence,
}


class Launcher:
    """What the events say of the launcher, and what the next press has to bring."""

    def __init__(self, model: str, seed: str, cards: int) -> None:
        self.model, self.seed, self.cards = SECOND[model], seed, cards
        self.round = self.left = self.press = self.counter = self.since_reload = self.pressed = self.loaded = 0

    def follow(self, events: list[Event]) -> None:
        for event in events:
            if event["type"] == "round":
                self.round, self.left = event["round"], self.cards
                self.press = self.counter = self.since_reload = 0
            elif event["type"] == "deal":
                self.left -= event["count"]
            elif event["type"] == "start_card":
                self.left -= 1
            elif event["type"] == "reshuffle":
                assert self.left == 0, "it is loaded when it is empty and not before"
                self.left, self.loaded = event["count"], self.loaded + 1
                self.counter = self.since_reload = 0
            elif event["type"] == "press":
                self.check(event["ejected"], event["counter"])

    def check(self, told: int, counter: int) -> None:
        """The ejection of this press, cut off at what the launcher holds, and the public counter after it."""
        self.press += 1
        self.pressed += 1
        source = stream(self.seed, f"launcher|{self.round}|{self.press}")
        ejected = min(self.model(source, self.counter, self.since_reload), self.left)
        self.counter = 0 if ejected else self.counter + 1
        self.since_reload += 1
        self.left -= ejected
        assert (told, counter) == (ejected, self.counter), f"press {self.press}"


def answers(match: Match, lot: Random, plays: float) -> dict[int, str]:
    """A play where one is listed, as often as `plays` says, else the fallback; mostly without a call."""
    assert match.decision is not None
    chosen: dict[int, str] = {}
    for seat in match.decision.seats:
        legal = match.legal(seat)
        chosen[seat] = lot.choice(legal) if lot.random() < plays else legal[-1]
    return chosen


@pytest.mark.parametrize("seats", [2, 3, 10])
@pytest.mark.parametrize("model", SECOND)
@pytest.mark.parametrize("name", EDITIONS)
def test_every_press_is_that_of_the_second_launcher(name: str, model: str, seats: int) -> None:
    lot = Random(f"{name} {model} {seats}")
    seed = f"{model}.{seats}"
    match = Match(Rules.of(name, {"launcher": model, "rounds": 3, "turn_cap": 400}), seats, seed)
    launcher = Launcher(model, seed, 112)
    while not match.over:
        events = match.deal() if match.decision is None else match.act(answers(match, lot, 0.8))
        launcher.follow(events)
        if match.decision is not None:
            assert match.view(0)["press"] == launcher.counter
    assert launcher.round >= 3
    assert launcher.pressed > 30


@pytest.mark.parametrize("model", SECOND)
def test_reloads_start_the_counter_and_the_sequence_anew(model: str) -> None:
    """With ten seats that hoard cards it is loaded again and again; the counter is looked at in `follow`."""
    lot = Random(model)
    match = Match(Rules.of("attack", {"launcher": model, "rounds": 2, "turn_cap": 900}), 10, model)
    launcher = Launcher(model, model, 112)
    while not match.over:
        launcher.follow(match.deal() if match.decision is None else match.act(answers(match, lot, 0.9)))
    assert launcher.loaded >= 2


def test_the_models_read_streams_of_their_own() -> None:
    """A press more or less shifts no other chance: whatever the launcher, the deal is the same."""
    dealt = [Match(Rules.of("attack", {"launcher": model}), 4, "same").deal() for model in SECOND]
    kinds = {"dealer_draw", "deal", "start_card"}
    of_deal = [[event for event in events if event["type"] in kinds] for events in dealt]
    assert of_deal[1:] == of_deal[:-1]


# the figures of `rules.md` 4


class Presses(NamedTuple):
    """A long row of presses of the engine's model on a launcher that never runs empty."""

    ejected: list[int]
    numbers: list[int]
    """Of each press: how many came since the last ejection before it, and itself."""


def press_on(model: str, count: int) -> Presses:
    ejected: list[int] = []
    numbers: list[int] = []
    since = 0
    for press in range(1, count + 1):
        cards = MODELS[model](Stream("figures", f"launcher|1|{press}"), since, press - 1)
        ejected.append(cards)
        numbers.append(since + 1)
        since = 0 if cards else since + 1
    return Presses(ejected, numbers)


def mean(values: list[int] | list[bool]) -> float:
    return sum(values) / len(values)


def near(values: list[int] | list[bool], published: float, digits: int, *, apart: int = 1) -> bool:
    """Whether the mean is the published one, given how far that was rounded and four standard errors.

    `apart`: how many neighbours share presses, so that only every so many-th value is news.
    """
    middle = mean(values)
    spread = sqrt(sum((value - middle) ** 2 for value in values) / len(values))
    return abs(middle - published) <= 0.5 * 10.0**-digits + 4 * spread / sqrt(len(values) / apart)


COUNT = 40_000
HAZARD = press_on("hazard5", COUNT)


def in_a_row(count: int) -> list[int]:
    """Cards of so many presses, begun at each press of the long run in turn."""
    return [sum(HAZARD.ejected[start : start + count]) for start in range(COUNT - count)]


def fresh(count: int, times: int = 8_000) -> list[int]:
    """Cards of so many presses from a counter of 0."""
    sums: list[int] = []
    for time in range(times):
        total = since = 0
        for press in range(count):
            cards = MODELS["hazard5"](Stream(f"fresh{time}", f"launcher|1|{press + 1}"), since, press)
            since = 0 if cards else since + 1
            total += cards
        sums.append(total)
    return sums


def test_hazard5_in_the_long_run() -> None:
    assert near([cards == 0 for cards in HAZARD.ejected], 0.597, 3)
    assert near(HAZARD.ejected, 2.09, 2)
    assert near(HAZARD.ejected, 1681 / 801, 2)


def test_hazard5_from_a_fresh_counter() -> None:
    one, two = fresh(1), fresh(2)
    assert near([cards == 0 for cards in one], 0.820, 3)
    assert near(one, 0.90, 2)
    assert near(two, 3.1, 1)
    assert near([cards == 0 for cards in two], 0.412, 3)


def test_hazard5_of_a_hit_two_and_a_hit_four() -> None:
    two, four = in_a_row(2), in_a_row(4)
    assert near(two, 4.2, 1, apart=2)
    assert near([cards == 0 for cards in two], 0.265, 3, apart=2)
    assert near(four, 8.4, 1, apart=4)
    assert near([cards == 0 for cards in four], 0.03, 2, apart=4)
    assert near([cards >= 10 for cards in four], 0.38, 2, apart=4)


def test_hazard5_of_a_hit_fire() -> None:
    """From an ejection to the next one: how many cards, and after how many presses."""
    ends = [number for number, cards in zip(HAZARD.numbers, HAZARD.ejected, strict=True) if cards]
    assert near([cards for cards in HAZARD.ejected if cards], 5.2, 1)
    assert near(ends, 2.5, 1)
    assert max(ends) == 5, "never more than four empty presses in a row"


@pytest.mark.parametrize(
    ("number", "ejections", "cards"),
    [
        pytest.param(1, 58, 4.66, id="first press"),
        pytest.param(2, 132, 5.39, id="second press"),
        pytest.param(3, 78, 4.72, id="third press"),
        pytest.param(4, 30, 5.07, id="fourth press"),
        pytest.param(5, 25, 7.20, id="fifth press"),
    ],
)
def test_hazard5_against_the_measured_machine(number: int, ejections: int, cards: float) -> None:
    """The share of all ejections that fell on this press, of 323; sizes as 4b fits them: 5.00, on the fifth 7.50."""
    of_all = [which == number for which, came in zip(HAZARD.numbers, HAZARD.ejected, strict=True) if came]
    sizes = [came for which, came in zip(HAZARD.numbers, HAZARD.ejected, strict=True) if came and which == number]
    assert near(of_all, ejections / 323, 3)
    assert near(sizes, 7.5 if number == 5 else 5.0, 2)
    assert abs(mean(sizes) - cards) < 0.5
    assert (min(sizes), max(sizes)) == ((1, 14) if number == 5 else (1, 9))


def test_iid_in_the_long_run() -> None:
    ejected = press_on("iid", 40_000).ejected
    assert near([cards == 0 for cards in ejected], 0.5966, 4)
    assert near(ejected, 2.095, 3)
    for number, weight in NO_MEMORY.items():
        assert near([cards == number for cards in ejected], weight / 10_000, 4), number


def test_fixed_sequence_has_the_gaps_that_are_told_of_it() -> None:
    ejected = press_on("fixed_sequence", 2 * 96).ejected
    presses = [press for press, cards in enumerate(ejected, 1) if cards]
    assert presses == [*SEQUENCE, *(96 + press for press in SEQUENCE)]
    gaps = [b - a for a, b in zip([0, *SEQUENCE], SEQUENCE, strict=False)]
    assert [gaps.count(gap) for gap in range(1, 6)] == [7, 3, 13, 11, 0]
    assert near([cards for cards in press_on("fixed_sequence", 9_600).ejected if cards], 5.0, 2)


# scripts


def test_scripted_is_refused_before_anything_starts() -> None:
    with pytest.raises(LastcardError, match="scripted"):
        Match(Rules.of("attack", {"launcher": "scripted"}), 3, "abc")


def test_an_unknown_launcher_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(OptionError, match=r"hazard5.*iid.*fixed_sequence"):
        Rules.of("attack", {"launcher": "uniform"})


SETUP = {"hands": [["G1", "G2"], ["Y1", "Y2"]], "draw_pile": ["R1", "R2", "R3"], "discard_pile": ["R7"]}


def test_a_script_that_runs_out_says_which_press_is_missing() -> None:
    match, _ = from_setup(Rules.of("attack"), {**SETUP, "launcher": [0]})
    match.act({0: "draw"})
    with pytest.raises(PositionError, match="press 2"):
        match.act({1: "draw"})


@pytest.mark.parametrize("model", SECOND)
def test_a_position_that_is_played_on_presses_by_the_model(model: str) -> None:
    match, _ = from_setup(Rules.of("attack", {"launcher": model}), {**SETUP, "seed": "abc"}, play_on=True)
    seen = [event for seat in (0, 1, 0, 1) for event in match.act({seat: "draw"})]
    launcher = Launcher(model, "abc", 0)
    launcher.round, launcher.left = 1, 3
    launcher.follow(seen)
    assert launcher.pressed == 4
