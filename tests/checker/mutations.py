"""Logs that were tampered with: one field, one list or one line is not what it was, and the digest is made to fit.

Knows what a log looks like and no rule, so it cannot know what a reader would miss.
"""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from tests.checker.cards import COLORS, PRINTED

Line = dict[str, Any]

CARDS = list(PRINTED)


class Mutation(NamedTuple):
    """What was done, to which line (from 1), and the lines as they are now, without the last."""

    kind: str
    line: int
    lines: list[Line]


def mutations(lines: list[Line], lot: Random) -> Iterator[Mutation]:
    """Every field of every line changed in every way that is known here, then lines left out, doubled and swapped."""
    for place, line in enumerate(lines):
        inner = line.get("event", line)
        for name, value in inner.items():
            if name in SPARED or (line["type"] == "match" and name not in ("seed", "seats")):
                continue
            for what, new in changes(name, value, inner, lot):
                changed = copy.deepcopy(line)
                changed.get("event", changed)[name] = new
                kind = f"{inner['type']}.{name}: {what}"
                yield Mutation(kind, place + 1, [*lines[:place], changed, *lines[place + 1 :]])
    yield from moved_lines(lines)


SPARED = ("type", "t", "event", "format", "fault")


def moved_lines(lines: list[Line]) -> Iterator[Mutation]:
    """Lines that are missing, that stand twice, that stand in another order."""
    for place in range(1, len(lines)):
        before, line, after = lines[:place], lines[place], lines[place + 1 :]
        if not (line["type"] == "decision" and after and after[0].get("event", {}).get("type") == "forfeit"):
            # a seat that leaves may leave a decision open: nobody can tell that it was answered
            yield Mutation("a line: left out", place + 1, before + after)
        yield Mutation("a line: doubled", place + 2, [*before, line, line, *after])
        if after and after[0] != line:
            yield Mutation("two lines: swapped", place + 1, [*before, after[0], line, *after[1:]])


def changes(name: str, value: Any, line: Line, lot: Random) -> Iterator[tuple[str, Any]]:
    """Other values for a field, each with a word for what was done."""
    match value:
        case bool():
            yield "turned over", not value
        case int():
            yield "another number", value + lot.choice((-1, 1))
        case None:
            yield "a number in place of null", 0
        case str() if name == "action":
            yield from other_actions(value, line["legal"], lot)
        case str() if value in CARDS:
            yield "another card", lot.choice([card for card in CARDS if card != value])
        case str() if name == "color":
            yield "another color", lot.choice([color for color in COLORS if color != value])
        case str():
            yield "another word", value + "x"
        case list():
            yield from other_lists(name, value, line, lot)


def other_actions(action: str, legal: list[str], lot: Random) -> Iterator[tuple[str, Any]]:
    """What a seat could have done as well, and what it could not."""
    others = [other for other in legal if other != action.removesuffix(" uno")]
    if others:
        yield "another legal action", lot.choice(others)
    if action.startswith("play"):
        yield "the call", action.removesuffix(" uno") if action.endswith(" uno") else f"{action} uno"
    yield "an illegal action", "play R7 R"


def other_lists(name: str, value: list[Any], line: Line, lot: Random) -> Iterator[tuple[str, Any]]:
    """The list in another order, shorter, longer, and with another entry."""
    pairs = [(a, b) for a in range(len(value)) for b in range(a) if value[a] != value[b]]
    if pairs:
        a, b = lot.choice(pairs)
        swapped = list(value)
        swapped[a], swapped[b] = value[b], value[a]
        yield "another order", swapped
    if value:
        place = lot.randrange(len(value))
        yield "one less", value[:place] + value[place + 1 :]
        yield "one doubled", [*value[: place + 1], *value[place:]]
        for what, entry in changes(name, value[place], line, lot):
            yield f"in it {what}", [*value[:place], entry, *value[place + 1 :]]
