"""Runs a command line of a sandbox for real with a harmless end, to see whether it works; it knows no bot."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lastcard.referee.sandbox.chain import PLAIN, program

LIMIT = 30.0
"""Seconds; a machine that is so slow cannot play either."""

MISSED = 9
LOOK = (
    'for w; do case $w in x*) test -x "${w#x}" ;; *) test -r "${w#r}" ;; esac '
    f'|| {{ printf %s "${{w#?}}" >&2; exit {MISSED}; }}; done'
)


class Outcome(NamedTuple):
    """What became of a trial."""

    worked: bool
    missed: Path | None
    """The path that was not there or not allowed."""
    complaint: str
    """Else the first line of what went wrong."""


def look_words(runs: Sequence[Path], reads: Sequence[Path], enters: Sequence[Path] = ()) -> tuple[str, ...]:
    """A command that looks whether it could run, read and enter these."""
    words = [*(f"x{path}" for path in (*runs, *enters)), *(f"r{path}" for path in reads)]
    return (program("sh"), "-c", LOOK, "sh", *words)


def try_out(words: Sequence[str], fds: Sequence[int] = ()) -> Outcome:
    """Run it and wait for its end."""
    try:
        done = subprocess.run(
            words, env=PLAIN, cwd="/", pass_fds=fds, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT,
            check=False, start_new_session=True,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return Outcome(False, None, str(error))
    said = os.fsdecode(done.stderr)
    if done.returncode == MISSED:
        return Outcome(False, Path(said), "")
    first = next(iter(said.splitlines()), f"exit status {done.returncode}")
    return Outcome(done.returncode == 0, None, "" if done.returncode == 0 else first)
