"""A tournament of real processes, small: what is in the ledger is what is in the logs, in whatever order."""

import io
import sqlite3
from contextlib import closing
from pathlib import Path

from lastcard.referee.seating import ProcessSeating
from lastcard.referee.tournament import run
from tests.tournament.fakes import WriteConfig


def digests(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as database:
        return list(database.execute("SELECT log, digest FROM matches ORDER BY block, rotation"))


def test_real_bots_play_the_same_whatever_the_number_of_jobs(write_config: WriteConfig, tmp_path: Path) -> None:
    config = write_config(bots=3, seats=2, blocks=3, rounds=1)
    tables: set[str] = set()
    for jobs in (1, 3):
        folder, output = tmp_path / f"run{jobs}", io.StringIO()
        assert run(config, folder, jobs, plain=True, player=ProcessSeating(), stream=output) == 0
        tables.add(output.getvalue()[output.getvalue().index("cup: ") :])
        for log, digest in digests(folder):
            assert f'"digest":"{digest}"' in (folder / log).read_text().splitlines()[-1]
    assert len(tables) == 1
    assert digests(tmp_path / "run1") == digests(tmp_path / "run3")


def test_a_bot_that_never_starts_is_suspended_and_the_run_comes_to_its_end(
    write_config: WriteConfig, tmp_path: Path
) -> None:
    dead = '[[bot]]\nname = "dead"\ncommand = "python3 -c 0"\n'
    output = io.StringIO()
    config = write_config(bots=1, seats=2, blocks=4, rounds=1, extra=dead)
    assert run(config, tmp_path / "run", 1, plain=True, player=ProcessSeating(), stream=output) == 0
    assert "dead is suspended: 3 failed starts in a row" in output.getvalue()
    line = next(line for line in output.getvalue().splitlines() if " dead " in line and "n/a" in line)
    assert line.split() == ["2", "dead", "8", "0", "n/a", "n/a", "0.000", "[n/a]", "8", "startup", "3"]


def test_a_bot_that_is_not_there_is_said_before_anything_starts(write_config: WriteConfig, tmp_path: Path) -> None:
    config = write_config(extra='[[bot]]\nname = "gone"\ncommand = "./gone"\n')
    assert run(config, tmp_path / "run", 1, plain=True, player=ProcessSeating()) == 2
    assert not (tmp_path / "run").exists()
