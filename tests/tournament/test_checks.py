"""A ledger that no run has written: whatever was changed is one sentence with row and field, never a table."""

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lastcard.referee.tournament import LedgerError, run, status
from tests.tournament.fakes import FakePlayer, WriteConfig

FORGED: dict[str, tuple[str, str]] = {
    "block below": ("block = -1", "block: expected a number from 0 to 2, got -1"),
    "block above": ("block = 3", "block: expected a number from 0 to 2, got 3"),
    "rotation": ("rotation = 9", "rotation: expected a number from 0 to 1, got 9"),
    "match_id": ("match_id = 'm'", "match_id: expected 16 hexadecimal digits, got 'm'"),
    "another match_id": ("match_id = '0123456789abcdef'", "match_id: expected '"),
    "seed": ("seed = 'zzz'", "seed: expected 32 hexadecimal digits, got 'zzz'"),
    "another deal": (f"seed = '{'0' * 32}'", "seed: expected '"),
    "fewer bots": ("""bots = '["bot0"]'""", "bots: expected 2 different bots of this tournament, got ('bot0',)"),
    "one bot twice": ("""bots = '["bot0", "bot0"]'""", "bots: expected 2 different bots of this tournament"),
    "a bot of no name": ("""bots = '["bot0", "x"]'""", "bots: expected 2 different bots of this tournament"),
    "other seats": ("""bots = '["bot1", "bot0"]'""", "bots: expected ('bot0', 'bot1') by the plan"),
    "places": ("places = '[1]'", "places: expected 2 numbers from 1 to 2, a 1 among them, got (1,)"),
    "nobody first": ("places = '[2, 2]'", "places: expected 2 numbers from 1 to 2, a 1 among them"),
    "scores": ("scores = '[1, 2, 3]'", "scores: expected 2 numbers from "),
    "rounds": ("rounds = -5", "rounds: expected a number from 0 to 100, got -5"),
    "more rounds": ("rounds = 101", "rounds: expected a number from 0 to 100, got 101"),
    "wins": ("wins = '[9, 9]'", "wins: expected 2 numbers whose sum is the number of rounds, got (9, 9)"),
    "wins of none": ("wins = '[2, -1]'", "wins: expected 2 numbers whose sum is the number of rounds"),
    "reason": ("reason = 'bribed'", "reason: expected one of forfeit, max_rounds, rounds, "),
    "forfeited": ("forfeited = '[7]'", "forfeited: expected different seats from 0 to 1, got (7,)"),
    "forfeited twice": ("forfeited = '[0, 0]'", "forfeited: expected different seats from 0 to 1"),
    "faults": ("faults = '[]'", "faults: expected 2 tables of fault kinds with how often, got ()"),
    "fault kind": ("""faults = '[{"\\u001b[31m": 1}, {}]'""", "faults: expected 2 tables of fault kinds"),
    "strikes": ("strikes = '[5, 5]'", "strikes: expected 2 numbers, none above that of the seat's faults"),
    "log": ("log = '../../../etc/passwd'", "log: expected the name of this match's log, got '../../../etc/passwd'"),
    "log of another": ("log = 'logs/2-1.jsonl'", "log: expected the name of this match's log"),
    "no log": ("log = ''", "log: expected the name of this match's log"),
    "digest": ("digest = 'd'", "digest: expected 64 hexadecimal digits, got 'd'"),
    "void_attempts": ("void_attempts = -1", "void_attempts: expected a number from 0, got -1"),
    "wall_ms": ("wall_ms = -1", "wall_ms: expected a number from 0, got -1"),
    "noise": ("""noise = '{"lag_ms":-1,"late":0,"stall_ms":null,"wall_ms":1,"noisy":true}'""", "noise: expected times"),
    "no noise": ("noise = '[]'", "noise: expected `object | null`, got `array`"),
    "type": ("rounds = 'x'", "rounds: expected `int`, got `str`"),
    "a long value": (f"scores = '[{'1,' * 9999}1]'", "scores: expected 2 numbers from "),
}

WHOLE: dict[str, tuple[str, str]] = {
    "no bots": ("DROP TABLE bots", "no such table: bots"),
    "no faults": ("DROP TABLE faults", "no such table: faults"),
    "no voids": ("DROP TABLE voids", "no such table: voids"),
    "no suspensions": ("DROP TABLE suspensions", "no such table: suspensions"),
    "no first record": ("DELETE FROM first_record", "damaged"),
    "a bot gone": ("DELETE FROM bots WHERE number = 1", "its bots are not those of its configuration"),
    "a bot's command": ("UPDATE bots SET command = 'x' WHERE number = 1", "its bots are not those of its"),
    "a stranger": ("INSERT INTO suspensions VALUES ('x', 'y')", "'x' is suspended, but is no bot of it"),
}

