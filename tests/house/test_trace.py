"""`make trace` on trees made for it: it finds what is there, and every kind of hole."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def trace() -> ModuleType:
    """tests/trace.py, which is a script and stands on no import path."""
    spec = importlib.util.spec_from_file_location("lastcard_trace", TOP / "tests" / "trace.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def plant(top: Path, *, engine: str, spec: str, vectors: list[Any], tests: str = "") -> Path:
    for name, text in {
        "engine/rules/effects.py": engine,
        "spec.md": spec,
        "vectors/mk.json": json.dumps(vectors),
        "tests/test_rules.py": tests,
    }.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return top


def whole(trace: ModuleType) -> dict[str, Any]:
    """The contents of a tree without a hole."""
    return {
        "engine": "\n".join(f"# {rule}" for rule in trace.RULES if rule not in trace.NOT_IN_ENGINE),
        "spec": "# Rules\n" + "\n".join(f"**{rule}** a rule." for rule in (*trace.RULES, *trace.NOT_APPLICABLE)),
        "vectors": [
            {"id": f"proof-{rule}", "rules": [rule]} for rule in trace.RULES if rule not in trace.NOTHING_TO_PROVE
        ],
    }


def test_list_of_rules(trace: ModuleType) -> None:
    families = ("MK-", "AT-", "CL-", "AMB-")
    counts = {family: sum(rule.startswith(family) for rule in trace.RULES) for family in families}
    assert counts == {"MK-": 54, "AT-": 49 - 3, "CL-": 24, "AMB-": 16 + 7 + 18 + 21}
    assert len(set(trace.RULES)) == len(trace.RULES)
    assert set(trace.NOT_IN_ENGINE) <= set(trace.RULES)
    assert set(trace.NOT_IN_ENGINE) >= trace.NOTHING_TO_PROVE
    assert not set(trace.NOT_APPLICABLE) & set(trace.RULES)


def test_a_whole_tree_has_no_hole(trace: ModuleType, tmp_path: Path) -> None:
    found = trace.read(plant(tmp_path, **whole(trace)))
    assert list(trace.holes(found)) == []
    line = next(line for line in trace.table(found) if line.startswith("MK-7 "))
    assert line.split() == ["MK-7", "engine/rules/effects.py:7", "Rules", "proof-MK-7"]


@pytest.mark.parametrize(
    ("room", "old", "new", "hole"),
    [
        ("engine", "# MK-35", "#", "MK-35: no line of engine/ names it"),
        ("spec", "**AMB-22b**", "", "AMB-22b: spec.md does not state it"),
        ("spec", "**MK-1**", "```\n**MK-1**\n```\n", "MK-1: spec.md does not state it"),
        ("spec", "# Rules", "# MK-77", "MK-77: there is no such rule, but MK-77 names it"),
        ("spec", "**AT-13**", "", "AT-13: spec.md does not list it as not applicable"),
        ("engine", "# AT-24\n", "", "AT-24: no line of engine/ names it"),
        ("engine", "# MK-5\n", "# MK-5\n# AT-49\n", "AT-49: not applicable, but engine/rules/effects.py:6 names it"),
        ("engine", "# MK-20\n# MK-21\n# MK-22\n", "# MK-20..22\n", None),
    ],
)
def test_one_change(trace: ModuleType, tmp_path: Path, room: str, old: str, new: str, hole: str | None) -> None:
    tree = whole(trace)
    assert old in tree[room]
    tree[room] = tree[room].replace(old, new, 1)
    found = trace.read(plant(tmp_path, **tree))
    assert list(trace.holes(found)) == ([] if hole is None else [hole])


def test_a_function_is_named_before_prose(trace: ModuleType, tmp_path: Path) -> None:
    tree = whole(trace) | {"engine": '"""MK-35."""\n\ndef banana() -> None:\n    """MK-35: ..."""\n'}
    found = trace.read(plant(tmp_path, **tree)).engine.found["MK-35"]
    assert found == ["engine/rules/effects.py:4 banana", "engine/rules/effects.py:1"]


def test_proof_by_vector_or_by_test(trace: ModuleType, tmp_path: Path) -> None:
    tree = whole(trace)
    tree["vectors"] = [case for case in tree["vectors"] if case["rules"] != ["MK-13"]]
    found = trace.read(plant(tmp_path, **tree))
    assert list(trace.holes(found)) == ["MK-13: no vector and no test proves it"]
    found = trace.read(plant(tmp_path, **tree, tests="def test_dealer() -> None:  # MK-13\n    ..."))
    assert list(trace.holes(found)) == []


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("MK-9..12", ["MK-9", "MK-10", "MK-11", "MK-12"]),
        ("MK-9..MK-10, AMB-22b.", ["MK-9", "MK-10", "AMB-22b"]),
        ("mk-9 XMK-9 MK-9x MK-9-10", []),
    ],
)
def test_ids_in_a_text(trace: ModuleType, text: str, rules: list[str]) -> None:
    assert list(trace.rules_in(text)) == rules
