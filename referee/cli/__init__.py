"""The command line: `lastcard`, also `python -m lastcard.referee`. Parsing and printing only.

Exit codes: 0 done, 1 what was checked failed, 2 bad usage or configuration, 3 stopped in a state that resumes.
"""

# Nothing that is not loaded anyway: a Ctrl-C during an import up here would show Python's traceback. Before that,
# while Python itself starts, it still does.
import os
import sys


def main() -> None:
    """Runs the command line and exits. Whenever a Ctrl-C comes, there is no traceback."""
    code: str | int | None = 3
    try:
        from lastcard.referee.cli import interrupts

        interrupts.while_importing()
        code = run()
        interrupts.when_done()
    except KeyboardInterrupt:
        sys.stderr.write("lastcard: stopped\n")
        from lastcard.referee.cli import interrupts

        interrupts.when_done()
        # An interrupt inside an `eval`, as there is one in every namedtuple, is remembered by Python, which would
        # then end us by SIGINT whatever our exit code; the next text that is executed makes it forget.
        exec("")
    sys.exit(code)


def run() -> str | int | None:
    """The exit code of the command line."""
    try:
        open_standard_streams()
        from lastcard.referee.cli.main import run as run_words

        return run_words(sys.argv[1:])
    except SystemExit as end:
        return end.code


def open_standard_streams() -> None:
    """Where one of the three was closed, the next file opened would take its number, and a bot would get it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


__all__ = ["main"]
