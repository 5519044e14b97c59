"""A run in a process of its own, for tests that kill it: `child.py CONFIG FOLDER JOBS SECONDS`.

Bots and results are made up; a match takes so many real seconds.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lastcard.referee.tournament import run
from tests.tournament.fakes import FakePlayer


def main() -> int:
    config, folder, jobs, seconds = sys.argv[1:]
    return run(Path(config), Path(folder), int(jobs), plain=True, player=FakePlayer(seconds=float(seconds)))


if __name__ == "__main__":
    sys.exit(main())
