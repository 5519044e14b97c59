"""Traces every rule to its code, its specification and its proof; knows the rules' ids and not what they say.

`make trace` prints one line a rule: the function of engine/ that names its id, the section of spec.md that
states it, the vectors and tests that prove it. A rule that lacks one of the three is a hole, and so is an id
that no rule has; either makes the exit code 1. A range such as MK-20..23 names every rule in it.
"""

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parent.parent

# Rules that no program can follow or break, or that no edition has: nothing carries them out and nothing proves
# them. spec.md lists them all the same.
NOT_APPLICABLE = {
    "AT-13": "cards that stick out of a machine; in software a press ejects whole cards",
    "AT-46": "a game of its own that the sheets offer beside the usual one; no edition plays it, no option asks for it",
    "AT-49": "talking at the table; the only words between seats here are events",
}

# Every rule of every edition, every ambiguity of rules.md 3a to 3d.
RULES = (
    *(f"MK-{number}" for number in range(1, 55)),
    *(rule for rule in (f"AT-{number}" for number in range(1, 50)) if rule not in NOT_APPLICABLE),
    *(f"CL-{number}" for number in range(1, 25)),
    *(f"AMB-{number}" for number in (1, 2, *range(4, 8), *range(9, 19))),  # Mario Kart
    *("AMB-19", "AMB-20", "AMB-21", "AMB-22", "AMB-22b", "AMB-22c", "AMB-22d"),  # the Wild Draw Four
    *("AMB-3", "AMB-3b", "AMB-3c", "AMB-3d", "AMB-3e", "AMB-8", "AMB-23", "AMB-24", "AMB-24b", "AMB-25"),  # Attack
    *("AMB-25b", "AMB-25c", "AMB-26", "AMB-27", "AMB-28", "AMB-29", "AMB-30", "AMB-30b"),
    *(f"AMB-{number}" for number in range(31, 52)),  # all games
)

# Rules that no function of the engine can carry out, and why. Only these may have no line in engine/.
NOT_IN_ENGINE = {
    "AT-39": "a race of reflexes, left out as AMB-38 says",
    "CL-18": "a gesture at the table; the referee asks for catches in a step of their own",
    "CL-24": "speaks of a card that is in no deck of ours",
    "AMB-38": "a race of reflexes, left out: the call is part of the play or is not made",
    "AMB-51": "what a bot's fault leads to is the referee's affair, see the fault table",
}
# Of these there is nothing to prove either.
NOTHING_TO_PROVE = frozenset({"CL-18", "CL-24"})

RULE = re.compile(r"\b(MK|CL|AT|AMB)-(\d+)([a-e]?)(?:\.\.(?:\1-)?(\d+))?(?![\w-])")
HEADING = re.compile(r"#+\s+(.*)")
FENCE = re.compile(r"\s*(```|~~~)")


class Places(NamedTuple):
    """Where one kind of file names rules: id -> places, in the order of the files."""

    found: dict[str, list[str]]

    def add(self, rule: str, place: str) -> None:
        places = self.found.setdefault(rule, [])
        if place not in places:
            places.append(place)


class Trace(NamedTuple):
    engine: Places
    spec: Places
    vectors: Places
    tests: Places


def rules_in(text: str) -> Iterator[str]:
    """The ids that a text names, ranges spelled out."""
    for family, first, letter, last in RULE.findall(text):
        yield f"{family}-{first}{letter}"
        if last:
            yield from (f"{family}-{number}" for number in range(int(first) + 1, int(last) + 1))


def functions_by_line(source: str) -> dict[int, str]:
    """Line number -> the function that it stands in; inner functions win."""
    inside: dict[int, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node.name)
    return inside


def read_code(top: Path, folder: str, skipped: Iterable[Path] = ()) -> Places:
    """Python files: every line that names a rule; lines of a function come before tables and prose."""
    prose, places = Places({}), Places({})
    for path in sorted((top / folder).rglob("*.py")):
        if path in skipped:
            continue
        source, name = path.read_text(encoding="utf-8"), path.relative_to(top).as_posix()
        inside = functions_by_line(source)
        for number, line in enumerate(source.splitlines(), start=1):
            for rule in rules_in(line):
                if number in inside:
                    places.add(rule, f"{name}:{number} {inside[number]}")
                else:
                    prose.add(rule, f"{name}:{number}")
    for rule, found in prose.found.items():
        for place in found:
            places.add(rule, place)
    return places


