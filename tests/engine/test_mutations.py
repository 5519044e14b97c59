"""Every effect matters: one that does nothing fails a vector that names its rule. And no edition's name matters."""

import ast
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FunctionType
from typing import Any, NamedTuple

import pytest

from lastcard.engine import EDITIONS, attack, effects, endings, items, leaving, starts, supplies
from lastcard.engine.attack import EXTRA_CARD, HIT_FIRE
from lastcard.engine.effects import CATCHING, EFFECTS, GUILTY, UNLAWFUL
from lastcard.engine.endings import BLOCKED, NEXT_DEALER
from lastcard.engine.scoring import SCORING
from lastcard.engine.starts import START_COLOR, STARTS
from lastcard.engine.supplies import SUPPLIES
from lastcard.engine.vectors import check

TOP = Path(__file__).resolve().parents[2]
VECTORS: list[dict[str, Any]] = [
    vector for path in sorted((TOP / "vectors").glob("*.json")) for vector in json.loads(path.read_text("utf-8"))
]
RULE = re.compile(r"\b(MK|CL|AT|AMB)-(\d+)([a-e]?)(?:\.\.(?:\1-)?(\d+))?(?![\w-])")


def rules_in(text: str) -> set[str]:
    """The ids that a text names, ranges spelled out."""
    found: set[str] = set()
    for family, first, letter, last in RULE.findall(text):
        found |= {f"{family}-{first}{letter}"}
        found |= {f"{family}-{number}" for number in range(int(first), int(last or first) + 1)} if last else set()
    return found


