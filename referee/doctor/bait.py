"""What is laid out for the probe to find: files, sockets, secrets; and whether it has been touched.

A secret that the probe brings back is a proof; what arrives at a socket or in a folder is seen from outside.
The bait knows no level and no promise.
"""

import ctypes
import fcntl
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType
from typing import Self

from lastcard.referee.doctor.cage_powers import powers
from lastcard.referee.sandbox.levels import Sandbox
from lastcard.referee.trees import process

GIVEN = ("PATH", "HOME", "LANG", "LASTCARD_SEAT", "LASTCARD_MATCH")
"""The variables that every bot gets."""
BY_WRAPPERS = ("PWD",)
"""What a shell or bubblewrap adds: where the bot is, which it can find out anyway."""


class Bait:
    """All of it for one level. A context: it is taken away in the end."""

    def __init__(self) -> None:
        self.mark = f"lastcard-{secrets.token_hex(12)}"
        self.proofs = {row: secrets.token_hex(16) for row in ("private-file", "shared-file", "hidden-file")}
        self.sibling_secret = secrets.token_hex(16)
        self.signals = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._lay_out(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _lay_out(self, stack: ExitStack) -> None:
        # Resolved, and open to every uid: what is out of reach for other reasons proves nothing.
        self.top = Path(tempfile.mkdtemp(prefix="lastcard-doctor-")).resolve()
        stack.callback(shutil.rmtree, self.top, ignore_errors=True)
        self.own, self.away = self.top / "bot", self.top / "away"
        for folder in (self.top, self.own, self.away):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
        self.private = self._file(self.away / "private", self.proofs["private-file"], 0o600)
        self.shared = self._file(self.away / "shared", self.proofs["shared-file"], 0o644)
        self.hidden = self._file(self.own / "hidden", self.proofs["hidden-file"], 0o644)
        self.lock = self._file(self.own / "lock", "", 0o644)
        stack.callback(self._clear_tmp)
        self._lay_out_referee(stack)
        self._listen(stack)

    def _clear_tmp(self) -> None:
        """What probes that were ended too early have left there."""
        for path in Path("/tmp").glob(f"{self.mark}*"):
            with suppress(OSError):
                path.unlink()

    @staticmethod
    def _file(path: Path, text: str, mode: int) -> Path:
        path.write_text(text)
        path.chmod(mode)
        return path

    def _lay_out_referee(self, stack: ExitStack) -> None:
        """In this process itself: its start time, a secret in memory, an open file without a name, a handler."""
        ours = process(os.getpid())
        self.proofs["see-processes"] = str(ours.started) if ours else ""
        self.proofs["referee-memory"] = secrets.token_hex(16)
        self._kept = ctypes.create_string_buffer(self.proofs["referee-memory"].encode())
        self.proofs["referee-files"] = secrets.token_hex(16)
        nameless = self._file(self.top / "nameless", self.proofs["referee-files"], 0o600)
        self._fd = os.open(nameless, os.O_RDONLY)
        stack.callback(os.close, self._fd)
        nameless.unlink()
        before = signal.signal(signal.SIGURG, self._count_signal)
        stack.callback(signal.signal, signal.SIGURG, before or signal.SIG_DFL)
        self.proofs["bot-memory"] = self.proofs["bot-trace"] = self.sibling_secret

    def _count_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.signals += 1

    def _listen(self, stack: ExitStack) -> None:
        def bound(family: int, kind: int, address: str | tuple[str, int]) -> socket.socket:
            sock = stack.enter_context(socket.socket(family, kind))
            sock.setblocking(False)
            sock.bind(address)
            if kind == socket.SOCK_STREAM:
                sock.listen()
            return sock

        self._tcp = bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self._udp = bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self._path = bound(socket.AF_UNIX, socket.SOCK_STREAM, str(self.away / "socket"))
        (self.away / "socket").chmod(0o777)
        self._abstract: socket.socket | None = None
        if sys.platform == "linux":
            self._abstract = bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.mark}")

    def facts(self, sandbox: Sandbox, sibling: dict[str, object]) -> dict[str, object]:
        """All that the probe is told, as JSON."""
        return {
            "mark": self.mark,
            "private": str(self.private),
            "shared": str(self.shared),
            "hidden": str(self.hidden),
            "folder": str(self.own),
            "lock": str(self.lock),
            "tcp_port": self._tcp.getsockname()[1],
            "udp_port": self._udp.getsockname()[1],
            "socket": str(self.away / "socket"),
            "abstract": self.mark,
            "referee": {
                "pid": os.getpid(),
                "started": self.proofs["see-processes"],
                "address": ctypes.addressof(self._kept),
                "fd": self._fd,
            },
            "sibling": sibling,
            "cages": powers().folders,
            "allowed": [*GIVEN, *BY_WRAPPERS],
            "processes": sandbox.processes,
            "memory_mb": sandbox.memory_mb,
            "file_mb": sandbox.file_mb,
            "cpu_s": sandbox.cpu_s,
        }

    # ---- what was touched

    def seen(self, row: str) -> bool | None:
        """Whether it shows here that the probe did what the row says; None where nothing would show."""
        witnesses: dict[str, Callable[[], bool]] = {
            "own-folder": lambda: self._left_in(self.own),
            "tmp-seen": lambda: self._left_in(Path("/tmp")),
            "tcp": lambda: self._arrived(self._tcp),
            "udp": lambda: self._mark_in(self._udp),
            "unix-path": lambda: self._arrived(self._path),
            "unix-abstract": lambda: self._abstract is not None and self._arrived(self._abstract),
            "signal": lambda: self.signals > 0,
            "outlive": self.lock_is_held,
        }
        return witnesses[row]() if row in witnesses else None

    def _left_in(self, folder: Path) -> bool:
        path = folder / self.mark
        try:
            found = path.read_text() == self.mark
        except OSError:
            return False
        with suppress(OSError):
            path.unlink()
        return found

    def _arrived(self, listener: socket.socket) -> bool:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return False
        with connection:
            connection.settimeout(1)
            return self._mark_in(connection)

    def _mark_in(self, sock: socket.socket) -> bool:
        try:
            return sock.recv(100) == self.mark.encode()
        except OSError:
            return False

    def lock_is_held(self) -> bool:
        """Whether the process that was to outlive its bot lives: the system lets go of a lock with its holder."""
        with self.lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False