def read_spec(top: Path) -> Places:
    """spec.md: the heading over every mention; what stands in a code block is an example and no mention."""
    places = Places({})
    heading, in_block = "", False
    for line in (top / "spec.md").read_text(encoding="utf-8").splitlines():
        in_block ^= FENCE.match(line) is not None
        title = HEADING.match(line)
        if title and not in_block:
            heading = title.group(1)
        if not in_block:
            for rule in rules_in(line):
                places.add(rule, heading)
    return places


def read_vectors(top: Path) -> Places:
    """vectors/*.json: the ids of the cases that claim to prove a rule."""
    places = Places({})
    for path in sorted((top / "vectors").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for case in content if isinstance(content, list) else [content]:
            for rule in case["rules"]:
                places.add(rule, case["id"])
    return places


def read_tests(top: Path) -> Places:
    """tests/: lines that name a rule, but for this file and the tests of it, which name them as examples."""
    skipped = (top / "tests" / "trace.py", top / "tests" / "house" / "test_trace.py")
    return read_code(top, "tests", skipped)


def read(top: Path) -> Trace:
    return Trace(read_code(top, "engine"), read_spec(top), read_vectors(top), read_tests(top))


def holes(trace: Trace) -> Iterator[str]:
    """What is missing, a sentence each."""
    for rule in RULES:
        if rule not in trace.engine.found and rule not in NOT_IN_ENGINE:
            yield f"{rule}: no line of engine/ names it"
        if rule not in trace.spec.found:
            yield f"{rule}: spec.md does not state it"
        proved = rule in trace.vectors.found or rule in trace.tests.found
        if not proved and rule not in NOTHING_TO_PROVE:
            yield f"{rule}: no vector and no test proves it"
    for rule in NOT_APPLICABLE:
        if rule not in trace.spec.found:
            yield f"{rule}: spec.md does not list it as not applicable"
        if rule in trace.engine.found:
            yield f"{rule}: not applicable, but {trace.engine.found[rule][0]} names it"
    for places in trace:
        for rule in sorted(places.found.keys() - {*RULES, *NOT_APPLICABLE}):
            yield f"{rule}: there is no such rule, but {places.found[rule][0]} names it"


def shortened(places: list[str], shown: int) -> str:
    rest = len(places) - shown
    return ", ".join(places[:shown]) + (f" +{rest}" if rest > 0 else "")


def table(trace: Trace) -> Iterator[str]:
    """One line a rule: id, where engine/ names it first, section of spec.md, proofs."""
    rows = [("rule", "engine", "spec.md", "vectors and tests")]
    for rule in RULES:
        code = trace.engine.found.get(rule, [])
        proofs = trace.vectors.found.get(rule, []) + trace.tests.found.get(rule, [])
        rows.append(
            (
                rule,
                shortened(code, 1) or f"({'not in engine' if rule in NOT_IN_ENGINE else 'HOLE'})",
                shortened(trace.spec.found.get(rule, []), 1) or "(HOLE)",
                shortened(proofs, 2) or f"({'nothing to prove' if rule in NOTHING_TO_PROVE else 'HOLE'})",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])
    yield ""
    yield from (f"{rule} is not applicable: {reason}." for rule, reason in NOT_APPLICABLE.items())
    yield from (f"{rule} is not in engine/: {reason}." for rule, reason in NOT_IN_ENGINE.items())


def main() -> int:
    trace = read(TOP)
    print("\n".join(table(trace)))
    missing = list(holes(trace))
    if missing:
        print("\n" + "\n".join(missing))
    holes_found = f"{len(missing)} {'hole' if len(missing) == 1 else 'holes'}"
    print(f"\n{len(RULES)} rules, {len(NOT_APPLICABLE)} not applicable, {holes_found}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
