"""The ledger: one SQLite file, the only truth about what was played. Knows no bot process and no statistics.

Each match is committed once, keyed by block and rotation; what was announced is in the file. Whatever is
wrong with the file is one LedgerError with a whole sentence.
"""

import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, Self

import msgspec

from lastcard.referee.tournament.errors import LedgerError
from lastcard.referee.tournament.rows import FaultRow, FirstRecord, MatchRow, VoidRow

APPLICATION_ID = 0x4C434C47
"""`LCLG` in the file's header, so that another program's database is not taken for a ledger."""

SCHEMA_VERSION = 2
"""1 had no `noise`. No release wrote it, so it is told apart and not read."""

SCHEMA = """
CREATE TABLE first_record (
    name TEXT, text TEXT, canonical TEXT, base TEXT, software TEXT, begun TEXT, commitment TEXT
);
CREATE TABLE bots (number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, command TEXT NOT NULL);
CREATE TABLE matches (
    number INTEGER PRIMARY KEY, block INTEGER NOT NULL, rotation INTEGER NOT NULL,
    match_id TEXT NOT NULL, seed TEXT NOT NULL, bots TEXT NOT NULL,
    places TEXT NOT NULL, scores TEXT NOT NULL,
    wins TEXT NOT NULL, rounds INTEGER NOT NULL, reason TEXT NOT NULL, forfeited TEXT NOT NULL,
    faults TEXT NOT NULL, strikes TEXT NOT NULL, log TEXT NOT NULL, digest TEXT NOT NULL,
    void_attempts INTEGER NOT NULL, wall_ms INTEGER NOT NULL, noise TEXT,
    UNIQUE (block, rotation)
);
CREATE TABLE faults (
    block INTEGER NOT NULL, rotation INTEGER NOT NULL, seat INTEGER NOT NULL, bot TEXT NOT NULL,
    kind TEXT NOT NULL, strike INTEGER NOT NULL, detail TEXT NOT NULL
);
CREATE TABLE voids (
    block INTEGER NOT NULL, rotation INTEGER NOT NULL, bots TEXT NOT NULL, reason TEXT NOT NULL,
    log TEXT NOT NULL
);
CREATE TABLE suspensions (bot TEXT PRIMARY KEY, reason TEXT NOT NULL);
"""

MATCH_COLUMNS = MatchRow.__struct_fields__
AS_JSON = frozenset({"bots", "places", "scores", "wins", "forfeited", "faults", "strikes", "noise"})


def insert(table: str, columns: Iterable[str]) -> str:
    names = tuple(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' for _ in names)})"


INSERT_MATCH = insert("matches", MATCH_COLUMNS)
INSERT_FAULT = insert("faults", FaultRow.__struct_fields__)
INSERT_VOID = insert("voids", VoidRow.__struct_fields__)
INSERT_FIRST = insert("first_record", FirstRecord.__struct_fields__)
SELECT_BOTS = "SELECT name, command FROM bots ORDER BY number"
SELECT_FIRST = f"SELECT {', '.join(FirstRecord.__struct_fields__)} FROM first_record"
SELECT_MATCHES = f"SELECT number, {', '.join(MATCH_COLUMNS)} FROM matches ORDER BY"

LONGEST_COMPLAINT = 300

FAILURES = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written, perhaps it is full",
    sqlite3.SQLITE_READONLY: "it is readonly",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "it may not be used",
    sqlite3.SQLITE_BUSY: "another program is using it",
    sqlite3.SQLITE_LOCKED: "another program is using it",
    sqlite3.SQLITE_NOMEM: "there is no memory left",
}
"""What is no fault of the file, by SQLite's primary code."""

RowComplaint = Callable[[MatchRow], str | None]


def packed(value: object) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


def match_of(columns: tuple[object, ...]) -> MatchRow:
    """The row back from its columns. Raises ValueError with the field first."""
    named = dict(zip(MATCH_COLUMNS, columns, strict=True))
    for name in AS_JSON:
        try:
            if named[name] is not None:
                named[name] = msgspec.json.decode(str(named[name]))
        except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
            raise ValueError(f"{name}: expected JSON: {error}") from None
    try:
        return msgspec.convert(named, MatchRow)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `$.")
        raise ValueError(f"{place.rstrip('`')}: {text[:1].lower()}{text[1:]}") from None


