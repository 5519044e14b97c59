"""The options: what each edition says (editions.md), which values are taken, and errors that say what there is."""

from typing import Any

import pytest

from lastcard.engine import EDITIONS, OPTIONS, EditionError, LastcardError, OptionError, Rules
from lastcard.engine.options import Choice, Number

COMMON: dict[str, Any] = {
    "supply": "pile", "start_wd4": "shuffle_back", "start_cards": "sheet", "next_dealer": "left",
    "wd4_unlawful": "color", "wd4_guilty": "keep", "uno_penalty": 2, "false_call_penalty": 0, "catch": "asked",
    "scoring": "winner_collects", "target": 500, "stacking": "off", "draw_until_playable": "off",
    "forced_play": "off", "seven_zero": "off", "blocked_round": "void", "turn_cap": 2000, "void_limit": 3,
    "max_rounds": 100,
}  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = {
    "mario-kart": COMMON | {
        "start_color": "dealer",  # AMB-4
        "banana_first_turn": "nobody",  # AMB-6
        "itembox_last": "resolve",  # AMB-1
    },
    "classic": COMMON | {"start_color": "first_player"},
}  # fmt: skip


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
SETTABLE = [(name, option) for name in DEFAULTS for option in (*DEFAULTS[name], "rounds") if option != "supply"]


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


@pytest.mark.parametrize("name", DEFAULTS)
def test_supply_of_a_deck_without_launcher_is_the_pile(name: str) -> None:
    assert Rules.of(name, {"supply": "pile"}).options["supply"] == "pile"
    with pytest.raises(OptionError, match=r"^option supply: 'launcher' is not a value, expected one of pile$"):
        Rules.of(name, {"supply": "launcher"})


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


@pytest.mark.parametrize("option", ["stacking", "catch", "scoring", "target", "uno_penalty"])
@pytest.mark.parametrize("value", [True, False])
def test_nothing_else_takes_booleans(option: str, value: bool) -> None:
    with pytest.raises(OptionError, match=f"^option {option}: {value} is not a value"):
        Rules.of("classic", {option: value})


# --- target or rounds

GOALS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"target": 500}),
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


def test_target_and_rounds_exclude_each_other() -> None:
    with pytest.raises(OptionError, match=r"^options target and rounds exclude each other: give one of them$"):
        Rules.of("classic", {"target": 500, "rounds": 5})


# --- errors


def test_an_unknown_edition_is_named_with_those_there_are() -> None:
    for name in ("mario", "", "Classic", "mario-kart "):
        with pytest.raises(EditionError, match=f"^there is no edition {name!r}; there are mario-kart, classic$"):
            Rules.of(name)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("classic", "itembox_last"),
        ("classic", "banana_first_turn"),
        ("mario-kart", "extra_card"),
        ("mario-kart", "jump_in"),
        ("classic", "Target"),
        ("classic", ""),
    ],
)
def test_an_unknown_option_is_named_with_the_edition_and_those_it_knows(name: str, option: str) -> None:
    with pytest.raises(OptionError) as raised:
        Rules.of(name, {option: "off"})
    known = ", ".join(sorted({*DEFAULTS[name], "rounds"}))
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
