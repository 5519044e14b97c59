"""What the faulty bots say about themselves, `zoo.json`, README and `spec.md` agree; no user meets one by chance."""

import re
import stat
from collections.abc import Iterator

import pytest

from lastcard.referee.bot_command import parse_bot, sample_bots
from tests.zoo.animals import ANIMALS, BY_FILE, FOLDER, TEST_ID, TOP, Animal, as_told

ROW = re.compile(r"^\| `(\w+\.\w+)` \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
SPEC_ROW = re.compile(r"^\| (F-\d{2,3}) \|", re.MULTILINE)
PARTS = ("Imitates: ", "Faults: ", "Referee: ")


def spec_rows() -> set[str]:
    return set(SPEC_ROW.findall((TOP / "spec.md").read_text(encoding="utf-8")))


def faults_in_words(animal: Animal) -> str:
    """As README has them."""
    matches = [" ".join(f"`{kind}`" for kind in kinds) or "none" for kinds in animal.faults]
    return "; then ".join(matches) + (", forfeit" if animal.forfeits else "")


def readme_rows() -> Iterator[tuple[str, ...]]:
    for animal in ANIMALS:
        first = animal.text.strip().splitlines()[0]
        yield animal.file, first, faults_in_words(animal), ", ".join(animal.tests) or "-"


def test_every_bot_has_a_row_and_every_row_a_bot() -> None:
    programs = {path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".sh")}
    assert programs == set(BY_FILE)
    assert len(ANIMALS) == len(BY_FILE)


def test_readme_tells_what_the_bots_and_the_table_tell() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert ROW.findall(readme) == list(readme_rows())


@pytest.mark.parametrize("animal", ANIMALS, ids=lambda animal: animal.name)
def test_a_bot_says_what_it_does(animal: Animal) -> None:
    title, _, rest = animal.text.strip().partition("\n\n")
    assert title.endswith(".")
    paragraphs = rest.splitlines()
    assert [line[: line.index(": ") + 2] for line in paragraphs] == list(PARTS)
    faults = paragraphs[1].removeprefix("Faults: ")
    assert tuple(TEST_ID.findall(faults)) == animal.tests
    assert faults.startswith("none") is not any(animal.faults)
    assert set(animal.tests) <= spec_rows()


def test_every_row_of_the_fault_table_is_tried_by_a_bot_or_by_another_test() -> None:
    tried = {test for animal in ANIMALS for test in animal.tests}
    others = [path for path in TOP.glob("tests/*/test_*.py") if path.parent.name != "zoo"]
    named = {test for path in others for test in TEST_ID.findall(path.read_text(encoding="utf-8"))}
    assert spec_rows() - tried - named == set()


def test_no_faulty_bot_is_had_by_a_bare_word() -> None:
    files = set(sample_bots().values())
    assert files
    assert not any(FOLDER in file.parents for file in files)


@pytest.mark.parametrize("animal", ANIMALS, ids=lambda animal: animal.name)
def test_a_faulty_bot_is_had_by_its_path(animal: Animal) -> None:
    path = FOLDER / animal.file
    assert str(path) in parse_bot(str(path)).argv
    # A wheel keeps no permissions: none may be needed.
    assert not stat.S_IMODE(path.stat().st_mode) & 0o111


@pytest.mark.parametrize(
    ("kinds", "told", "same"),
    [
        ("", "", True),
        ("", "crash", False),
        ("crash", "", False),
        ("crash", "crash", True),
        ("crash crash", "crash", False),
        ("stale stale flood", "stale*2 flood", True),
        ("stale flood", "stale*2 flood", False),
        ("stall", "timeout* stall", True),
        ("timeout timeout stall", "timeout* stall", True),
        ("timeout crash", "timeout* stall", False),
    ],
)
def test_kinds_and_what_the_table_tells(kinds: str, told: str, same: bool) -> None:
    assert as_told(kinds.split(), told.split()) is same
