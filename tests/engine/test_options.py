"""The options: what each edition says (editions.md), which values are taken, and errors that say what there is."""

from random import Random
from typing import Any

import pytest

from lastcard.engine import EDITIONS, OPTIONS, EditionError, LastcardError, Match, OptionError, Rules
from lastcard.engine.options import Choice, Number
from tests.engine.play import Mood

EVERYWHERE: dict[str, Any] = {
    "start_cards": "sheet", "next_dealer": "left", "uno_penalty": 2, "false_call_penalty": 0, "catch": "asked",
    "scoring": "winner_collects", "target": 500, "stacking": "off", "draw_until_playable": "off",
    "forced_play": "off", "seven_zero": "off", "blocked_round": "void", "turn_cap": 2000, "void_limit": 3,
    "max_rounds": 100,
}  # fmt: skip
PILE = EVERYWHERE | {
    "supply": "pile", "start_wd4": "shuffle_back", "wd4_unlawful": "color", "wd4_guilty": "keep",
}  # fmt: skip
LAUNCHER = EVERYWHERE | {
    "supply": "launcher", "start_color": "first_player", "trade_last": "forbidden", "attack_next": "next",
    "hit_fire": "any_card", "custom_effect": "none", "launcher": "hazard5",
}  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = {
    "mario-kart": PILE | {
        "start_color": "dealer",  # AMB-4
        "banana_first_turn": "nobody",  # AMB-6
        "itembox_last": "resolve",  # AMB-1
    },
    "mario-kart-jp": {name: value for name, value in PILE.items() if name != "target"} | {
        "start_color": "first_player", "banana_first_turn": "nobody", "itembox_last": "resolve",
        "start_wd4": "put_back",  # MK-7
        "next_dealer": "round_winner",  # MK-13
        "wd4_unlawful": "any_playable",  # MK-43
        "wd4_guilty": "take_back",  # MK-44
        "scoring": "plus_minus",  # MK-52
        "rounds": 5,  # MK-54
    },
    "attack": LAUNCHER | {
        "extra_card": "always",  # AT-24
        "two_player_extra": "card",  # AMB-3e
        "all_hit": "everyone",  # AT-33
        "trade_hands": "may",  # AT-34
        "custom_count": 3,
    },
    "attack-trade-hands": LAUNCHER | {
        "extra_card": "always", "two_player_extra": "card", "all_hit": "everyone", "trade_hands": "may",
        "custom_count": 0,
    },
    "attack-official": LAUNCHER | {
        "extra_card": "two_players", "two_player_extra": "turn", "all_hit": "others", "trade_hands": "must",
        "custom_count": 3,
    },
    "classic": PILE | {"start_color": "first_player"},
}  # fmt: skip
"""The table of editions.md."""


def test_every_edition_is_in_the_table() -> None:
    assert list(DEFAULTS) == list(EDITIONS)


@pytest.mark.parametrize("name", DEFAULTS)
def test_values_of_an_edition(name: str) -> None:
    assert Rules.of(name).options == DEFAULTS[name]
    assert Rules.of(name, {}).edition.name == name


# --- every option of every edition: all its values, and none besides

VALUES: dict[str, list[Any]] = {
    "start_color": ["dealer", "first_player"],
    "start_wd4": ["shuffle_back", "put_back"],
    "start_cards": ["sheet", "numbers_only"],
    "next_dealer": ["left", "round_winner"],
    "wd4_unlawful": ["color", "any_playable"],
    "wd4_guilty": ["keep", "take_back"],
    "banana_first_turn": ["nobody", "previous_seat"],
    "itembox_last": ["resolve", "after_penalties", "at_once"],
    "launcher": ["hazard5", "iid", "fixed_sequence", "scripted"],
    "extra_card": ["always", "two_players", "never"],
    "two_player_extra": ["card", "turn"],
    "all_hit": ["everyone", "others"],
    "trade_hands": ["may", "must"],
    "trade_last": ["forbidden", "wins"],
    "attack_next": ["next", "skip_one"],
    "hit_fire": ["any_card", "named_color"],
    "custom_effect": ["none", "hit_four", "attack_attack", "hit_fire", "all_hit"],
    "custom_count": [0, 1, 2, 3],
    "uno_penalty": [0, 2, 20],
    "false_call_penalty": [0, 1, 20],
    "catch": ["asked", "auto"],
    "scoring": ["winner_collects", "plus_minus", "penalty_lowest"],
    "target": [1, 500, 1_000_000],
    "rounds": [1, 5, 10_000],
    "stacking": ["off", "same", "cross"],
    "draw_until_playable": ["off", "on"],
    "forced_play": ["off", "on"],
    "seven_zero": ["off", "on"],
    "blocked_round": ["void", "lowest_hand_wins"],
    "turn_cap": [1, 2000, 1_000_000],
    "void_limit": [1, 3, 10_000],
    "max_rounds": [1, 100, 1_000_000],
}
SETTABLE = [(name, option) for name in DEFAULTS for option in {**DEFAULTS[name], "target": 0, "rounds": 0}]
SETTABLE = [(name, option) for name, option in SETTABLE if option != "supply"]


