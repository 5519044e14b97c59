"""The command line: `lastcard`, also `python -m lastcard.referee`. Parsing and printing only.

Exit codes: 0 done, 1 what was checked failed, 2 bad usage or configuration, 3 stopped in a state that resumes.
"""

import os
import signal
import sys


def main() -> None:
    """Runs the command line and exits. Whenever a Ctrl-C comes, there is no traceback."""
    code: str | int | None = 3
    try:
        open_standard_streams()
        # Not imported above: a Ctrl-C during the imports has to end here.
        from lastcard.referee.cli.main import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("lastcard: stopped\n")
    except SystemExit as end:
        code = end.code
    # What is left is short and has to be done: the last look for processes of bots.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def open_standard_streams() -> None:
    """Where one of the three was closed, the next file opened would take its number, and a bot would get it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


__all__ = ["main"]
