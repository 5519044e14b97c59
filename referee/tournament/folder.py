"""A tournament's folder: its files, the lock against a second run, and whether it belongs to a configuration.

Knows no match. The lock is the system's (flock), so a dead owner holds nothing.
"""

import fcntl
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path

from lastcard.engine import Stream
from lastcard.referee.tournament.config import ConfigFile
from lastcard.referee.tournament.errors import FolderError, LedgerError
from lastcard.referee.tournament.keys import SEED
from lastcard.referee.tournament.ledger import Ledger, begin_ledger, is_begun, open_ledger
from lastcard.referee.tournament.rows import FirstRecord, log_name
from lastcard.referee.version import VERSION

BEGINNING = frozenset(
    {
        *("tournament.toml", "ledger.sqlite", "lock", "logs", "master.seed", "tournament.toml.new", "master.seed.new"),
        *("ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.sqlite-journal"),
    }
)
"""What a run leaves that died before its ledger was begun; nothing is in the logs by then."""


class Folder:
    """The paths in a tournament's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "tournament.toml"
        self.ledger = path / "ledger.sqlite"
        self.logs = path / "logs"
        self.lock = path / "lock"
        self.seed = path / "master.seed"

    def log(self, block: int, rotation: int) -> Path:
        """The log of a match."""
        return self.path / log_name(block, rotation)

    def log_names(self) -> frozenset[str]:
        """The logs that are there, as the ledger names them."""
        try:
            return frozenset(f"{self.logs.name}/{entry.name}" for entry in self.logs.iterdir() if entry.is_file())
        except OSError:
            return frozenset()

    def keep_void_log(self, block: int, rotation: int, attempt: int) -> str:
        """Lay the log of a void attempt aside and return its name in the folder; empty if there is none.

        In a folder of its own: who counts `logs/*.jsonl` counts matches.
        """
        aside = self.logs / "void" / f"{block}-{rotation}.{attempt}.jsonl"
        try:
            aside.parent.mkdir(exist_ok=True)
            self.log(block, rotation).replace(aside)
        except OSError:  # none was begun, or the disk is full: the attempt itself is kept in the ledger
            return ""
        return str(aside.relative_to(self.path))


def commitment(seed: str) -> str:
    """What proves later that the seed was this one (design.md 4, `commit`)."""
    return Stream(seed, "commit").take(32).hex()


def check_usable(folder: Folder, file: Path) -> None:
    """Raise FolderError for a folder that holds other things than a tournament, or than this file."""
    try:
        if not folder.path.is_dir() or is_begun(folder.ledger) or is_same(folder.config, file):
            return
        foreign = sorted(entry.name for entry in folder.path.iterdir() if entry.name not in BEGINNING)
        if not foreign and folder.logs.is_dir():
            foreign = sorted(f"logs/{entry.name}" for entry in folder.logs.iterdir())
    except OSError as error:
        raise FolderError(f"{folder.path}: cannot use this folder: {error.strerror or error}") from None
    if foreign:
        raise FolderError(
            f"{folder.path}: this folder is not empty and holds no tournament (there is {foreign[0]!r});"
            " expected a new or empty one, or that of this tournament"
        )


@contextmanager
def locked(folder: Folder) -> Generator[None, None, None]:
    """Make the folder and hold its lock. Raises FolderError if another run holds it."""
    try:
        if not folder.path.exists():  # with what is in it a bot would know deals that it will play again
            folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.logs.mkdir(exist_ok=True, mode=0o700)
        # Never truncated before the lock is held: the number in it is the owner's
        descriptor = os.open(folder.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise FolderError(f"{folder.path}: cannot use this folder: {error.strerror or error}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            raise FolderError(f"{folder.path}: another run, process {owner}, is working on this folder") from None
        os.truncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def open_tournament(folder: Folder, file: ConfigFile) -> tuple[Ledger, str]:
    """The ledger, begun or gone on with, and the master seed. The folder must be locked."""
    try:
        if is_begun(folder.ledger):
            return go_on(folder, file)
        return begin(folder, file)
    except OSError as error:
        raise FolderError(f"{folder.path}: cannot use this folder: {error.strerror or error}") from None


def begin(folder: Folder, file: ConfigFile) -> tuple[Ledger, str]:
    """Write the configuration and the seed, and last the ledger, with which the tournament is begun."""
    if (
        folder.config.exists()
        and folder.config.read_text("utf-8") != file.text
        and not is_same(folder.config, file.path)
    ):
        raise FolderError(f"{folder.path}: there is another tournament.toml here, but no ledger; choose another folder")
    if not is_same(folder.config, file.path):
        write_whole(folder.config, file.text, 0o644)
    seed = file.config.tournament.seed or secret_seed(folder)
    first = FirstRecord(
        name=file.config.tournament.name,
        text=file.text,
        canonical=file.config.canonical(),
        base=str(file.path.parent.absolute()),
        software=VERSION,
        begun=datetime.now(UTC).isoformat(timespec="seconds"),
        commitment=commitment(seed),
    )
    return begin_ledger(folder.ledger, first, ((bot.name, bot.command) for bot in file.config.bots)), seed


def go_on(folder: Folder, file: ConfigFile) -> tuple[Ledger, str]:
    """Open the ledger of an unfinished tournament, if it is the one that the file describes."""
    ledger = open_ledger(folder.ledger)
    try:
        first = ledger.first_record()
        if first.canonical != file.config.canonical():
            raise LedgerError(changed(folder, first, file))
        seed = file.config.tournament.seed or stored_seed(folder)
        if commitment(seed) != first.commitment:
            raise FolderError(f"{folder.seed}: this is not the seed that the tournament was begun with")
    except BaseException:
        ledger.__exit__()
        raise
    return ledger, seed


def changed(folder: Folder, first: FirstRecord, file: ConfigFile) -> str:
    """The sentence about a changed configuration, with the lines that differ."""
    old, new = first.text.splitlines(), file.text.splitlines()
    if old == new:
        old, new = [first.canonical], [file.config.canonical()]
    lines = unified_diff(old, new, "as run", file.path.name, lineterm="", n=0)
    return (
        f"{folder.path}: this tournament was begun with another configuration;"
        " give the file back its old content, or use another folder:\n" + "\n".join(lines)
    )


def base_folder(folder: Folder, file: ConfigFile) -> Path:
    """Where relative folders of bots start: at the file, or where it was if it is the copy in the folder."""
    if is_same(folder.config, file.path) and is_begun(folder.ledger):
        with open_ledger(folder.ledger, "ro") as ledger:
            return Path(ledger.first_record().base)
    return file.path.parent.absolute()


def is_same(one: Path, other: Path) -> bool:
    return one.exists() and one.samefile(other)


def secret_seed(folder: Folder) -> str:
    """128 bits from the system, in a file that only its owner reads; kept from a run that died early."""
    if folder.seed.exists():
        return stored_seed(folder)
    seed = secrets.token_hex(16)
    write_whole(folder.seed, f"{seed}\n", 0o600)
    return seed


def stored_seed(folder: Folder) -> str:
    try:
        seed = folder.seed.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        seed = ""
    if not SEED.fullmatch(seed):
        raise FolderError(f"{folder.seed}: the tournament's secret seed is missing or damaged; it cannot go on without")
    return seed


def write_whole(path: Path, text: str, mode: int) -> None:
    """Write a file so that it is there whole or not at all."""
    temporary = path.with_name(f"{path.name}.new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
