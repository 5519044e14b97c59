"""The log of a match while it is written: JSON lines, one write a decision, and the digest over what is the same
wherever the match is played. Knows no bot and no rule; `replay` reads what is written here.
"""

import os
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Raw

FORMAT = 1

IN_DIGEST = frozenset({"match", "round", "decision", "event", "result"})

encode = msgspec.json.Encoder().encode


class MatchLog:
    """One file. Without a path nothing is written, and the digest is still worked out."""

    def __init__(self, path: Path | None) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) if path is not None else None
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
        """Everything up to here goes to the file in one write."""
        if self._fd is not None and self._lines:
            rest = memoryview(self._lines)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            rest.release()
        self._lines = bytearray()

    def end(self) -> str:
        """The last line; returns the digest."""
        digest = self._digest.hexdigest()
        self.line({"type": "end", "digest": digest}, {"ended": now()})
        self.flush()
        self.close()
        return digest

    def close(self) -> None:
        """Lets go of the file; a log without its `end` line is incomplete and says so when it is read."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def now() -> str:
    """The date and time, for the members `t`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
