"""`run` and `status` as the command line calls them: output, exit codes, signals, and death at any moment."""

import io
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec
import pytest

from lastcard.referee.limits import Idle
from lastcard.referee.noise import Noise
from lastcard.referee.tournament import Bot, LedgerError, MatchCall, MatchRecord, run, status
from lastcard.referee.tournament.commands import DONE, RESUMES
from tests.tournament.fakes import FakePlayer, WriteConfig, by_lot

CHILD = Path(__file__).with_name("child.py")
COLUMNS = "block, rotation, match_id, seed, bots, places, scores, wins, rounds, faults, forfeited, log, digest"


def command(config: Path, folder: Path, jobs: int, seconds: float) -> list[str]:
    return [sys.executable, str(CHILD), str(config), str(folder), str(jobs), str(seconds)]


def child(config: Path, folder: Path, jobs: int = 2, seconds: float = 0.0) -> "subprocess.CompletedProcess[str]":
    words = command(config, folder, jobs, seconds)
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def rows(folder: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as database:
        return list(database.execute(f"SELECT {COLUMNS} FROM matches ORDER BY block, rotation"))


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "the run did not get there"
        time.sleep(0.002)


def wait_for(folder: Path, matches: int) -> None:
    """Until so many matches are in the ledger of a run that goes on."""

    def are_there() -> bool:
        try:
            return len(rows(folder)) >= matches
        except sqlite3.OperationalError:
            return False  # not begun yet

    wait_until(are_there)


def last_table(output: str) -> str:
    return output[output.index("cup: ") :]


def test_a_run_ends_with_the_table_and_status_shows_the_same(write_config: WriteConfig, tmp_path: Path) -> None:
    output = io.StringIO()
    config = write_config(bots=2, blocks=3, rounds=1)
    folder = tmp_path / "run"
    assert run(config, folder, 2, plain=True, player=FakePlayer(seconds=0), stream=output) == DONE
    lines = output.getvalue().splitlines()
    assert lines[:3] == [
        "6 matches",
        lines[1],
        "cup: mario-kart, 2 bots, 2 seats, 3 blocks of 2 matches",
    ]
    assert lines[1].startswith("6 of 6 matches (100 %), ")
    assert lines[3].startswith("no strict sandbox for all bots: ")
    assert lines[5].split()[:2] == ["rank", "bot"]
    told = status(folder).splitlines()
    assert told[:2] == [lines[2], "6 of 6 matches played"]
    assert told[2:] == lines[3:]


def seen(*, noisy: bool, lag_ms: float) -> Noise:
    return Noise(lag_ms=lag_ms, late=0, stall_ms=None, wall_ms=100.0, noisy=noisy)


@pytest.mark.parametrize(("noisy", "told"), [(0, False), (5, False), (6, True), (100, True)])
def test_the_report_says_where_cores_were_short_in_more_than_a_few_matches(
    write_config: WriteConfig, tmp_path: Path, noisy: int, *, told: bool
) -> None:
    numbers = iter(range(100))

    def script(call: MatchCall, names: tuple[str, ...]) -> MatchRecord:
        number = next(numbers)
        return msgspec.structs.replace(by_lot(call, names), noise=seen(noisy=number < noisy, lag_ms=number))

    output = io.StringIO()
    config = write_config(bots=2, blocks=50)
    assert run(config, tmp_path / "run", 1, plain=True, player=FakePlayer(script, seconds=0), stream=output) == DONE
    line = (
        f"noisy: in {noisy} of 100 matches the machine was short of cores (p99 of the referee's lag 99 ms);"
        " thinking times there are not exact"
    )
    for text in (output.getvalue(), status(tmp_path / "run")):
        assert (line in text.splitlines()) is told
        assert ("noisy" in text) is told


@pytest.mark.parametrize(
    ("levels", "who"),
    [
        (["none", "none"], "all bots"),
        (["strict", "basic"], "bot1"),
        (["strict", "strict"], None),
    ],
)
def test_the_report_names_who_could_keep_files(
    write_config: WriteConfig, tmp_path: Path, levels: list[str], who: str | None
) -> None:
    config, output = write_config(bots=2, blocks=1), io.StringIO()
    head, *bots = config.read_text().split("[[bot]]")
    kept = [f'[[bot]]{bot}sandbox = "{level}"\n' for bot, level in zip(bots, levels, strict=True)]
    config.write_text(head + "".join(kept))
    assert run(config, tmp_path / "run", 1, plain=True, player=FakePlayer(seconds=0), stream=output) == DONE
    lines = [line for line in output.getvalue().splitlines() if line.startswith("no strict sandbox")]
    expected = [f"no strict sandbox for {who}: hidden information is not protected from bots that keep files"]
    assert lines == (expected if who else [])


def test_the_folder_and_the_ledger_are_their_owners_alone(write_config: WriteConfig, tmp_path: Path) -> None:
    """They tell deals that are still to be played; also in a folder that was there before, open to all."""
    open_to_all = tmp_path / "old"
    open_to_all.mkdir(mode=0o755)
    for folder in (tmp_path / "new", open_to_all):
        assert run(write_config(), folder, 1, plain=True, player=FakePlayer(seconds=0), stream=io.StringIO()) == DONE
        assert stat.S_IMODE((folder / "ledger.sqlite").stat().st_mode) == 0o600
        assert stat.S_IMODE((folder / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_bots_are_told_how_they_are_kept_and_what_is_hidden_from_them(
    write_config: WriteConfig, tmp_path: Path
) -> None:
    class Looks(FakePlayer):
        def problem(self, bot: Bot) -> str | None:
            asked.append(bot)
            return None

    asked: list[Bot] = []
    config = write_config(bots=2, blocks=1, idle="freeze", extra='sandbox = "basic"\nread = ["data"]\n')
    assert run(config, tmp_path / "run", 1, plain=True, player=Looks(seconds=0), stream=io.StringIO()) == DONE
    assert {bot.hidden for bot in asked} == {(tmp_path / "run", config)}
    assert [bot.sandbox.level for bot in asked] == ["none", "basic"]
    assert asked[1].sandbox.read == (str(tmp_path / "data"),)
    assert {bot.idle for bot in asked} == {Idle.FREEZE}


def test_a_finished_folder_plays_nothing_and_shows_the_table(write_config: WriteConfig, tmp_path: Path) -> None:
    config, outputs, player = write_config(), [], FakePlayer(seconds=0)
    for _ in range(2):
        output = io.StringIO()
        assert run(config, tmp_path / "run", 2, plain=True, player=player, stream=output) == DONE
        outputs.append(last_table(output.getvalue()))
    assert outputs[0] == outputs[1]
    assert len(player.calls) == 8


def test_the_folder_is_named_after_the_tournament_if_nobody_says(
    write_config: WriteConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = io.StringIO()
    assert run(write_config(), None, 1, plain=True, player=FakePlayer(seconds=0), stream=output) == DONE
    copy = tmp_path / "cup" / "tournament.toml"
    assert run(copy, None, 1, plain=True, player=FakePlayer(seconds=0), stream=output) == DONE
    assert not (tmp_path / "cup" / "cup").exists()


MISSING = '[[bot]]\nname = "gone"\ncommand = "missing"\n'


@pytest.mark.parametrize(
    ("extra", "jobs", "sentence"),
    [
        ("[limit]\n", 1, "lastcard: cup.toml: there is no table [limit]; did you mean [limits]?"),
        (MISSING, 1, "lastcard: cup.toml: [[bot]] gone: missing: there is no such program\n"),
        ("", 0, "lastcard: --jobs: expected a whole number from 1, got 0\n"),
        ("", 10**9, "lastcard: --jobs: 1000000000 need more than the "),
    ],
)
def test_what_cannot_be_meant_is_said_before_anything_starts(
    write_config: WriteConfig,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    extra: str,
    jobs: int,
    sentence: str,
) -> None:
    config = write_config(extra=extra)
    assert run(config, tmp_path / "run", jobs, plain=True, player=FakePlayer()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)
    assert not (tmp_path / "run").exists()


def test_status_of_a_folder_without_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger here; is this the folder of a tournament"):
        status(tmp_path)


def test_kill_at_any_moment_and_run_again_gives_the_same_rows_and_table(
    write_config: WriteConfig, tmp_path: Path
) -> None:
    config = write_config(bots=4, seats=3, blocks=160)
    unbroken, killed = tmp_path / "unbroken", tmp_path / "killed"
    whole = child(config, unbroken)
    assert whole.returncode == DONE, whole.stderr
    random = Random(7)
    kills = 0
    for jobs in (1, 3, 2, 1, 4, 2):
        with subprocess.Popen(command(config, killed, jobs, 0.02), stdout=subprocess.DEVNULL) as process:
            # Some die before they have begun, some between two matches, some in a commit
            time.sleep(random.uniform(0.05, 0.8))
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
    assert kills == 6
    again = child(config, killed, jobs=3)
    assert again.returncode == DONE, again.stderr
    assert rows(killed) == rows(unbroken)
    assert last_table(again.stdout) == last_table(whole.stdout)


def test_killed_once_the_first_matches_are_there_nothing_announced_is_lost(
    write_config: WriteConfig, tmp_path: Path
) -> None:
    config, folder = write_config(bots=2, blocks=50), tmp_path / "run"
    with subprocess.Popen(command(config, folder, 2, 0.01), stdout=subprocess.DEVNULL) as process:
        wait_for(folder, 10)
        there = rows(folder)
        process.kill()
    assert len(there) >= 10
    assert "to go on: lastcard tournament run" in status(folder)
    assert child(config, folder).returncode == DONE
    assert set(there) <= set(rows(folder))
    assert len(rows(folder)) == 100


DRAINED = "stopped: running matches were finished, no others begun; to go on:"
STOPPED = "stopped at once: running matches were given up; to go on:"


@pytest.mark.parametrize(
    ("signals", "seconds", "sentence"),
    [
        ([signal.SIGINT], 0.05, DRAINED),
        ([signal.SIGINT, signal.SIGINT], 60.0, STOPPED),
        ([signal.SIGTERM], 60.0, STOPPED),
        ([signal.SIGHUP], 60.0, STOPPED),
    ],
)
def test_signals_stop_a_run_in_a_state_that_resumes(
    write_config: WriteConfig, tmp_path: Path, signals: list[signal.Signals], seconds: float, sentence: str
) -> None:
    config, folder = write_config(bots=2, blocks=100), tmp_path / "run"
    words = command(config, folder, 2, seconds)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "200 matches\n"
        wait_until(lambda: any(folder.glob("logs/*.jsonl")))
        process.send_signal(signals[0])
        out = ""
        for number in signals[1:]:
            while not out.startswith("finishing the running matches"):
                out = process.stdout.readline()
            process.send_signal(number)
        # Not communicate(): it would miss what is buffered after a readline
        out, err = process.stdout.read(), process.stderr.read()
    assert process.returncode == RESUMES, err
    assert err == ""
    resume = f"lastcard tournament run {config} --dir {folder} --jobs 2 --plain"
    assert out.splitlines()[-2:] == [sentence, resume]
    assert "(provisional)" in out
    assert child(config, folder).returncode == DONE
    assert len(rows(folder)) == 200


def test_an_early_interrupt_is_no_traceback(write_config: WriteConfig, tmp_path: Path) -> None:
    class Interrupted(FakePlayer):
        def problem(self, bot: object) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    output = io.StringIO()
    assert run(write_config(), tmp_path / "run", 1, plain=True, player=Interrupted(), stream=output) == RESUMES
    assert output.getvalue() == "stopped before anything was begun\n"


def test_a_second_run_on_the_folder_is_refused_while_the_first_goes_on(
    write_config: WriteConfig, tmp_path: Path
) -> None:
    config, folder = write_config(bots=2, blocks=100), tmp_path / "run"
    with subprocess.Popen(command(config, folder, 1, 0.05), stdout=subprocess.DEVNULL) as process:
        wait_for(folder, 1)
        second = child(config, folder)
        assert "matches played" in status(folder)
        process.kill()
    assert (second.returncode, second.stdout) == (2, "")
    assert second.stderr == (f"lastcard: {folder}: another run, process {process.pid}, is working on this folder\n")


def test_a_configuration_changed_since_is_refused(
    write_config: WriteConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, player = tmp_path / "run", FakePlayer(seconds=0)
    assert run(write_config(outcome="win"), folder, 1, plain=True, player=player, stream=io.StringIO()) == DONE
    assert run(write_config(outcome="score"), folder, 1, plain=True, player=player) == 2
    assert capsys.readouterr().err.endswith('-outcome = "win"\n+outcome = "score"\n')
