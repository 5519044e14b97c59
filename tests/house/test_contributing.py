"""CONTRIBUTING.md's worked example, followed in a copy of the folders. Knows what it adds and no more."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

TOP = Path(__file__).resolve().parents[2]
ROOMS = ("engine", "protocol", "referee", "sample_bots", "vectors")
EXAMPLE = (
    (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("### A worked example")[2].partition("\n## ")[0]
)
SNIPPET = re.compile(r"^```(diff|json) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EFFECT = 'EFFECTS["rain"] = EFFECTS["rain"]._replace(run=lambda state: None)\n'

# Random matches at small, usual and full tables: they end, and no card is lost.
PLAY = """
from random import Random
from lastcard.engine import Match, Rules
rained = 0
for seats in (2, 3, 10):
    for seed in range(20):
        match, dice = Match(Rules.of("classic-rain", {"rain": "storm", "rounds": 1}), seats, str(seed)), Random(seed)
        while not match.over:
            if match.decision is None:
                events = match.deal()
            else:
                events = match.act({seat: dice.choice(match.legal(seat)) for seat in match.decision.seats})
            match.check_cards()
            rained += sum(event["type"] == "draw" and event["why"] == "rain" for event in events)
print(rained)
"""


class Change(NamedTuple):
    """A change of one file: the lines that are there, and those that are to be."""

    file: str
    old: str
    new: str


def changes() -> list[Change]:
    """The changes of the worked example, in its order."""
    found: list[Change] = []
    for kind, file, text in SNIPPET.findall(EXAMPLE):
        if kind == "diff":
            lines = text.splitlines(keepends=True)
            assert {line[0] for line in lines} <= set(" +-\n"), file
            kept = [line[1:] if line != "\n" else line for line in lines if line[0] in " -\n"]
            added = [line[1:] if line != "\n" else line for line in lines if line[0] in " +\n"]
            found.append(Change(file, "".join(kept), "".join(added)))
    return found


def new_files() -> dict[str, str]:
    """The files that it adds."""
    return {file: text for kind, file, text in SNIPPET.findall(EXAMPLE) if kind == "json"}


def copy_rooms(folder: Path) -> Path:
    """The rooms under their import name, as an ordinary package that goes before the installed one."""
    package = folder / "lastcard"
    for room in ROOMS:
        shutil.copytree(TOP / room, package / room, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").touch()
    return package


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rooms in which the worked example was followed."""
    folder = tmp_path_factory.mktemp("rain")
    package = copy_rooms(folder)
    for file, old, new in changes():
        text = (package / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} does not hold this once:\n{old}"
        (package / file).write_text(text.replace(old, new), encoding="utf-8")
    for file, text in new_files().items():
        (package / file).write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Python in a process that finds the folder's package before the installed one."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        (sys.executable, *words), cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def lastcard(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return run(folder, "-m", "lastcard.referee", *words)


def test_the_example_adds_a_card_an_option_an_effect_and_an_edition() -> None:
    files = {f"engine/{name}.py" for name in ("cards", "options", "effects", "editions")}
    assert files <= {change.file for change in changes()}
    assert [json.loads(text) for text in new_files().values()]


def test_its_vectors_hold_and_so_do_all_others(changed: Path) -> None:
    own = lastcard(changed, "vectors", *(str(changed / "lastcard" / file) for file in new_files()))
    assert (own.returncode, own.stderr) == (0, "")
    assert own.stdout == "2 vectors: 2 hold, 0 fail\n"
    everything = lastcard(changed, "vectors")
    assert (everything.returncode, everything.stderr) == (0, "")


def test_without_the_change_and_without_the_effect_they_fail(changed: Path, tmp_path: Path) -> None:
    for file, text in new_files().items():
        (tmp_path / Path(file).name).write_text(text, encoding="utf-8")
        before = lastcard(tmp_path, "vectors", str(tmp_path / Path(file).name))
        assert before.returncode == 2
        assert "there is no edition 'classic-rain'" in before.stderr
    shutil.copytree(changed / "lastcard", tmp_path / "lastcard")
    effects = tmp_path / "lastcard" / "engine" / "effects.py"
    effects.write_text(effects.read_text(encoding="utf-8") + EFFECT, encoding="utf-8")
    idle = lastcard(tmp_path, "vectors", *(str(tmp_path / "lastcard" / file) for file in new_files()))
    assert idle.stdout.endswith("2 vectors: 0 hold, 2 fail\n")


def test_its_edition_is_played(changed: Path) -> None:
    played = run(changed, "-c", PLAY)
    assert (played.returncode, played.stderr) == (0, "")
    assert int(played.stdout) > 100


def test_its_commands_do_what_they_say(changed: Path) -> None:
    (block,) = re.findall(r"^```sh\n(.*?)^```$", EXAMPLE, re.MULTILINE | re.DOTALL)
    shown: dict[str, str] = {}
    for line in block.splitlines():
        _, *words = line.split()
        done = lastcard(changed, *(word.replace("vectors/", "lastcard/vectors/") for word in words))
        assert (done.returncode, done.stderr) == (0, ""), line
        shown[words[0]] = " ".join(done.stdout.split())
    assert "N Rain, of each color - 1" in shown["editions"]
    assert "option rain - drizzle" in shown["editions"]
    assert shown["play"].startswith("UNO with Rain: greedy, random")


def test_its_code_is_in_the_house_style(changed: Path) -> None:
    for check in (("check", "--quiet"), ("format", "--check", "--quiet")):
        files = {str(changed / "lastcard" / change.file) for change in changes()}
        done = run(changed, "-m", "ruff", *check, "--no-cache", "--config", str(TOP / "pyproject.toml"), *sorted(files))
        assert (done.returncode, done.stdout) == (0, "")