class Mutation(NamedTuple):
    """An entry of a table, what it is replaced by, and the ids of the rules that the original carries out."""

    table: Any
    key: Any
    instead: Any
    rules: set[str]

    def unnoticed(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The rules of which no vector fails under the mutation."""
        with monkeypatch.context() as patch:
            patch.setitem(self.table, self.key, self.instead)
            return unnoticed(self.rules)


def unnoticed(rules: set[str]) -> list[str]:
    """The rules of which no vector fails. A function that names no rule has to fail any vector at all."""
    if not rules:
        return [] if any(map(fails, VECTORS)) else ["anything"]
    return [rule for rule in sorted(rules) if not any(rule in vector["rules"] and fails(vector) for vector in VECTORS)]


def fails(vector: dict[str, Any]) -> bool:
    """Whether the vector fails. A match that breaks under a mutation is a difference like any other."""
    try:
        return check(vector) != []
    except (AssertionError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        return True


def nothing(*_: object) -> None:
    """An effect that does nothing."""


def of_functions(
    name: str, table: Mapping[Any, Callable[..., Any]], instead: Callable[..., Any]
) -> dict[str, Mutation]:
    """A mutation for each function of an option's table."""
    return {f"{name}[{key}]": Mutation(table, key, instead, rules_in(f.__doc__ or "")) for key, f in table.items()}


def opposite(when: Callable[..., bool]) -> Callable[..., bool]:
    """The condition turned round."""
    return lambda state: not when(state)


def no_events(*_: object) -> list[Any]:
    return []


MUTATIONS: dict[str, Mutation] = {
    **{
        f"EFFECTS[{name}]": Mutation(EFFECTS, name, effect._replace(run=nothing), rules_in(effect.run.__doc__ or ""))
        for name, effect in EFFECTS.items()
    },
    **{
        f"SCORING[{name}]": Mutation(
            SCORING,
            name,
            scoring._replace(points=lambda _, worth: [0] * len(worth)),
            rules_in(scoring.points.__doc__ or ""),
        )
        for name, scoring in SCORING.items()
    },
    **of_functions("STARTS", STARTS, nothing),
    **of_functions("START_COLOR", START_COLOR, lambda state: state.seats - 1),
    **of_functions("GUILTY", GUILTY, nothing),
    **of_functions("UNLAWFUL", UNLAWFUL, lambda _: 0),
    **of_functions("CATCHING", CATCHING, nothing),
    **of_functions("NEXT_DEALER", NEXT_DEALER, lambda state, _: state.dealer),
    **of_functions("BLOCKED", BLOCKED, nothing),
    **{
        name: mutation
        for supply_name, supply in SUPPLIES.items()
        for name, mutation in of_functions(f"DECLINE {supply_name}", supply.decline, no_events).items()
    },
    **of_functions("HIT_FIRE", HIT_FIRE, nothing),
    **{
        f"EXTRA_CARD[{name}]": Mutation(EXTRA_CARD, name, opposite(when), rules_in(when.__doc__ or ""))
        for name, when in EXTRA_CARD.items()
    },
}


IN_TABLES = {
    *(effect.run for effect in EFFECTS.values()),
    *(scoring.points for scoring in SCORING.values()),
    *(function for supply in SUPPLIES.values() for function in supply.decline.values()),
    *(function for table in (STARTS, START_COLOR, GUILTY, UNLAWFUL, CATCHING) for function in table.values()),
    *(function for table in (NEXT_DEALER, BLOCKED, HIT_FIRE, EXTRA_CARD) for function in table.values()),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_vector_of_each_of_its_rules_misses_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MUTATIONS[name].unnoticed(monkeypatch) == []


ENGINE = [module for name, module in sorted(sys.modules.items()) if name.startswith("lastcard.engine.")]
HELPERS = {
    name: function
    for module in (attack, effects, endings, items, leaving, starts, supplies)
    for name, function in vars(module).items()
    if isinstance(function, FunctionType) and function.__module__ == module.__name__
    if rules_in(function.__doc__ or "") and function not in IN_TABLES
}
"""Functions that carry out rules for those in the tables."""


@pytest.mark.parametrize("name", HELPERS)
def test_a_vector_of_each_of_its_rules_misses_the_helper(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = HELPERS[name]
    for module in ENGINE:
        if vars(module).get(name) is function:
            monkeypatch.setattr(module, name, nothing)
    assert unnoticed(rules_in(function.__doc__ or "")) == []


def test_every_effect_of_an_edition_is_among_the_mutations() -> None:
    for edition in EDITIONS.values():
        used = {effect for effects in (*edition.effects.values(), *edition.items.values()) for effect in effects}
        assert {f"EFFECTS[{effect}]" for effect in used} <= MUTATIONS.keys()
        assert {f"STARTS[{start}]" for start in edition.starts.values()} <= MUTATIONS.keys()


# Rules that only a house rule adds have no id; every other function in the tables names its own.
WITHOUT_ID = {"EFFECTS[seven]", "EFFECTS[zero]", "DECLINE pile[on]"}


def test_every_function_in_the_tables_names_its_rule() -> None:
    assert {name for name, mutation in MUTATIONS.items() if not mutation.rules} == WITHOUT_ID


def renamed(names: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Renames the editions in the engine, and in the vectors that are returned."""
    editions = {names[name]: replace(edition, name=names[name]) for name, edition in EDITIONS.items()}
    for name in list(EDITIONS):
        monkeypatch.delitem(EDITIONS, name)
    for name, edition in editions.items():
        monkeypatch.setitem(EDITIONS, name, edition)
    return [vector | {"edition": names[vector["edition"]]} for vector in VECTORS]


def test_renaming_the_editions_at_random_breaks_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    lot = Random(1)
    names = {name: "".join(lot.choices("abcdefghijklmnopqrstuvwxyz-", k=9)) for name in EDITIONS}
    assert [fault for vector in renamed(names, monkeypatch) for fault in check(vector)] == []


def test_editions_under_each_other_s_names_break_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    names = dict(zip(EDITIONS, [*list(EDITIONS)[1:], *list(EDITIONS)[:1]], strict=True))
    assert [fault for vector in renamed(names, monkeypatch) for fault in check(vector)] == []


# `attack` is also why cards are drawn (design.md 2): it is said where such a press is made, and among the reasons.
NAMES_IN = {"editions.py": sorted(EDITIONS), "attack.py": ["attack"], "events.py": ["attack"]}


def test_the_engine_looks_at_no_edition_s_name() -> None:
    for path in sorted((TOP / "engine").glob("*.py")):
        texts = [node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)]
        found = [text for text in texts if text in EDITIONS]
        assert sorted(found) == NAMES_IN.get(path.name, []), path.name
