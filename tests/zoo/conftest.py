"""What the tests of the zoo share: the visits of one level, made together when the first of them is asked for."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))  # tests.zoo.animals belongs to no installed package

from lastcard.referee.sandbox.levels import Level  # noqa: E402  (needs the line above)
from lastcard.referee.sandbox.machine import missing  # noqa: E402  (needs the line above)
from tests.conftest import RequireDebian  # noqa: E402  (needs the line above)
from tests.zoo.animals import FROZEN  # noqa: E402  (needs the line above)
from tests.zoo.visits import Rest, Visit  # noqa: E402  (needs the line above)

PATIENCE = 600

Visits = tuple[dict[str, Visit], Rest]
VisitsAt = Callable[[str], Visits]


@pytest.fixture(scope="session")
def visits_at(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, require_debian: RequireDebian
) -> VisitsAt:
    """`visits_at(level)`: what was seen of each faulty bot that is to be tested at this level, and what was left."""
    chosen: dict[str, list[str]] = {}
    for item in request.session.items:
        case = getattr(item, "callspec", None)
        if case is not None and {"level", "animal"} <= case.params.keys():
            chosen.setdefault(case.params["level"], []).append(case.params["animal"].file)

    @cache
    def made(level: str) -> Visits:
        can_confine(level, require_debian)
        if level not in chosen:
            pytest.skip("no faulty bot is to be tested at this level")
        folder = tmp_path_factory.mktemp(f"zoo-{level}")
        command = [sys.executable, "-m", "tests.zoo.visits", level, str(folder), *chosen[level]]
        environment = {**os.environ, "TMPDIR": str(folder)}
        done = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        *visits, rest = map(json.loads, done.stdout.splitlines())
        return {one["file"]: msgspec.convert(one, Visit) for one in visits}, msgspec.convert(rest, Rest)

    return made


def can_confine(level: str, require_debian: RequireDebian) -> None:
    """Skips where the machine cannot give this level; in continuous integration that is a failure."""
    if level == FROZEN:
        return
    if level != "none":
        require_debian("setpriv", "util-linux")
        require_debian("prlimit", "util-linux")
    if level == "strict":
        require_debian("bwrap", "bubblewrap")
    why = missing(Level(level))
    if why and os.environ.get("LASTCARD_CI") == "1":
        pytest.fail(why)
    if why:
        pytest.skip(why)
