"""The ledger: what is committed is there, once; whatever is wrong with the file is one sentence."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from lastcard.referee.tournament.errors import LedgerError
from lastcard.referee.tournament.ledger import Ledger, begin_ledger, is_begun, open_ledger
from lastcard.referee.tournament.rows import FaultRow, FirstRecord, MatchRow, VoidRow

FIRST = FirstRecord(
    name="cup", text="[tournament]", canonical="{}", base="/b", software="0", begun="2026", commitment="c"
)
ROW = MatchRow(
    block=3,
    rotation=1,
    match_id="id",
    seed="seed",
    bots=("a", "b"),
    places=(1, 2),
    scores=(-7, 12),
    wins=(1, 0),
    rounds=1,
    reason="rounds",
    forfeited=(1,),
    faults=({"timeout": 2}, {}),
    strikes=(2, 0),
    log="logs/3-1.jsonl",
    digest="d",
    void_attempts=1,
    wall_ms=12,
)
FAULT = FaultRow(block=3, rotation=1, seat=0, bot="a", kind="timeout", strike=True, detail="1000 ms")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with begin_ledger(path, FIRST, [("a", "x"), ("b", "y")]) as ledger:
        yield ledger


def test_what_is_committed_is_there_after_reopening(path: Path, ledger: Ledger) -> None:
    ledger.commit(ROW, [FAULT])
    ledger.commit_void(VoidRow(block=3, rotation=1, bots=("a", "b"), reason="host", log=""))
    ledger.suspend("b", "why")
    ledger.suspend("b", "why again")
    with open_ledger(path, "ro") as again:
        assert list(again.rows()) == [ROW]
        assert again.first_record() == FIRST
        assert again.suspended() == {"b": "why"}
        assert (again.count(), again.count("faults"), again.void_attempts(3, 1)) == (1, 1, 1)
        assert again.has_fault(["startup", "timeout"])
        assert not again.has_fault(["startup"])
        assert again.played([1, 3, 5], 1) == {3}
        assert again.played([1, 3, 5], 0) == set()


def test_a_match_counts_once(ledger: Ledger) -> None:
    ledger.commit(ROW)
    with pytest.raises(LedgerError, match="holds this match already"):
        ledger.commit(msgspec.structs.replace(ROW, digest="other"), [FAULT])
    assert [row.digest for row in ledger.rows()] == ["d"]
    assert ledger.count("faults") == 0


def test_rows_come_by_block_and_rotation_or_as_committed(ledger: Ledger) -> None:
    keys = [(2, 0), (0, 1), (10, 0), (0, 0)]
    for block, rotation in keys:
        ledger.commit(msgspec.structs.replace(ROW, block=block, rotation=rotation))
    assert [(row.block, row.rotation) for row in ledger.rows()] == sorted(keys)
    assert [(row.block, row.rotation) for row in ledger.rows("number")] == keys


def test_the_mode_is_the_measured_one(path: Path, ledger: Ledger) -> None:
    with open_ledger(path) as again:
        database = again._database
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert database.execute("PRAGMA synchronous").fetchone() == (1,)


def test_a_ledger_is_begun_once(path: Path, ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="begun already"):
        begin_ledger(path, FIRST, [])


def test_an_empty_file_is_a_ledger_that_was_not_begun(path: Path) -> None:
    path.touch()
    assert not is_begun(path)
    with pytest.raises(LedgerError, match="not begun; run the tournament first"):
        open_ledger(path)


def test_no_file(path: Path) -> None:
    assert not is_begun(path)
    with pytest.raises(LedgerError, match=r"ledger\.sqlite: there is no ledger here"):
        open_ledger(path)
    assert not path.exists()


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()


def of_tomorrow(path: Path) -> None:
    begin_ledger(path, FIRST, []).__exit__()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def cut_off(path: Path) -> None:
    with begin_ledger(path, FIRST, []) as ledger:
        for block in range(300):
            ledger.commit(msgspec.structs.replace(ROW, block=block))
    path.write_bytes(path.read_bytes()[:-20_000])


def overwritten(path: Path) -> None:
    with begin_ledger(path, FIRST, []) as ledger:
        for block in range(300):
            ledger.commit(msgspec.structs.replace(ROW, block=block))
    raw = bytearray(path.read_bytes())
    raw[8192:40_000] = b"\xff" * len(raw[8192:40_000])
    path.write_bytes(raw)


NO_LEDGERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (
        lambda path: path.write_text("[tournament]\n" * 100),
        "damaged or no ledger: file is not a database",
    ),
    "foreign": (foreign, "this is a database of another program, not a ledger of lastcard"),
    "of tomorrow": (
        of_tomorrow,
        "the ledger has version 99, this lastcard reads version 2; use the lastcard that",
    ),
    "cut off": (cut_off, "damaged"),
    "overwritten": (overwritten, "damaged"),
    "folder": (lambda path: path.mkdir(), "there is no ledger here"),
}


@pytest.mark.parametrize("name", NO_LEDGERS)
@pytest.mark.parametrize("mode", ["rw", "ro"])
def test_what_is_no_ledger_is_one_clear_sentence(path: Path, name: str, mode: Literal["rw", "ro"]) -> None:
    make, sentence = NO_LEDGERS[name]
    make(path)
    with pytest.raises(LedgerError) as caught:
        open_ledger(path, mode)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("faults = '[{'", "faults: expected JSON: "),
        ("faults = '[3, {}]'", "faults[0]: expected `object`, got `int`"),
        ("bots = x'ff'", "bots: expected JSON: "),
        ("rounds = 'many'", "rounds: expected `int`, got `str`"),
        ("scores = '[1.5, 2]'", "scores[0]: expected `int`, got `float`"),
        (f"scores = '[{'9' * 5000}, 2]'", "scores"),
        (f"scores = '{'[' * 50_000}'", "scores: expected JSON: "),
        ("log = x'00'", "log: expected `str`, got `bytes`"),
    ],
)
def test_a_damaged_row_is_one_clear_sentence(path: Path, ledger: Ledger, change: str, sentence: str) -> None:
    ledger.commit(ROW)
    ledger._database.execute(f"UPDATE matches SET {change}")
    with pytest.raises(LedgerError) as caught:
        list(ledger.rows())
    assert str(caught.value).startswith(f"{path}: the ledger is damaged: row 1 of its matches: {sentence}")
    assert len(str(caught.value)) < 500


def test_rows_that_nobody_reads_to_the_end_are_closed_before_the_ledger(path: Path, ledger: Ledger) -> None:
    ledger.commit(ROW)
    ledger.commit(msgspec.structs.replace(ROW, block=4))
    with open_ledger(path, "ro") as again:
        rows = again.rows()
        next(rows)
    assert list(rows) == []


def test_a_full_disk_is_not_called_damage(path: Path, ledger: Ledger) -> None:
    ledger._database.execute("PRAGMA max_page_count = 1")
    rows = [msgspec.structs.replace(ROW, block=block) for block in range(1000)]
    with pytest.raises(LedgerError) as caught:
        list(map(ledger.commit, rows))
    assert str(caught.value) == f"{path}: the ledger cannot be used: the disk is full"
