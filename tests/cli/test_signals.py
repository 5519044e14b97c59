"""Ctrl-C and its like at any moment: no traceback, exit code 3, the command to play it again, nothing left behind."""

import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.commands import HANG, PATIENCE, bot, environment, lastcard, start

SLOW = ("play", "greedy", "random", "--rounds", "3", "--pace", "20ms")


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has buried yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.parametrize(
    ("number", "after"), [(signal.SIGINT, 1), (signal.SIGINT, 9), (signal.SIGTERM, 4), (signal.SIGHUP, 4)]
)
def test_a_match_that_is_stopped_can_be_played_again(number: signal.Signals, after: int) -> None:
    """F-126."""
    with start(*SLOW) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = [process.stdout.readline() for _ in range(after)]
        process.send_signal(number)
        sent = time.monotonic()
        seen += process.stdout.readlines()
        err = process.stderr.read()
    assert process.returncode == 3
    assert time.monotonic() - sent < 10
    seed = seen[0].rpartition("(seed ")[2].rstrip(")\n")
    again = f"lastcard play --seed {seed} greedy random --rounds 3 --pace 20ms"
    assert err == f"lastcard: stopped by {number.name}; to play it again: {again}\n"
    words = shlex.split(again.removesuffix(" --pace 20ms"))[1:]
    assert lastcard(*words).out.startswith("".join(seen))


def test_no_bot_is_left_behind_however_often_it_is_asked_to_stop(tmp_path: Path) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); open('pid', 'w').write(str(os.getpid())); " + HANG
    pid = tmp_path / "pid"
    words = ("play", bot(tmp_path, "deaf", deaf), "greedy", "--no-limits", "--seed", "s1", "--json")
    with start(*words) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
    assert (process.returncode, out) == (3, "")
    assert err == f"lastcard: stopped by SIGINT; to play it again: {shlex.join(['lastcard', *words])}\n"
    assert is_gone(int(pid.read_text()))


# Sends SIGINT to itself at the moment when a module is about to be imported.
INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from lastcard.referee.cli import main
moment, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = "lastcard"
sys.meta_path[0].find_spec.__func__.__defaults__
main()
"""


@pytest.mark.parametrize(
    "moment", ["click", "lastcard.referee.cli.main", "lastcard.referee.cli.play", "trio", "lastcard.engine.match"]
)
def test_a_ctrl_c_while_it_starts_is_no_traceback(moment: str) -> None:
    script = INTERRUPTED.replace("sys.argv[1]:", f"{moment!r}:").replace(
        "sys.meta_path[0].find_spec.__func__.__defaults__\n", ""
    )
    done = subprocess.run(
        [sys.executable, "-c", script, moment, "play", "greedy", "random", "--rounds", "1"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.strip() == "lastcard: stopped"


def test_a_reader_who_leaves_a_match_ends_it() -> None:
    """F-127."""
    with start(*SLOW) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_a_match_with_a_log_is_played_to_its_end_without_a_reader(tmp_path: Path) -> None:
    """F-127."""
    log = tmp_path / "match.jsonl"
    with start("play", "greedy", "random", "--rounds", "1", "--pace", "1ms", "--log", str(log)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0
    assert lastcard("replay", "--verify", str(log)).code == 0


def test_output_that_cannot_be_written_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "lastcard.referee", "editions"],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "lastcard: the output cannot be written: No space left on device\n"
