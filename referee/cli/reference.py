"""`lastcard editions`, `schema` and `vectors`: what the rules and messages are, and whether an engine agrees."""

import re
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import click
import msgspec

from lastcard.engine import EDITIONS, check_vector, edition, load_vectors
from lastcard.protocol import schema as message_schema
from lastcard.referee.cli.bad_usage import BadUsage, complain
from lastcard.referee.cli.edition_words import compared, described, listed
from lastcard.referee.cli.terminal import say, say_if_read, say_lines
from lastcard.referee.cli.values import text_of
from lastcard.referee.exit_codes import BAD_USAGE, DONE, FAILED

WHAT = "a JSON file of vectors"
MALFORMED = re.compile(r"((step \d+|then): )?malformed: |setup: ")
"""What `check_vector` says of a vector that is not in the format, or begins in a position that cannot be."""


EPILOG = """\b
Examples:
  lastcard editions
  lastcard editions attack
  lastcard editions --compare attack classic
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--compare", nargs=2, metavar="A B", help="Show where two editions differ.")
def editions(name: str | None, compare: tuple[str, str] | None) -> None:
    """List the editions, or show one: deck, points, effects, options with their values and meaning."""
    if compare is not None:
        if name is not None:
            raise BadUsage(f"--compare takes the names of two editions, expected no other name, got {name!r}")
        say_lines(compared(*map(edition, compare)))
    elif name is not None:
        say_lines(described(edition(name)))
    else:
        for line in listed(EDITIONS):
            say(line)


@click.command(epilog="\b\nExample:\n  lastcard schema > lastcard.schema.json\n")
def schema() -> None:
    """Print the JSON Schema of every message."""
    say_lines(msgspec.json.format(msgspec.json.encode(message_schema()), indent=2).decode())


@click.command(epilog="\b\nExamples:\n  lastcard vectors\n  lastcard vectors mine.json\n")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE ...]")
def vectors(paths: tuple[Path, ...]) -> None:
    """Run conformance vectors against this engine: those in FILEs, or all that come with it.

    Exit code 0 if all hold, 1 if one fails, 2 if one is not in the format or cannot be set up.
    """
    found = [(name, vector) for name, text in texts(paths) for vector in vectors_in(name, text)]
    failed = malformed = 0
    for name, vector in found:
        problems = check_vector(vector)
        bad = any(is_malformed(vector, problem) for problem in problems)
        malformed += bad
        failed += bool(problems) and not bad
        for problem in problems:
            if bad:
                complain(f"{name}: {problem}")
            else:
                say_if_read(f"{name}: {problem}")
    more = f", {malformed} malformed" if malformed else ""
    say_if_read(f"{len(found)} vectors: {len(found) - failed - malformed} hold, {failed} fail{more}")
    sys.exit(BAD_USAGE if malformed else FAILED if failed else DONE)


def vectors_in(name: str, text: str) -> list[Mapping[str, object]]:
    """The vectors of one file. None at all prove nothing, and are no success."""
    found = load_vectors(text, name)
    if not found:
        raise BadUsage(f"{name}: holds no vector, expected {WHAT}")
    return found


def is_malformed(vector: Mapping[str, object], problem: str) -> bool:
    """Whether the vector says something that cannot be meant, so that nothing was checked."""
    return MALFORMED.match(problem.removeprefix(f"{vector.get('id', 'a vector without id')}: ")) is not None


def texts(paths: tuple[Path, ...]) -> list[tuple[str, str]]:
    """Names and contents of the files."""
    if paths:
        return [(str(path), text_of(path, WHAT)) for path in paths]
    folder = files("lastcard.vectors")
    own = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    return [(file.name, file.read_text("utf-8")) for file in own]
