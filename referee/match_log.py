"""The log of a match while it is written, and its digest. Knows no bot and no rule; `log_reader` reads it.

One write a decision; what the digest covers is the same wherever the match is played.
"""

import gzip
import os
import shutil
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Raw

FORMAT = 1

IN_DIGEST = frozenset({"match", "round", "decision", "event", "result"})

PACKED = ".gz"

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
        self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) if self._path is not None else None
        self._digest = sha256()
        self._lines = bytearray()

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
        self.close()
        if self._path is not None and self._packed is not None:
            try:
                pack(self._path, self._packed)
            except OSError as error:
                raise LogWriteError(f"the log {self._packed} cannot be written: {error.strerror}") from error
        return digest

    def close(self) -> None:
        """Lets go of the file; a log without its `end` line is incomplete and says so when it is read."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


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
