"""A tournament of real processes, small: what is in the ledger is what is in the logs, in whatever order."""

import io
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lastcard.referee.seating import ProcessSeating
from lastcard.referee.tournament import run
from tests.conftest import RequireDebian
from tests.tournament.fakes import WriteConfig

NOTE = re.compile(r'"note":"([^"]*)"')


def digests(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as database:
        return list(database.execute("SELECT log, digest FROM matches ORDER BY block, rotation"))


def test_real_bots_play_the_same_whatever_the_number_of_jobs(write_config: WriteConfig, tmp_path: Path) -> None:
    config = write_config(bots=3, seats=2, blocks=3, rounds=1)
    tables: set[str] = set()
    for jobs in (1, 3):
        folder, output = tmp_path / f"run{jobs}", io.StringIO()
        assert run(config, folder, jobs, plain=True, player=ProcessSeating(), stream=output) == 0
        shown = output.getvalue()[output.getvalue().index("cup: ") :]
        tables.add("\n".join(line for line in shown.split("\n") if not line.startswith("noisy: ")))
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


LABELS = '[[bot]]\nname = "labels"\ncommand = "python3 labels.py"\ncopies = 2\n'
TELLS = """
import json, os, sys
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    if ask["type"] == "ask":
        note = f"{os.environ['LASTCARD_SEAT']} {os.environ['LASTCARD_MATCH']} {os.getpid()}"
        print(json.dumps({"type": "act", "id": ask["id"], "action": ask["legal"][0], "note": note}), flush=True)
"""


def test_seat_and_match_of_the_environment_are_those_of_one_process(write_config: WriteConfig, tmp_path: Path) -> None:
    """An orphan is known by them: no two processes have the same, and they tell nothing of what is played."""
    (tmp_path / "labels.py").write_text(TELLS)
    config = write_config(bots=0, seats=2, blocks=2, rounds=1, extra=LABELS)
    assert run(config, tmp_path / "run", 2, plain=True, player=ProcessSeating(), stream=io.StringIO()) == 0
    notes = {note for log in (tmp_path / "run" / "logs").glob("*") for note in NOTE.findall(log.read_text())}
    seats, matches, pids = zip(*(note.split() for note in notes), strict=True)
    assert set(seats) == {"0", "1"}
    assert all(re.fullmatch("[0-9a-f]{16}", match) for match in matches)
    assert len(set(zip(seats, matches, strict=True))) == len(set(pids)) == len(notes)
    assert len(set(matches)) == len(notes) // 2 > 1, "one for the bots that were started together"


def test_a_sandbox_that_this_bot_cannot_have_is_said_before_anything_starts(
    write_config: WriteConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str], require_debian: RequireDebian
) -> None:
    require_debian("bwrap", "bubblewrap")
    config = write_config(bots=2, extra='sandbox = "strict"\nread = ["gone"]\n')
    assert run(config, tmp_path / "run", 1, plain=True, player=ProcessSeating()) == 2
    assert capsys.readouterr().err.startswith("lastcard: cup.toml: [[bot]] bot1: ")
    assert not (tmp_path / "run").exists()


def test_a_bot_that_is_not_there_is_said_before_anything_starts(write_config: WriteConfig, tmp_path: Path) -> None:
    config = write_config(extra='[[bot]]\nname = "gone"\ncommand = "./gone"\n')
    assert run(config, tmp_path / "run", 1, plain=True, player=ProcessSeating()) == 2
    assert not (tmp_path / "run").exists()