@pytest.mark.parametrize(("name", "option"), SETTABLE)
def test_every_value_of_an_option_is_taken(name: str, option: str) -> None:
    for value in VALUES[option]:
        options = Rules.of(name, {option: value}).options
        assert options[option] == value
        others = options.keys() - {option, "target", "rounds"}
        assert {other: options[other] for other in others} == {other: DEFAULTS[name][other] for other in others}


def test_the_table_of_values_is_whole() -> None:
    for option, kind in OPTIONS.items():
        if isinstance(kind, Choice) and option in VALUES:
            assert VALUES[option] == list(kind.values)
    assert {option for edition in EDITIONS.values() for option in edition.options} <= {*VALUES, "supply"}


def play(name: str, options: dict[str, Any], seats: int, steps: int) -> Match:
    """A match by lot of at most so many steps; cards are conserved, and whoever is asked can answer."""
    lot = Random(f"{name} {options} {seats}")
    soon = {"turn_cap": 60, "max_rounds": 2} | options
    match, mood = Match(Rules.of(name, soon), seats, "s"), Mood(0.9, 0.5, 0.3)
    for _ in range(steps):
        if match.over:
            break
        match.deal() if match.decision is None else match.act(mood.answers(match, lot))
        match.check_cards()
    return match


@pytest.mark.parametrize(("name", "option"), SETTABLE)
def test_a_match_can_be_played_under_every_value_of_an_option(name: str, option: str) -> None:
    for number, value in enumerate(VALUES[option]):
        if value == "scripted":  # for positions alone, see test_positions
            with pytest.raises(OptionError, match=r"^option launcher: scripted presses are given with a position"):
                Match(Rules.of(name, {option: value}), 3, "s")
            continue
        for seats in (2, 3 + number % 3):
            play(name, {option: value}, seats, 300)


PLAYED = {"target": [1, 120], "rounds": [1, 2], "turn_cap": [1, 60], "void_limit": [1, 3], "max_rounds": [1, 2]}
"""Values that let a match be over soon."""


def pairs_of(name: str) -> list[tuple[str, str]]:
    options = sorted({option for edition, option in SETTABLE if edition == name})
    pairs = [(one, other) for one in options for other in options if one < other]
    return [pair for pair in pairs if pair != ("rounds", "target")]


@pytest.mark.soak
@pytest.mark.parametrize("name", DEFAULTS)
def test_no_pair_of_options_leaves_a_match_without_an_end(name: str) -> None:
    """Every pair of values, at two tables. A match is over after at most 60 turns of two rounds."""
    for one, other in pairs_of(name):
        for first in PLAYED.get(one, VALUES[one]):
            for second in PLAYED.get(other, VALUES[other]):
                if "scripted" in (first, second):
                    continue
                for seats in (2, 3 + (len(one) + len(other)) % 8):
                    assert play(name, {one: first, other: second}, seats, 2000).over


@pytest.mark.parametrize("name", DEFAULTS)
def test_supply_is_the_pile_or_the_launcher_as_the_deck_says(name: str) -> None:
    own = DEFAULTS[name]["supply"]
    other = {"pile": "launcher", "launcher": "pile"}[own]
    assert Rules.of(name, {"supply": own}).options["supply"] == own
    with pytest.raises(OptionError, match=f"^option supply: '{other}' is not a value, expected one of {own}$"):
        Rules.of(name, {"supply": other})


NO_NUMBERS = ["-1", "1.0", "\u0661", "1_0", "+1", " 1", "9" * 5000]
BAD_VALUES: list[Any] = [None, "", "Off", " off", "nonsense", -1, 1.0, 2.5, [], {}, ["off"], 10**30, *NO_NUMBERS]


