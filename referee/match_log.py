"""The log of a match while it is written, and its digest. Knows no bot and no rule; `log_reader` reads it.

One write a decision; what the digest covers is the same wherever the match is played. It holds the deck, so until
the match is over nobody but its owner may read it.
"""

import gzip
import os
import shutil
import stat
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Raw

FORMAT = 1

IN_DIGEST = frozenset({"match", "round", "decision", "event", "result"})

PACKED = ".gz"

OWNER_ONLY = 0o600
ANYBODY = 0o666
"""As any new file, less the umask."""

encode = msgspec.json.Encoder().encode


class LogWriteError(Exception):
    """The log could not be written, as when a disk is full. The text names the file."""


class MatchLog:
    """One file. Without a path nothing is written, and the digest is still worked out.

    A path that ends in `.gz` is packed when the match is over; until then its lines are in the file without `.gz`.
    """

    def __init__(self, path: Path | None) -> None:
        self._packed = path if path is not None and path.suffix == PACKED else None
        self._path = path.with_suffix("") if path is not None and self._packed is not None else path
        self._fd: int | None = None
        self._mode_at_end: int | None = None
        if self._path is not None:
            self._fd, self._mode_at_end = opened_for_owner(self._path)
        self._digest = sha256()
        self._lines = bytearray()

    @property
    def path(self) -> Path | None:
        """The file that holds the lines while the match runs, and afterwards if it came to no end."""
        return self._path

    def line(self, fields: dict[str, object], t: dict[str, object] | None = None) -> None:
        """One line; `t` holds all that depends on clock, machine, transport or run, and stands last."""
        text = encode(fields)
        if fields["type"] in IN_DIGEST:
            self._digest.update(text)
            self._digest.update(b"\n")
        if t:
            self._lines += text[:-1] + b',"t":' + encode(t) + b"}\n"
        else:
            self._lines += text + b"\n"

    def events(self, events: list[Raw]) -> None:
        """Events in full, already encoded."""
        for event in events:
            text = b'{"type":"event","event":' + bytes(event) + b"}\n"
            self._digest.update(text)
            self._lines += text

    def flush(self) -> None:
        """Everything up to here goes to the file in one write. Raises LogWriteError."""
        lines, self._lines = self._lines, bytearray()
        if self._fd is None or not lines:
            return
        try:
            written = os.write(self._fd, lines)
            while written < len(lines):  # a full disk, or a pipe: the rest of a line is worth another try
                written += os.write(self._fd, lines[written:])
        except OSError as error:
            raise LogWriteError(f"the log {self._path} cannot be written: {error.strerror}") from error

    def end(self) -> str:
        """The last line; returns the digest. Raises LogWriteError."""
        digest = self._digest.hexdigest()
        self.line({"type": "end", "digest": digest}, {"ended": now()})
        self.flush()
        if self._fd is not None and self._mode_at_end is not None:
            with suppress(OSError):  # another's file, or a file system without modes
                os.fchmod(self._fd, self._mode_at_end)
        self.close()
        if self._path is not None and self._packed is not None:
            try:
                pack(self._path, self._packed)
            except OSError as error:
                raise LogWriteError(f"the log {self._packed} cannot be written: {error.strerror}") from error
        return digest

    def close(self) -> None:
        """Lets go of the file; a log without its `end` line is incomplete and says so when it is read.

        It stays its owner's alone: the deal of a match that was stopped will be played again.
        """
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def opened_for_owner(path: Path) -> tuple[int, int | None]:
    """An empty file that only its owner may read, and its mode for afterwards; None where it has none, as /dev/null."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
    usual = ANYBODY & ~umask()
    try:
        return os.open(path, flags | os.O_EXCL, OWNER_ONLY), usual
    except FileExistsError:
        fd = os.open(path, flags | os.O_TRUNC, OWNER_ONLY)
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        return fd, None
    with suppress(OSError):
        os.fchmod(fd, OWNER_ONLY)
    mode = stat.S_IMODE(status.st_mode)
    return fd, usual if mode == OWNER_ONLY else mode  # so was left by a match that was stopped


def umask() -> int:
    """The process's umask, which the system tells only to who changes it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def pack(plain: Path, packed: Path) -> None:
    """Puts the packed file in the place of the plain one. The same lines give the same bytes: no date, no name."""
    part = packed.with_name(packed.name + ".part")
    with (
        plain.open("rb") as source,
        part.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as target,
    ):
        shutil.copyfileobj(source, target)
    part.replace(packed)
    plain.unlink()


def now() -> str:
    """The date and time, for the members `t`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