STORED: dict[str, tuple[str, str, str]] = {
    "seats": ('"seats":2', '"seats":11', "[tournament] seats: expected a whole number from 2 to 10, got 11"),
    "name": ('"name":"cup"', '"name":".."', "[tournament] name: expected 1 to 32 characters"),
    "edition": ('"mario-kart"', '"nothing"', "there is no edition 'nothing'"),
    "bots": ('"name":"bot1"', '"name":"bot0"', "[[bot]] bot0: 2 bots have this name"),
    "limits": ('"move_ms":1000', '"move_ms":-1', "move_ms: expected a whole number from 1 to 86400000, got -1"),
    "sandbox": ('"memory_mb":1024', '"memory_mb":-1', "memory_mb: expected a whole number from 16 to 1048576, got -1"),
    "level": ('"level":"none"', '"level":"tight"', "Invalid enum value 'tight'"),
    "idle": ('"idle":"run"', '"idle":"ran"', "Invalid enum value 'ran'"),
    "seed": ('"seed":"s1"', '"seed":"s2"', "its commitment is not that of the tournament's seed"),
}


@pytest.fixture
def config(write_config: WriteConfig) -> Path:
    return write_config(bots=2, blocks=3, rounds=1)


@pytest.fixture
def folder(config: Path, tmp_path: Path) -> Path:
    """The folder of a tournament that was played."""
    folder = tmp_path / "run"
    assert run(config, folder, 1, plain=True, player=FakePlayer(seconds=0), stream=io.StringIO()) == 0
    return folder


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as database, database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(statement)


def refused(folder: Path) -> str:
    with pytest.raises(LedgerError) as caught:
        status(folder)
    text = str(caught.value)
    assert text.startswith(f"{folder}/ledger.sqlite: the ledger ")
    assert "\n" not in text
    assert "\x1b" not in text
    assert len(text) < 600
    return text


def refused_by_run(config: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a run says, which plays nothing and shows no table."""
    player = FakePlayer(seconds=0)
    assert run(config, folder, 1, plain=True, player=player) == 2
    out, err = capsys.readouterr()
    assert (out, player.calls, err.count("\n")) == ("", [], 1)
    return err.removeprefix("lastcard: ").removesuffix("\n")


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_row_is_named_with_its_field(
    config: Path, folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assignment, sentence = FORGED[name]
    change(folder, f"UPDATE matches SET {assignment} WHERE block = 0 AND rotation = 0")
    assert f"the ledger is damaged: row 1 of its matches: {sentence}" in refused(folder)
    assert f"the ledger is damaged: row 1 of its matches: {sentence}" in refused_by_run(config, folder, capsys)


@pytest.mark.parametrize("name", WHOLE)
def test_a_ledger_that_lacks_something_is_damaged(
    config: Path, folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    statement, sentence = WHOLE[name]
    change(folder, statement)
    assert sentence in refused(folder)
    assert sentence in refused_by_run(config, folder, capsys)


@pytest.mark.parametrize("name", STORED)
def test_a_stored_configuration_that_no_file_can_mean(folder: Path, name: str) -> None:
    old, new, sentence = STORED[name]
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as database, database:
        database.execute("UPDATE first_record SET canonical = replace(canonical, ?, ?)", (old, new))
        assert database.execute("SELECT changes()").fetchone() == (1,)
    assert sentence in refused(folder)


def test_a_match_that_counts_twice(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as database, database:
        database.execute("CREATE TABLE twice AS SELECT * FROM matches")
        database.execute("DROP TABLE matches")
        database.execute("ALTER TABLE twice RENAME TO matches")
        database.execute("INSERT INTO matches SELECT * FROM matches WHERE block = 1 AND rotation = 1")
    assert "rotation: block 1 has this one twice" in refused(folder)


def test_a_secret_seed_that_the_reader_may_not_see_proves_less_and_shows_the_table(
    config: Path, tmp_path: Path
) -> None:
    config.write_text(config.read_text().replace('seed = "s1"\n', ""))
    folder = tmp_path / "secret"
    assert run(config, folder, 1, plain=True, player=FakePlayer(seconds=0), stream=io.StringIO()) == 0
    shown = status(folder)
    change(folder, f"UPDATE matches SET seed = '{'0' * 32}'")
    refused(folder)
    (folder / "master.seed").unlink()
    assert status(folder) == shown
    change(folder, "UPDATE matches SET wins = '[9, 9]'")
    refused(folder)


def test_logs_that_are_missing_are_a_remark(config: Path, folder: Path) -> None:
    before = status(folder)
    for name in ("0-0", "2-1"):
        (folder / "logs" / f"{name}.jsonl").unlink()
    remark = "logs that are missing: 2 of 6"
    assert status(folder) == before.replace("matches played\n", f"matches played\n{remark}\n")  # above other remarks
    output = io.StringIO()
    assert run(config, folder, 1, plain=True, player=FakePlayer(), stream=output) == 0
    assert f"\n{remark}\n" in output.getvalue()


def test_what_comes_from_the_ledger_is_escaped_wherever_it_is_shown(config: Path, folder: Path) -> None:
    change(folder, "INSERT INTO suspensions VALUES ('bot0', 'x' || char(27) || '[2J' || char(10) || 'forged')")
    change(folder, "UPDATE first_record SET software = char(27) || '[2J'")
    output = io.StringIO()
    assert run(config, folder, 1, plain=True, player=FakePlayer(), stream=output) == 0
    for text in (output.getvalue(), status(folder)):
        assert "\x1b" not in text
        assert r"bot0 is suspended: x\x1b[2J\nforged" in text.splitlines()


def test_the_folder_around_a_tournament_will_do(folder: Path) -> None:
    around = folder.parent / "around"
    around.mkdir()
    shown = status(folder)
    folder.rename(around / "results")
    assert status(around) == shown
