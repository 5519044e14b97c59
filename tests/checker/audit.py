"""Audits logs of matches from the cards alone: `python tests/checker/audit.py LOG...`; imports nothing of lastcard.

One line a log: that it is right, the first line that is wrong and what was expected there, or that it is cut off and
right so far. Exit code 0: all are right, 1: one is wrong, 2: one cannot be read, 3: one is cut off.
"""

import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, tests.* has to be found

from tests.checker.course import audit
from tests.checker.lines import CutOff, Wrong, read_file


def report(path: Path) -> int:
    """Says how one log fared; returns the exit code for it."""
    try:
        text = read_file(path)
    except (OSError, EOFError, zlib.error) as error:
        print(f"{path}: cannot be read: {error}", file=sys.stderr)
        return 2
    try:
        audit(text)
    except Wrong as wrong:
        print(f"{path}: {wrong}")
        return 1
    except CutOff:
        print(f"{path}: is cut off, and right so far")
        return 3
    print(f"{path}: right")
    return 0


def main(paths: list[str]) -> int:
    """Audits the logs of the command line."""
    if not paths:
        print("usage: audit.py LOG...", file=sys.stderr)
        return 2
    codes = [report(Path(path)) for path in paths]
    return next((code for code in (2, 1, 3) if code in codes), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
