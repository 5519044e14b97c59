"""A bug of ours in a match of `lastcard play`: a sentence, a file to report it with, exit code 3, no traceback."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lastcard.referee.cli.bug_report import report_of
from tests.cli.commands import PATIENCE, Done, environment

# `lastcard` with an engine that fails at its third step.
BROKEN = """
import sys
from lastcard.engine import Match
from lastcard.referee.cli import main
act, steps = Match.act, iter(range(1, 1000))
def acts(match, actions):
    if next(steps) == 3:
        raise ERROR
    return act(match, actions)
Match.act = acts
main()
"""
PLAY = ("play", "greedy", "random", "--rounds", "1", "--seed", "s1")
BUG = r"this is a fault of lastcard, not of a bot: ZeroDivisionError: by nothing \(<string>:8\)"
AGAIN = "to play it again: lastcard play greedy random --rounds 1 --seed s1"


def broken(error: str, *words: str, cwd: Path) -> Done:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN.replace("ERROR", error), *words],
        env=environment(TMPDIR=str(cwd)),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("name", ["match.jsonl", "match.jsonl.gz"])
def test_with_a_log_the_log_is_what_to_report(name: str, tmp_path: Path) -> None:
    """F-124."""
    done = broken("ZeroDivisionError('by nothing')", *PLAY, "--log", name, "--json", cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    told = (
        rf"lastcard: {BUG}; please report it with match\.jsonl, which holds the traceback; the match is void; {AGAIN}"
    )
    assert re.match(told, done.err), done.err
    assert done.err.count("\n") == 1
    assert os.listdir(tmp_path) == ["match.jsonl"]
    last = json.loads((tmp_path / "match.jsonl").read_text().splitlines()[-1])
    assert (last["type"], last["kind"]) == ("fault", "referee")
    assert last["t"]["traceback"].endswith("ZeroDivisionError: by nothing\n")


def test_without_a_log_the_traceback_is_put_into_a_file(tmp_path: Path) -> None:
    """F-124."""
    done = broken("ZeroDivisionError('by nothing')", *PLAY, cwd=tmp_path)
    assert done.code == 3
    found = re.fullmatch(
        rf"lastcard: {BUG}; please report it with (\S+), which holds the traceback; the match is void; {AGAIN}\n",
        done.err,
    )
    assert found, done.err
    file = Path(found[1])
    assert file.parent == tmp_path
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    assert text.startswith("lastcard ")
    assert text.endswith("ZeroDivisionError: by nothing\n")


def test_what_the_machine_refuses_is_called_so(tmp_path: Path) -> None:
    """F-132."""
    done = broken("OSError(24, 'Too many open files')", *PLAY, cwd=tmp_path)
    assert done.code == 3
    assert done.err == (
        f"lastcard: the match is void: the system refused the referee what it needs: Too many open files; {AGAIN}\n"
    )
    assert os.listdir(tmp_path) == []


def test_where_no_file_can_be_made_the_sentence_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: str) -> tuple[int, str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    assert report_of(KeyError("k"), None) == (
        "this is a fault of lastcard, not of a bot: KeyError: 'k'; the match is void"
    )
