"""The guides in docs/ are true: every command, file and program in them is run, every link leads somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))  # tests.docs.guide belongs to no installed package

from lastcard.referee.doctor.rows import ROWS, Promise, Situation  # noqa: E402  (needs the line above)
from lastcard.referee.net import client_calls, crowd, door, sockets  # noqa: E402  (needs the line above)
from lastcard.referee.net.client_calls import PATIENCE  # noqa: E402  (needs the line above)
from lastcard.referee.sandbox.levels import Level, Sandbox  # noqa: E402  (needs the line above)
from lastcard.referee.tournament.config import load_config  # noqa: E402  (needs the line above)
from tests.conftest import RequireDebian  # noqa: E402  (needs the line above)
from tests.docs.guide import LANGUAGES, Reader, anchors, blocks, links  # noqa: E402  (needs the line above)

DOCS = TOP / "docs"
GUIDES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
REMOTE, SANDBOX = GUIDES["remote-bots.md"], GUIDES["sandbox.md"]
EIGHT_LINES = TOP / "tests" / "net" / "eight_lines.py"


def test_remote_bots(tmp_path: Path, require_debian: RequireDebian) -> None:
    require_debian("openssl", "openssl")
    Reader(tmp_path).follow(blocks(REMOTE))
    assert not [path for path in tmp_path.glob("guide/*/logs/void") if any(path.iterdir())]


def test_sandbox(tmp_path: Path, require_debian: RequireDebian) -> None:
    require_debian("setpriv", "util-linux")
    require_debian("bwrap", "bubblewrap")
    Reader(tmp_path).follow(blocks(SANDBOX))


@pytest.mark.parametrize("name", sorted(set(GUIDES) - {"remote-bots.md", "sandbox.md"}))
def test_a_guide_that_is_not_run_has_nothing_to_run(name: str) -> None:
    assert [block for block in blocks(GUIDES[name]) if block.language != "text"] == []


@pytest.mark.parametrize("name", GUIDES)
def test_every_block_names_a_language(name: str) -> None:
    assert {block.language for block in blocks(GUIDES[name])} <= LANGUAGES


@pytest.mark.parametrize("name", GUIDES)
def test_every_link_leads_somewhere(name: str) -> None:
    for path, anchor in links(GUIDES[name]):
        target = DOCS / path if path else DOCS / name
        assert target.exists(), path
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), (path, anchor)


def test_the_index_names_every_guide() -> None:
    assert set(GUIDES) - {"README.md"} <= {path for path, _ in links(GUIDES["README.md"])}


@pytest.mark.parametrize("name", GUIDES)
def test_every_command_that_is_only_shown_exists(name: str) -> None:
    """What `text` shows of ours is not run; its options are those that the command has."""
    shown = [line for block in blocks(GUIDES[name]) if block.language == "text" for line in block.text.splitlines()]
    for line in shown:
        if line.startswith("lastcard "):
            words = line.partition(" -- ")[0].split()
            program = [sys.executable, "-m", "lastcard.referee", words[1], "--help"]
            said = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout
            assert [word for word in words if word.startswith("--") and word not in said] == []


def test_the_eight_lines_are_those_of_the_tests() -> None:
    (bot,) = [block.text for block in blocks(REMOTE) if block.of == "plain.py"]
    assert bot.strip() == EIGHT_LINES.read_text(encoding="utf-8").strip()


def test_the_matrix_is_that_of_the_doctor() -> None:
    """Every row that is shown is one of the doctor's, with the promises of a machine where the referee is root."""
    (matrix,) = [block.text for block in blocks(SANDBOX) if block.text.startswith("what a bot tries")]
    rows = {row.what: row for row in ROWS}
    shown = re.findall(r"^  (\S.*?)  +(could.*)$", matrix, re.MULTILINE)
    assert len(shown) >= 10
    for what, cells in shown:
        for level, cell in zip(Level, re.findall(r"could(?: not)?(?: \+)?", cells), strict=True):
            promise = rows[what].promise(Situation(level, root=True, shares_uid=False, counted=True))
            assert cell.endswith("+") == (promise is not Promise.NOTHING), (what, level)
            assert promise is Promise.NOTHING or cell == f"{promise} +"


def test_the_limits_of_a_sandbox_are_the_default_ones(tmp_path: Path) -> None:
    (file,) = [block.text for block in blocks(SANDBOX) if block.of == "cup.toml"]
    (tmp_path / "cup.toml").write_text(file, encoding="utf-8")
    assert load_config(tmp_path / "cup.toml").config.sandbox == Sandbox(level=Level.STRICT)


@pytest.mark.parametrize(
    "words",
    [
        f"closed {door.HELLO_LIMIT:g} seconds after the connection",
        f"has {crowd.MOST_OF_ONE} places at the door",
        f"{crowd.MOST} for all strangers together, and {crowd.RESERVED} more for addresses that a bot has come from",
        f"{door.AT_ONCE} connections are looked at, then the matches go on for {door.BREATH * 1000:g} ms",
        f"never silent for more than {sockets.KEEPALIVE_IDLE} seconds",
        f"| `--patience {PATIENCE}` |",
    ],
)
def test_the_figures_are_those_of_the_code(words: str) -> None:
    assert words in REMOTE


def test_how_often_a_client_calls() -> None:
    assert (client_calls.FIRST_PAUSE, client_calls.LONGEST_PAUSE) == (0.1, 10.0)
    assert "after a tenth of a second at first and ten seconds in the end" in REMOTE
