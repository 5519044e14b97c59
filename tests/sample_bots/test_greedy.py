"""The judgement of greedy_bot.py, case by case."""

import ast
import sys
from typing import Any

import pytest

from lastcard.sample_bots import greedy_bot
from tests.sample_bots.talk import EVERY_KIND, FOLDER, ask

WILD = "play W R,play W G,play W B,play W Y"


@pytest.mark.parametrize(
    ("why", "hand", "legal", "state", "action"),
    [
        ("the color it holds most", "R7 G7 G1 G2 B1", "play R7,play G7,draw", {}, "play G7"),
        ("an action before a number", "R1 R7 RS B1", "play R1,play R7,play RS,draw", {}, "play RS"),
        ("points between equals", "R1 R9 B1", "play R1,play R9,draw", {}, "play R9"),
        ("a wild waits", "R7 W G1 G2 G3", f"play R7,{WILD},draw", {}, "play R7"),
        ("a wild before drawing", "W G1 G2 B1", f"{WILD},draw", {}, "play W G"),
        (
            "a Draw Four waits, however long the color",
            "R7 WD" + " G1 G2 G3 G4" * 5,
            "play R7,play WD G,draw",
            {"counts": [22, 1]},
            "play R7",
        ),
        ("an Item Box waits", "R7 WI G1", "play R7,play WI,draw", {}, "play R7"),
        ("color over action at ease", "G3 RS G1 G2 G5 G6", "play RS,play G3,draw", {}, "play G3"),
        (
            "action over color in danger",
            "G3 RS G1 G2 G5 G6",
            "play RS,play G3,draw",
            {"counts": [6, 1]},
            "play RS",
        ),
        (
            "a Draw Four over a wild in danger",
            "W WD G1",
            f"{WILD},play WD G,draw",
            {"counts": [3, 1]},
            "play WD G",
        ),
        ("the last card", "R7", "play R7,draw", {}, "play R7"),
        ("the last but one", "RS R7", "play R7,play RS,draw", {}, "play RS uno"),
        (
            "all of a color at once",
            "RA R1 R2 R3 B1",
            "play R1,play R2,play R3,play RA,draw",
            {},
            "play RA uno",
        ),
        ("no trade for a worse hand", "R7 RT B1", "play R7,play RT,draw", {"counts": [3, 30]}, "play R7"),
        ("a trade for a better one", "R7 RT B1", "play R7,play RT,draw", {"counts": [3, 1]}, "play RT"),
    ],
)
def test_turn(why: str, hand: str, legal: str, state: dict[str, Any], action: str) -> None:
    assert greedy_bot.choose(ask("turn", legal.split(","), hand.split(), **state)) == action


@pytest.mark.parametrize(
    ("kind", "hand", "legal", "state", "action"),
    [
        ("drawn", "B2 B3 WD", "play WD R,play WD B,keep", {"about": {"card": "WD"}}, "play WD B"),
        ("extra", "B2 B3 G7", "play G7,stop", {"about": {"card": "GS", "missed": [1]}}, "play G7"),
        ("color", "R1 G1 G2 W", "color R,color G,color B,color Y", {"about": {"why": "start"}}, "color G"),
        ("color", "W", "color R,color G,color B,color Y", {"about": {"why": "bobomb"}}, "color R"),
        ("target", "R1 R2", "target 1,target 2", {"counts": [2, 6, 3], "about": {"card": "G4"}}, "target 2"),
        ("target", "R1 R2", "target 1,target none", {"counts": [2, 1], "about": {"card": "GT"}}, "target 1"),
        (
            "target",
            "R1 R2",
            "target 1,target none",
            {"counts": [2, 2], "about": {"card": "GT"}},
            "target none",
        ),
        (
            "challenge",
            "R1",
            "challenge,accept",
            {"counts": [1, 7], "about": {"seat": 1, "color": "B"}},
            "challenge",
        ),
        (
            "challenge",
            "R1",
            "challenge,accept",
            {"counts": [1, 1], "about": {"seat": 1, "color": "B"}},
            "accept",
        ),
        (
            "challenge",
            "R1",
            "challenge,accept",
            {"counts": [1, 0], "about": {"seat": 1, "color": "B"}},
            "accept",
        ),
        ("catch", "R1", "catch,wait", {"about": {"seat": 1}}, "catch"),
        ("bargain of next year", "R1", "take,leave", {}, "leave"),
    ],
)
def test_other_kinds(kind: str, hand: str, legal: str, state: dict[str, Any], action: str) -> None:
    seats = len(state.get("counts", "12"))
    assert greedy_bot.choose(ask(kind, legal.split(","), hand.split(), seats=seats, **state)) == action


@pytest.mark.parametrize(
    ("direction", "out", "seat"), [(1, [], 1), (-1, [], 3), (1, [1], 2), (-1, [3, 2], 1), (1, [1, 2, 3], 0)]
)
def test_the_next_seat_is_one_that_still_plays(direction: int, out: list[int], seat: int) -> None:
    state = ask("turn", [], [], seats=4, direction=direction, out=out)["state"]
    assert greedy_bot.next_seat(state) == seat
    if not out:  # a referee of another version may leave the field out
        del state["out"]
        assert greedy_bot.next_seat(state) == seat


def test_nothing_is_left_in_the_ask() -> None:
    for question in EVERY_KIND:
        before = repr(question)
        greedy_bot.choose(question)
        assert repr(question) == before


def test_it_is_short() -> None:
    assert len((FOLDER / "greedy_bot.py").read_text(encoding="utf-8").splitlines()) < 150


@pytest.mark.parametrize("name", ["random_bot.py", "greedy_bot.py"])
def test_a_bot_imports_little(name: str) -> None:
    tree = ast.parse((FOLDER / name).read_text(encoding="utf-8"))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules <= {"json", "random", "sys", "typing"}
    assert modules <= sys.stdlib_module_names
