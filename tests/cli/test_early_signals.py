"""Ctrl-C in the first moments of a command: never a traceback, whatever is being imported just then."""

import random
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.commands import PATIENCE, environment

# Says when Python itself is up, and then is `lastcard`.
BEGUN = "from lastcard.referee.cli import main; import os; os.write(1, b'x'); main()"
WORDS = [("editions",), ("--help",), ("schema",), ("play", "greedy", "random", "--rounds", "1", "--seed", "s1")]
LONGEST = 0.3
"""Seconds that the imports take at the most, on a machine that is not busy."""


def interrupted(seed: int) -> tuple[int, str]:
    """How a command that is interrupted in a moment drawn from this seed ends, and what it complains of."""
    chance = random.Random(seed)
    process = subprocess.Popen(
        [sys.executable, "-c", BEGUN, *chance.choice(WORDS)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.read(1) == "x"
        time.sleep(chance.random() * LONGEST)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


def check(seed: int) -> int:
    code, err = interrupted(seed)
    assert "Traceback" not in err, (seed, err)
    assert code in (0, 3), (seed, code, err)
    assert err.strip() == "" if code == 0 else err.strip().startswith("lastcard: stopped"), (seed, code, err)
    return code


@pytest.mark.parametrize("block", range(2))
def test_an_early_ctrl_c_is_no_traceback(block: int) -> None:
    """F-126."""
    codes = [check(seed) for seed in range(10 * block, 10 * block + 10)]
    assert 3 in codes, "no signal came early enough: this test proved nothing"


@pytest.mark.soak
@pytest.mark.parametrize("block", range(10))
def test_many_early_ctrl_cs_are_no_traceback(block: int) -> None:
    for seed in range(1000 + 20 * block, 1000 + 20 * block + 20):
        check(seed)


# Sends itself the signal at its event number K: an import, a file opened, code compiled or executed.
AT_EVENT = """
import os, signal, sys
from lastcard.referee.cli import main
events = iter(range(1, 10**9))
def seen(*_):
    if next(events) == %d:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(seen)
main()
"""


@pytest.mark.parametrize("event", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610])
def test_a_ctrl_c_at_any_step_of_the_start_is_no_traceback(event: int) -> None:
    """The same moments in every run."""
    done = subprocess.run(
        [sys.executable, "-c", AT_EVENT % event, "editions"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (3, "lastcard: stopped")
