"""The arrows referee -> protocol -> engine, read from the source; knows nothing of what the code does."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
ROOMS = ("engine", "protocol", "referee", "sample_bots")

# Modules without input, output, clock, threads or global state: all that the rules need.
PURE = frozenset(
    """__future__ abc bisect collections copy dataclasses enum functools hashlib heapq itertools json math
    numbers operator re string struct types typing""".split()
)
# What the protocol may not know: it turns bytes into messages and never moves them.
WORLD = frozenset(
    """asyncio ctypes fcntl io multiprocessing os pathlib queue random select selectors shutil signal socket
    socketserver ssl subprocess tempfile threading time""".split()
)
IMPURE_CALLS = frozenset("breakpoint compile eval exec globals input open print __import__".split())
# The engine's names that are values; the rest of its public names are its machinery, for the referee alone.
ENGINE_VALUES = frozenset({"Decision", "Event", "LastcardError", "View"})

THIRD_PARTY = {
    "engine": frozenset[str](),
    "protocol": frozenset({"msgspec"}),
    "referee": frozenset({"click", "msgspec", "rich", "trio"}),
    "sample_bots": frozenset[str](),
}
MAY_IMPORT = {
    "engine": ("engine",),
    "protocol": ("protocol", "engine"),
    "referee": ("referee", "protocol", "engine"),
    "sample_bots": (),
}

# A program that is run by its path, without the package, finds the files beside it by their own names.
NEIGHBOURS = {"referee/keeper.py": ("the referee may not use cgroups", "the referee may not use trees")}

EDITION_NAMES = frozenset({"mario-kart", "mario-kart-jp", "attack-trade-hands", "attack-official", "classic"})
EDITION_NAME = re.compile(r"\bedition(\.name|_name|\[.name.\])$")


def imports(tree: ast.AST) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Every import below a node: line, module, names taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (
                node.lineno,
                "." * node.level + (node.module or ""),
                tuple(alias.name for alias in node.names),
            )


def import_fault(room: str, module: str, names: tuple[str, ...]) -> str | None:
    """Why a room may not import this, or None."""
    root, *rest = module.split(".")
    if module.startswith("."):
        return "relative import: write lastcard.* in full"
    if root == "lastcard":
        return own_import_fault(room, rest or list(names[:1]), names if rest else ())
    if root in sys.stdlib_module_names:
        forbidden = root not in PURE if room == "engine" else room == "protocol" and root in WORLD
        return f"the {room} may not use {root}" if forbidden else None
    return None if root in THIRD_PARTY[room] else f"the {room} may not use {root}"


def own_import_fault(room: str, path: list[str], names: tuple[str, ...]) -> str | None:
    """The same for lastcard.PATH: rooms to the left only, and of the engine only its public names."""
    if not path or path[0] not in MAY_IMPORT[room]:
        return f"the {room} may not import from {'.'.join(['lastcard', *path])}"
    if path[0] != "engine" or room == "engine":
        return None
    if len(path) > 1:
        return f"the {room} may import public names from lastcard.engine, not lastcard.{'.'.join(path)}"
    machinery = [name for name in names if room == "protocol" and name not in ENGINE_VALUES]
    return f"the protocol may know the engine's values, not {', '.join(machinery)}" if machinery else None


def import_faults(room: str, tree: ast.AST) -> Iterator[str]:
    for line, module, names in imports(tree):
        fault = import_fault(room, module, names)
        if fault:
            yield f"{line}: {fault}"


def impure_calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            yield f"{node.lineno}: the engine may not call {node.func.id}()"
        if isinstance(node, ast.Global):
            yield f"{node.lineno}: the engine may not change module state"


def names_edition(node: ast.AST) -> bool:
    """Whether an expression is an edition's name, or a collection that holds one."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(names_edition(element) for element in node.elts)
    if isinstance(node, ast.MatchOr):
        return any(names_edition(pattern) for pattern in node.patterns)
    if isinstance(node, ast.MatchValue):
        return names_edition(node.value)
    if isinstance(node, ast.Constant):
        return node.value in EDITION_NAMES
    return EDITION_NAME.search(ast.unparse(node)) is not None


def edition_faults(tree: ast.AST) -> Iterator[str]:
    """Places where what an edition is called decides something."""
    for node in ast.walk(tree):
        parts: list[ast.expr | ast.pattern] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            parts = [node.subject, *(case.pattern for case in node.cases)]
        elif isinstance(node, ast.Subscript):
            parts = [node.slice] if isinstance(node.slice, ast.Constant) else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asks = node.func.attr in {"startswith", "endswith", "get", "find", "index"}
            parts = [node.func.value, *node.args[:1]] if asks else []
        if any(names_edition(part) for part in parts):
            line = parts[0].lineno
            yield f"{line}: an edition is data; no code asks for its name"


def faults(room: str, tree: ast.AST) -> list[str]:
    found = [*import_faults(room, tree)]
    if room == "engine":
        found += impure_calls(tree)
    if room != "sample_bots":
        found += edition_faults(tree)
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_room_keeps_to_its_arrows(room: str) -> None:
    files = sorted((TOP / room).rglob("*.py"))
    assert files
    found = [
        f"{path.relative_to(TOP)}:{fault}"
        for path in files
        for fault in faults(room, ast.parse(path.read_text(encoding="utf-8")))
        if not fault.endswith(NEIGHBOURS.get(path.relative_to(TOP).as_posix(), ()))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("engine", "import random"),
        ("engine", "import os.path"),
        ("engine", "def draw():\n    from time import monotonic"),
        ("engine", "from lastcard.protocol import Ask"),
        ("engine", "import msgspec"),
        ("engine", "print('a card')"),
        ("engine", "def deal():\n    global seed"),
        ("engine", "from .cards import printed"),
        ("protocol", "import trio"),
        ("protocol", "import socket"),
        ("protocol", "from lastcard.engine import Match"),
        ("protocol", "from lastcard.engine.cards import printed"),
        ("protocol", "from lastcard import referee"),
        ("referee", "from lastcard.engine.match import Match"),
        ("referee", "import lastcard.engine.match"),
        ("referee", "from lastcard.sample_bots import random_bot"),
        ("referee", "import numpy"),
        ("sample_bots", "from lastcard.protocol import Ask"),
        ("sample_bots", "import trio"),
        ("engine", "if rules.edition.name == other: pass"),
        ("engine", "x = 1 if name == 'mario-kart' else 2"),
        ("referee", "match name:\n    case 'classic' | 'x': pass"),
        ("referee", "match start.edition.name:\n    case x: pass"),
        ("engine", "if edition_name in ('a', 'b'): pass"),
        ("engine", "table['classic']"),
        ("protocol", "edition.name.startswith('mario')"),
    ],
)
def test_a_planted_fault_is_found(room: str, source: str) -> None:
    assert len(faults(room, ast.parse(source))) == 1


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("engine", "from collections.abc import Iterator"),
        ("engine", "from lastcard.engine.cards import printed"),
        ("engine", "Edition(name='mario-kart')"),
        ("engine", "why == 'attack'"),
        ("protocol", "from lastcard.engine import View"),
        ("protocol", "import msgspec, json"),
        ("referee", "from lastcard.engine import Match, Rules"),
        ("referee", "from lastcard.protocol.messages import Ask"),
        ("referee", "import os, time, trio"),
        ("referee", "if edition not in EDITIONS: pass"),
        ("sample_bots", "import json, random, sys"),
    ],
)
def test_what_is_allowed_is_not_found(room: str, source: str) -> None:
    assert faults(room, ast.parse(source)) == []