@pytest.mark.parametrize(("name", "option"), SETTABLE)
def test_other_values_are_refused_and_the_error_says_which_there_are(name: str, option: str) -> None:
    kind = OPTIONS[option]
    if isinstance(kind, Choice):
        expected = f"expected one of {', '.join(kind.values)}$"
    else:
        expected = f"expected a whole number from {kind.least} to {kind.most}$"
    for value in BAD_VALUES:
        with pytest.raises(OptionError, match=f"^option {option}: .* is not a value, {expected}"):
            Rules.of(name, {option: value})


@pytest.mark.parametrize("option", [option for option, kind in OPTIONS.items() if isinstance(kind, Number)])
def test_bounds_of_numbers(option: str) -> None:
    kind = OPTIONS[option]
    assert isinstance(kind, Number)
    for value in (kind.least - 1, kind.most + 1, str(kind.least - 1), str(kind.most + 1), True, False):
        with pytest.raises(OptionError):
            kind.read(option, value)
    for value in (kind.least, kind.most):
        assert kind.read(option, value) == kind.read(option, str(value)) == value


@pytest.mark.parametrize(("given", "resolved"), [(True, "on"), (False, "off"), ("on", "on"), ("off", "off")])
@pytest.mark.parametrize("option", ["draw_until_playable", "forced_play", "seven_zero"])
def test_switches_take_on_and_off_and_booleans(option: str, given: object, resolved: str) -> None:
    assert Rules.of("classic", {option: given}).options[option] == resolved


@pytest.mark.parametrize("value", ["false", False])
def test_off_is_false_wherever_it_is_a_value(value: object) -> None:
    assert Rules.of("classic", {"stacking": value}).options["stacking"] == "off"


@pytest.mark.parametrize("option", ["catch", "scoring", "target", "uno_penalty"])
@pytest.mark.parametrize("value", [True, False])
def test_nothing_else_takes_booleans(option: str, value: bool) -> None:
    with pytest.raises(OptionError, match=f"^option {option}: {value} is not a value"):
        Rules.of("classic", {option: value})


# --- target or rounds

GOALS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"target": 200}, {"target": 200}),
    ({"rounds": 3}, {"rounds": 3}),
    ({"rounds": "12"}, {"rounds": 12}),
    ({"target": "500"}, {"target": 500}),
]


@pytest.mark.parametrize(("given", "goal"), GOALS)
@pytest.mark.parametrize("name", sorted(EDITIONS))
def test_a_match_has_a_target_or_a_number_of_rounds(name: str, given: dict[str, Any], goal: dict[str, Any]) -> None:
    options = Rules.of(name, given).options
    assert {option: options[option] for option in ("target", "rounds") if option in options} == goal
    own = Rules.of(name).options
    assert ("target" in own) != ("rounds" in own)


def test_target_and_rounds_exclude_each_other() -> None:
    with pytest.raises(OptionError, match=r"^options target and rounds exclude each other: give one of them$"):
        Rules.of("classic", {"target": 500, "rounds": 5})


# --- errors


def test_an_unknown_edition_is_named_with_those_there_are() -> None:
    for name in ("mario", "", "Classic", "mario-kart "):
        with pytest.raises(EditionError, match=f"^there is no edition {name!r}; there are {', '.join(DEFAULTS)}$"):
            Rules.of(name)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("classic", "itembox_last"),
        ("classic", "banana_first_turn"),
        ("mario-kart", "extra_card"),
        ("mario-kart-jp", "launcher"),
        ("attack", "wd4_guilty"),
        ("attack-official", "itembox_last"),
        ("attack-trade-hands", "start_wd4"),
        ("mario-kart", "jump_in"),
        ("classic", "Target"),
        ("classic", ""),
    ],
)
def test_an_unknown_option_is_named_with_the_edition_and_those_it_knows(name: str, option: str) -> None:
    with pytest.raises(OptionError) as raised:
        Rules.of(name, {option: "off"})
    known = ", ".join(sorted({*DEFAULTS[name], "rounds", "target"}))
    assert str(raised.value) == f"edition {name} knows no option {option!r}; it knows {known}"


def test_errors_are_value_errors_of_one_family() -> None:
    assert issubclass(OptionError, LastcardError)
    assert issubclass(EditionError, LastcardError)
    assert issubclass(LastcardError, ValueError)


def test_an_edition_is_not_changed_by_the_options_of_a_match() -> None:
    Rules.of("classic", {"rounds": 2, "stacking": "cross"})
    assert Rules.of("classic").options == DEFAULTS["classic"]


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_says_what_it_means(option: str) -> None:
    assert len(OPTIONS[option].meaning) > 10
    assert not OPTIONS[option].meaning.endswith(".")
