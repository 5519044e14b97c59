"""`lastcard editions`, `schema` and `vectors`: what the rules and messages are, and whether an engine agrees."""

import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

import click
import msgspec

from lastcard.engine import EDITIONS, OPTIONS, Edition, VectorError, check_vector, edition, load_vectors
from lastcard.protocol import schema as message_schema
from lastcard.referee.cli.bad_usage import BadUsage


@click.command(epilog="\b\nExamples:\n  lastcard editions\n  lastcard editions mario-kart\n")
@click.argument("name", required=False)
def editions(name: str | None) -> None:
    """List the editions, or show one: deck, points, options with their values and meaning."""
    if name is None:
        for each in EDITIONS.values():
            click.echo(f"{each.name:12} {each.title}, {len(each.deck)} cards")
    else:
        click.echo(described(edition(name)))


def described(one: Edition) -> str:
    """An edition in words."""
    counts = Counter(one.deck)
    colored = " ".join(f"{symbol}x{count}" for symbol, count in one.colored.items())
    wilds = " ".join(f"{wild}x{count}" for wild, count in one.wilds.items())
    points = ", ".join(f"{symbol} {worth}" for symbol, worth in one.points.items())
    lines = [
        f"{one.name}: {one.title}",
        f"deck: {counts.total()} cards; in each of R G B Y {colored}; wilds {wilds}",
        f"points: a number its face, {points}",
        "options:",
    ]
    for option_name, option in OPTIONS.items():
        takes = one.options.get(option_name)
        if takes is None and option_name != "rounds":
            continue
        values = one.fixed.get(option_name, getattr(option, "values", None))
        shown = ", ".join(values) if values else f"{getattr(option, 'least', 0)} to {getattr(option, 'most', 0)}"
        rules = f" ({', '.join(option.rules)})" if option.rules else ""
        lines.append(f"  {option_name} = {'-' if takes is None else takes}    [{shown}]")
        lines.append(f"      {option.meaning}{rules}")
    return "\n".join(lines)


@click.command(epilog="\b\nExample:\n  lastcard schema > lastcard.schema.json\n")
def schema() -> None:
    """Print the JSON Schema of every message."""
    click.echo(msgspec.json.format(msgspec.json.encode(message_schema()), indent=2).decode())


@click.command(epilog="\b\nExamples:\n  lastcard vectors\n  lastcard vectors mine.json\n")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE ...]")
def vectors(paths: tuple[Path, ...]) -> None:
    """Run conformance vectors against this engine: those in FILEs, or all that come with it.

    Exit 0 if all hold, 1 if one fails.
    """
    failed = total = 0
    for name, text in texts(paths):
        try:
            found = load_vectors(text, name)
        except VectorError as error:
            raise BadUsage(str(error)) from error
        for vector in found:
            total += 1
            problems = check_vector(vector)
            failed += bool(problems)
            for problem in problems:
                click.echo(problem)
    click.echo(f"{total} vectors: {total - failed} hold, {failed} fail")
    sys.exit(1 if failed else 0)


def texts(paths: tuple[Path, ...]) -> list[tuple[str, str]]:
    """Names and contents of the files."""
    if not paths:
        folder = files("lastcard.vectors")
        own = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
        return [(file.name, file.read_text("utf-8")) for file in own]
    found: list[tuple[str, str]] = []
    for path in paths:
        try:
            found.append((str(path), path.read_text("utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise BadUsage(f"{path}: {error.strerror if isinstance(error, OSError) else 'not UTF-8'}") from error
    return found
