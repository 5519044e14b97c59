"""`lastcard tournament`: run, resume, plan and status, with real bots; exit codes and what is printed."""

import os
import shlex
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lastcard.referee.noise import cores
from tests.cli.commands import Done, environment, lastcard, start

CUP = """\
[tournament]
name = "cup"
edition = "mario-kart"
seats = 2
blocks = {blocks}
rounds = 1
seed = "s1"

[[bot]]
name = "one"
command = "greedy"

[[bot]]
name = "two"
command = "random"
"""


def cup(folder: Path, blocks: int = 2, text: str = CUP) -> Path:
    path = folder / "cup.toml"
    path.write_text(text.format(blocks=blocks))
    return path


def table_of(done: Done) -> str:
    """All from the heading on, but for how busy this machine was."""
    lines = done.out[done.out.index("cup: ") :].splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("noisy: "))


def test_a_tournament_is_played_and_shown_and_its_logs_are_right(tmp_path: Path) -> None:
    cup(tmp_path)
    done = lastcard("tournament", "run", "cup.toml", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("4 matches\n")
    assert "\x1b" not in done.out
    assert "\r" not in done.out
    status = lastcard("tournament", "status", "cup", cwd=tmp_path)
    assert (status.code, status.err) == (0, "")
    assert table_of(status) == table_of(done).replace("\n", "\n4 of 4 matches played\n", 1)
    logs = [str(log) for log in (tmp_path / "cup" / "logs").iterdir()]
    proof = lastcard("replay", "--verify", *logs)
    assert (proof.code, proof.out.splitlines()[-1]) == (0, "4 logs: 4 right")
    again = lastcard("tournament", "run", "cup.toml", "--jobs", "1", "--plain", cwd=tmp_path)
    assert (again.code, table_of(again)) == (0, table_of(done))


def test_no_color_where_there_is_no_terminal(tmp_path: Path) -> None:
    loud = environment(FORCE_COLOR="1", CLICOLOR_FORCE="1", TTY_COMPATIBLE="1")
    done = lastcard("tournament", "run", str(cup(tmp_path)), "--dir", str(tmp_path / "run"), env=loud)
    assert done.code == 0
    assert "\x1b" not in done.out + done.err


def test_a_run_that_was_stopped_goes_on_with_the_command_that_it_prints(tmp_path: Path) -> None:
    file = cup(tmp_path, blocks=60)
    with start("tournament", "run", str(file), "--dir", "a", "--jobs", "2", cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "120 matches\n"
        while not any((tmp_path / "a" / "logs").glob("*")):
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
    assert (process.returncode, err) == (3, "")
    resume = out.splitlines()[-1]
    assert resume == f"lastcard tournament run {file} --dir a --jobs 2"
    told = lastcard("tournament", "status", "a", cwd=tmp_path)
    assert told.code == 0
    assert "to go on: lastcard tournament run a/tournament.toml --dir a" in told.out
    resumed = lastcard(*shlex.split(resume)[1:], cwd=tmp_path)
    whole = lastcard("tournament", "run", str(file), "--dir", "b", cwd=tmp_path)
    assert (resumed.code, whole.code) == (0, 0)
    assert "of them played before" in resumed.out
    assert table_of(resumed) == table_of(whole)


def test_the_plan_is_shown_and_nothing_is_touched(tmp_path: Path) -> None:
    file = cup(tmp_path)
    done = lastcard("tournament", "run", str(file), "--dry-run", "--jobs", "1", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:3] == [
        "cup: mario-kart, 2 bots, 2 seats, 2 blocks of 2 matches",
        "4 matches, 1 at a time",
        "folder: cup, nothing played yet",
    ]
    assert "  one       4 matches  greedy" in lines
    assert any(line.startswith("limits: move_ms 1000, bank_ms 10000, start_ms 30000, strikes 3") for line in lines)
    assert "sandbox: none" in lines
    assert any(line.startswith("options: ") and line.endswith(", rounds=1") for line in lines)
    assert any(line.startswith("block 0: deal ") for line in lines)
    assert list(tmp_path.iterdir()) == [file]


def test_more_matches_at_a_time_than_cores_is_warned_of_once(tmp_path: Path) -> None:
    file, many = cup(tmp_path), str(cores() + 1)
    for words in (("--dry-run",), ()):
        done = lastcard("tournament", "run", str(file), "--jobs", many, *words, cwd=tmp_path)
        assert done.code == 0
        assert done.err.startswith(f"lastcard: --jobs {many}: there are only {cores()} cores, so bots will wait")
        assert done.err.count("\n") == 1
    assert lastcard("tournament", "run", str(file), "--jobs", str(cores()), cwd=tmp_path).err == ""


def test_the_plan_shows_how_bots_are_kept(tmp_path: Path) -> None:
    kept = CUP.replace('seed = "s1"', 'seed = "s1"\nidle = "freeze"') + 'sandbox = "basic"\nmemory_mb = 99\n'
    done = lastcard("tournament", "run", str(cup(tmp_path, text=kept)), "--dry-run", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "  (sandbox: basic, memory_mb 99, processes 64, file_mb 16, cpu_s 3600)\n" in done.out
    assert "; idle freeze\n" in done.out


def test_the_plan_of_a_secret_seed_shows_no_deal(tmp_path: Path) -> None:
    file = cup(tmp_path, text=CUP.replace('seed = "s1"\n', ""))
    done = lastcard("tournament", "run", str(file), "--dry-run", cwd=tmp_path)
    assert done.code == 0
    assert "seed: drawn by the system and secret" in done.out
    assert "deal " not in done.out


def test_the_plan_says_what_has_been_played_and_by_which_configuration(tmp_path: Path) -> None:
    words = ("tournament", "run", str(cup(tmp_path)), "--dir", str(tmp_path / "run"))
    assert lastcard(*words).code == 0
    assert f"folder: {tmp_path}/run, 4 matches played\n" in lastcard(*words, "--dry-run").out
    cup(tmp_path, blocks=3)
    changed = lastcard(*words, "--dry-run")
    assert (changed.code, changed.out) == (2, "")
    assert "was begun with another configuration" in changed.err
    assert lastcard(*words).code == 2


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"mario-kart"', '"uno"', "cup.toml: [tournament] edition: there is no edition 'uno'"),
        ('"random"', '"./gone"', "cup.toml: [[bot]] two: bot './gone': there is no file"),
        ("seats = 2", "seats = 3", "cup.toml: [tournament] seats = 3 needs at least 3 bots"),
        ("seats = 2", "seats = two", "cup.toml: this is not TOML"),
        ('seed = "s1"', "seed = 7", "cup.toml: [tournament] seed: expected 1 to 64 characters"),
    ],
)
def test_a_file_that_cannot_be_meant_begins_nothing(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    file = cup(tmp_path, text=CUP.replace(old, new))
    for words in ((), ("--dry-run",)):
        done = lastcard("tournament", "run", str(file), *words, cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"lastcard: {sentence}")
        assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    file = cup(tmp_path)
    for words in ((), ("--dry-run",)):
        done = lastcard("tournament", "run", "cup.toml", "--dir", ".", *words, cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "lastcard: .: this folder is not empty and holds no tournament (there is 'cup.toml');"
            " expected a new or empty one, or that of this tournament\n"
        )
    assert list(tmp_path.iterdir()) == [file]


def test_a_forged_ledger_is_one_line_and_no_traceback(tmp_path: Path) -> None:
    words = ("tournament", "run", str(cup(tmp_path)), "--dir", str(tmp_path / "run"))
    assert lastcard(*words).code == 0
    with closing(sqlite3.connect(tmp_path / "run" / "ledger.sqlite")) as database, database:
        database.execute("UPDATE matches SET wins = '[9, 9, 9]' WHERE number = 2")
    for command in (words, ("tournament", "status", str(tmp_path / "run"))):
        done = lastcard(*command)
        assert (done.code, done.out) == (2, "")
        assert done.err.endswith(
            "the ledger is damaged: row 2 of its matches: wins: expected 2 numbers whose sum is the number"
            " of rounds, got (9, 9, 9)\n"
        )
        assert done.err.count("\n") == 1


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    file = cup(tmp_path)
    for words in ((), ("--dry-run",)):
        done = lastcard("tournament", "run", str(file), "--dir", str(file), *words)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"lastcard: {file}: ")
        assert done.err.count("\n") == 1
