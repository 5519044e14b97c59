"""How the tests of the sample bots start them; knows commands and compilers, no rule of the game."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))  # tests.sample_bots.arena and its like belong to no installed package

from tests.sample_bots.talk import BOTS, FOLDER, RANDOM_BOTS, build_c  # noqa: E402  (needs the line above)


@pytest.fixture(scope="session")
def c_bot(require_debian: Callable[[str, str], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """random_bot.c with every check that the compiler can build in: a read out of bounds ends it loudly."""
    return build_c(require_debian("cc", "gcc"), tmp_path_factory.mktemp("c") / "random_bot")


def command_of(name: str, request: pytest.FixtureRequest) -> list[str]:
    """How to run a sample bot; the test is skipped where its runtime or compiler is missing."""
    match Path(name).suffix:
        case ".js":
            return [request.getfixturevalue("require_debian")("node", "nodejs"), str(FOLDER / name)]
        case ".c":
            return [request.getfixturevalue("c_bot")]
        case _:
            return [sys.executable, str(FOLDER / name)]


@pytest.fixture(params=BOTS)
def bot(request: pytest.FixtureRequest) -> list[str]:
    """The command of each sample bot in turn."""
    return command_of(request.param, request)


@pytest.fixture(params=RANDOM_BOTS)
def random_bot(request: pytest.FixtureRequest) -> list[str]:
    """The command of each sample bot that plays by chance."""
    return command_of(request.param, request)
