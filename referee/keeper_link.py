"""The referee's end of the line to its keeper (see `keeper.py`), which is started anew when somebody ends it."""

import fcntl
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import trio

KEEPER = (sys.executable, "-S", "-E", "-I", str(Path(__file__).with_name("keeper.py")))

PATIENCE = 1.0
"""Seconds that the keeper may take to leave when it is dismissed."""

REST = 1.0
"""Seconds between two new keepers, should a bot hunt them."""

PIPE = 1 << 20
"""Bytes that the keeper may be behind: as many as the system gives to anybody."""

PIDFDS = hasattr(os, "pidfd_open")


class KeeperLink:
    """Tells the keeper of every bot, and remembers all that a new one has to be told."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd: int | None = None

    @property
    def pid(self) -> int | None:
        """Its number, for those who must not take it for an orphan."""
        return None if self._process is None else self._process.pid

    def expected(self, mark: tuple[str, str], folders: tuple[str, ...]) -> None:
        """A bot is about to be started: until `started` or `withdrawn` the referee may be killed."""
        if self._process is None:
            self._start()
        self._tell(_line(None, mark, folders))

    def withdrawn(self) -> None:
        """It could not be started."""
        self._tell(b'{"end": null}\n')

    def started(self, pid: int, mark: tuple[str, str], folders: tuple[str, ...]) -> None:
        """A bot has been started."""
        self._known[pid] = _line(pid, mark, folders)
        if self._process is None:
            self._start()
        else:
            self._tell(self._known[pid])

    def ended(self, pid: int) -> None:
        """A bot has been ended with all its tree; its number may soon be somebody else's."""
        if self._known.pop(pid, None) is not None:
            self._tell(b'{"end": %d}\n' % pid)

    def dismiss(self) -> None:
        """Let the keeper go, which ends what it still knows of. Blocks some milliseconds."""
        keeper = self._process
        if keeper is None or keeper.stdin is None:
            return
        with suppress(OSError):
            keeper.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            keeper.wait(PATIENCE)
        self._let_go()

    def _start(self) -> None:
        with suppress(OSError):  # no free descriptor, say: the other nets are left, and the next bot tries again
            self._process = subprocess.Popen(
                [*KEEPER, str(os.getpid()), str(os.getsid(0))],  # it may come to read them when we are gone
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                bufsize=0, start_new_session=True, cwd="/", env={},
            )  # fmt: skip
            assert self._process.stdin is not None, "asked for above"
            os.set_blocking(self._process.stdin.fileno(), False)
            with suppress(OSError, AttributeError):  # a quota, or a system without
                fcntl.fcntl(self._process.stdin, fcntl.F_SETPIPE_SZ, PIPE)
            self._write(b"".join(self._known.values()))
            if PIDFDS:
                self._pidfd = os.pidfd_open(self._process.pid)

    def _tell(self, line: bytes) -> None:
        if self._process is not None:
            try:
                self._write(line)
            except OSError:
                self._replace()

    def _write(self, data: bytes) -> None:
        assert self._process is not None, "asked before"
        assert self._process.stdin is not None, "asked for at its start"
        taken = self._process.stdin.write(data)
        if taken != len(data):  # it has stood still for a megabyte: somebody has stopped it
            raise BlockingIOError

    def _replace(self) -> None:
        """Somebody killed or stopped the keeper: its successor learns everything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._let_go()
        self._start()

    def _let_go(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._process = None
        if self._pidfd is not None:
            with suppress(RuntimeError):  # outside of a trio run nobody can be waiting
                trio.lowlevel.notify_closing(self._pidfd)
            os.close(self._pidfd)
        self._pidfd = None

    async def watch(self) -> None:
        """Start a new keeper soon after the end of one."""
        while PIDFDS:
            if self._pidfd is not None:
                with suppress(trio.ClosedResourceError):
                    await trio.lowlevel.wait_readable(self._pidfd)
                    self._replace()
            await trio.sleep(REST)


def _line(pid: int | None, mark: tuple[str, str], folders: tuple[str, ...]) -> bytes:
    return json.dumps({"start": pid, "mark": mark, "cage": folders}).encode() + b"\n"
