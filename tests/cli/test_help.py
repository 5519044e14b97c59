"""Help and version: an example everywhere, the same words everywhere, and there at once."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lastcard.referee.cli.main import COMMANDS, commands
from tests.cli.commands import environment, lastcard

GROUPS = {"tournament": ("run", "status")}
PATHS = [(), *((name,) for name in COMMANDS), *((group, name) for group in GROUPS for name in GROUPS[group])]


def command_at(path: tuple[str, ...]) -> click.Command:
    found: click.Command = commands
    for name in path:
        assert isinstance(found, click.Group)
        below = found.get_command(click.Context(found), name)
        assert below is not None
        found = below
    return found


def examples(text: str) -> Iterator[list[str]]:
    """The command lines in a help's examples."""
    lines = text[text.index("Example") :].splitlines()[1:]
    yield from (shlex.split(line.partition(" > ")[0]) for line in lines if line.strip())


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_command_helps_with_an_example_that_parses(path: tuple[str, ...]) -> None:
    done = lastcard(*path, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: {' '.join(['lastcard', *path])} ")
    assert done.out == lastcard(*path, "-h").out
    found = list(examples(done.out))
    assert found
    for words in found:
        assert words[: 1 + len(path)] == ["lastcard", *path]
        below = command_at(tuple(words[1 : 1 + len(path) or 2]))
        if not isinstance(below, click.Group):
            below.make_context(words[1], words[1 + len(path) :])


def test_options_of_the_same_name_take_the_same_thing() -> None:
    taken: dict[str, tuple[str | None, bool]] = {}
    for path in PATHS:
        for option in command_at(path).params:
            for name in option.opts if isinstance(option, click.Option) else ():
                seen = (option.metavar, option.is_flag if isinstance(option, click.Option) else False)
                assert taken.setdefault(name, seen) == seen, f"{name} of {path}"
    assert "--dir" in taken


def test_every_name_in_the_list_is_its_command() -> None:
    listed = lastcard("--help").out
    for name in COMMANDS:
        assert command_at((name,)).name == name
        assert f"\n  {name} " in listed


def test_version() -> None:
    done = lastcard("--version")
    assert (done.code, done.err) == (0, "")
    name, version = done.out.split()
    assert name == "lastcard"
    assert version[0].isdigit()


def test_help_loads_neither_rules_nor_trio() -> None:
    script = """if True:
        import sys
        from lastcard.referee.cli.main import run
        run(["--help"])
        heavy = {"trio", "rich", "sqlite3", "msgspec", "lastcard.engine", "importlib.metadata"} & set(sys.modules)
        sys.exit(f"loaded: {sorted(heavy)}" if heavy else 0)
    """
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_script_and_the_module_are_the_same() -> None:
    script = Path(sys.executable).with_name("lastcard")
    if not script.exists():
        pytest.fail("lastcard is not installed beside this Python: make venv")
    done = subprocess.run([script, "--help"], env=environment(), capture_output=True, text=True, check=False)
    assert done.stdout == lastcard("--help").out


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_closed_standard_stream_is_no_trouble(number: int) -> None:
    line = f"exec {shlex.join([sys.executable, '-m', 'lastcard.referee'])} play greedy random --rounds 1 {number}>&-"
    done = subprocess.run(["sh", "-c", line], env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("the match is over" in done.stdout) == (number != 1)
