"""What the tests of the command line share; it knows no command."""

import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))  # tests.cli.commands belongs to no installed package

from tests.cli.commands import Done, lastcard  # noqa: E402  (needs the line above)


@pytest.fixture(scope="session")
def a_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole log of a match of one round between greedy and random."""
    path = tmp_path_factory.mktemp("log") / "match.jsonl"
    done: Done = lastcard("play", "greedy", "random", "--seed", "a-log", "--rounds", "1", "--log", str(path))
    assert done.code == 0, done.err
    return path