class Ledger:
    """An open ledger. From `begin_ledger` or `open_ledger`."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self.complaint: RowComplaint = lambda _: None
        """What `rows` finds wrong with a row; set once the configuration is known."""
        self._database = database
        self._readers: list[Generator[MatchRow, None, None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for reader in self._readers:  # an error may have left one in the middle of the rows
            reader.close()
        self._database.close()

    @contextmanager
    def _clearly(self) -> Generator[sqlite3.Connection, None, None]:
        with errors_of(self.path):
            yield self._database

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection, None, None]:
        """All of it or nothing, on disk when it is left."""
        with self._clearly() as database, database:
            database.execute("BEGIN IMMEDIATE")
            yield database

    def commit(self, row: MatchRow, faults: Iterable[FaultRow] = ()) -> None:
        """Keep a match and its faults. A second one of the same block and rotation is an error."""
        values = [
            packed(value) if name in AS_JSON and value is not None else value
            for name, value in msgspec.structs.asdict(row).items()
        ]
        with self._transaction() as database:
            database.execute(INSERT_MATCH, values)
            database.executemany(INSERT_FAULT, map(msgspec.structs.astuple, faults))

    def commit_void(self, row: VoidRow) -> None:
        """Keep an attempt that counts for nobody."""
        values = (row.block, row.rotation, packed(row.bots), row.reason, row.log)
        with self._transaction() as database:
            database.execute(INSERT_VOID, values)

    def suspend(self, bot: str, reason: str) -> None:
        """Keep that a bot plays no more."""
        with self._transaction() as database:
            database.execute("INSERT OR IGNORE INTO suspensions VALUES (?, ?)", (bot, reason))

    def first_record(self) -> FirstRecord:
        """What the ledger was begun with."""
        with self._clearly() as database:
            columns = database.execute(SELECT_FIRST).fetchone()
            return msgspec.convert(dict(zip(FirstRecord.__struct_fields__, columns, strict=True)), FirstRecord)

    def bots(self) -> list[tuple[str, str]]:
        """Name and command of every bot, in the file's order."""
        with self._clearly() as database:
            return [(str(name), str(words)) for name, words in database.execute(SELECT_BOTS)]

    def logs(self) -> list[str]:
        """The names of all logs that should be there."""
        with self._clearly() as database:
            return [str(log) for (log,) in database.execute("SELECT log FROM matches WHERE log != ''")]

    def suspended(self) -> dict[str, str]:
        """The bots that play no more, with why."""
        with self._clearly() as database:
            return {str(bot): str(reason) for bot, reason in database.execute("SELECT * FROM suspensions ORDER BY bot")}

    def played(self, blocks: Sequence[int], rotation: int) -> set[int]:
        """Which of these blocks have this rotation in the ledger."""
        query = f"SELECT block FROM matches WHERE rotation = ? AND block IN ({', '.join('?' for _ in blocks)})"
        with self._clearly() as database:
            return {int(block) for (block,) in database.execute(query, (rotation, *blocks))}

    def count(self, table: str = "matches") -> int:
        """How many rows a table has."""
        with self._clearly() as database:
            return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def void_attempts(self, block: int, rotation: int) -> int:
        """How often this match was void."""
        query = "SELECT count(*) FROM voids WHERE block = ? AND rotation = ?"
        with self._clearly() as database:
            return int(database.execute(query, (block, rotation)).fetchone()[0])

    def has_fault(self, kinds: Iterable[str]) -> bool:
        """Whether a fault of one of these kinds is in the ledger."""
        with self._clearly() as database:
            query = "SELECT EXISTS (SELECT 1 FROM faults WHERE kind = ?)"
            return any(database.execute(query, (kind,)).fetchone()[0] for kind in kinds)

    def rows(self, order: str = "block, rotation") -> Generator[MatchRow, None, None]:
        """All matches by block and rotation; by `number` in the order in which they were committed.

        Raises LedgerError, with row and field, for the first that is not what it should be.
        """
        reader = self._checked_rows(order)
        self._readers.append(reader)
        return reader

    def _checked_rows(self, order: str) -> Generator[MatchRow, None, None]:
        last: tuple[int, int] | None = None
        with self._clearly() as database, closing(database.execute(f"{SELECT_MATCHES} {order}")) as found:
            for number, *columns in found:
                try:
                    row = match_of(tuple(columns))
                except ValueError as error:
                    raise self._damaged(number, str(error)) from None
                complaint = self.complaint(row)
                if complaint is None and (row.block, row.rotation) == last:
                    complaint = f"rotation: block {row.block} has this one twice"
                if complaint is not None:
                    raise self._damaged(number, complaint)
                last = (row.block, row.rotation)
                yield row

    def _damaged(self, number: object, complaint: str) -> LedgerError:
        if len(complaint) > LONGEST_COMPLAINT:
            complaint = f"{complaint[:LONGEST_COMPLAINT]}..."
        return LedgerError(f"{self.path}: the ledger is damaged: row {number} of its matches: {complaint}")


@contextmanager
def errors_of(path: Path) -> Generator[None, None, None]:
    """Turn whatever SQLite and the decoder say into one clear error."""
    try:
        yield
    except LedgerError:  # says it already
        raise
    except sqlite3.IntegrityError as error:
        raise LedgerError(f"{path}: the ledger holds this match already: {error}") from error
    except (sqlite3.Error, msgspec.MsgspecError, TypeError, ValueError) as error:
        if failure := failure_of(error):
            raise LedgerError(f"{path}: the ledger cannot be used: {failure}") from error
        raise LedgerError(f"{path}: the ledger cannot be used, it is damaged or no ledger: {error}") from error


def failure_of(error: Exception) -> str | None:
    """What is wrong around the file, if the error is no fault of its content."""
    code = getattr(error, "sqlite_errorcode", None)
    return FAILURES.get(code & 0xFF) if isinstance(code, int) else None


def connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10.0)


def check_header(path: Path, database: sqlite3.Connection) -> bool:
    """Whether the ledger was begun. Raises LedgerError for a file that is none, or damaged."""
    application = int(database.execute("PRAGMA application_id").fetchone()[0])
    version = int(database.execute("PRAGMA user_version").fetchone()[0])
    if application == 0 and version == 0 and not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return False
    if application != APPLICATION_ID:
        raise LedgerError(f"{path}: this is a database of another program, not a ledger of lastcard")
    if version != SCHEMA_VERSION:
        raise LedgerError(
            f"{path}: the ledger has version {version}, this lastcard reads version {SCHEMA_VERSION};"
            " use the lastcard that wrote it, or another folder"
        )
    verdict = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    if verdict != "ok":
        raise LedgerError(f"{path}: the ledger is damaged: {verdict.splitlines()[-1]}")
    return True


def write_beginning(database: sqlite3.Connection, first: FirstRecord, bots: Iterable[tuple[str, str]]) -> None:
    """Schema, version and first record, all in one transaction: a ledger is begun or it is not."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA.split(";"):
            database.execute(statement)
        database.execute(INSERT_FIRST, msgspec.structs.astuple(first))
        database.executemany("INSERT INTO bots (name, command) VALUES (?, ?)", bots)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def is_begun(path: Path) -> bool:
    """Whether there is a ledger with a first record. Raises LedgerError for a file that is something else."""
    if not path.exists():
        return False
    with errors_of(path), closing(connect(path, "rw")) as database:
        return check_header(path, database)


def begin_ledger(path: Path, first: FirstRecord, bots: Iterable[tuple[str, str]]) -> Ledger:
    """Begin a ledger with its first record, and open it to write."""
    with errors_of(path), closing(connect(path, "rwc")) as database:
        path.chmod(0o600)  # it holds deals that are still to be played in other rotations
        if check_header(path, database):
            raise LedgerError(f"{path}: the ledger was begun already")
        database.execute("PRAGMA journal_mode = WAL")
        write_beginning(database, first, bots)
    return open_ledger(path)


def open_ledger(path: Path, mode: Literal["rw", "ro"] = "rw") -> Ledger:
    """Open a ledger to write, if one holds the folder's lock, or to read while another writes."""
    if not path.is_file():
        raise LedgerError(f"{path}: there is no ledger here; is this the folder of a tournament?")
    with errors_of(path):
        database = connect(path, mode)
        try:
            if not check_header(path, database):
                raise LedgerError(f"{path}: the ledger was not begun; run the tournament first")
            # Outlives the process's death at any moment; a power cut may take the last matches, not the file
            database.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            database.close()
            raise
    return Ledger(path, database)
