"""Small programs that behave in one particular way, and how a test starts them; they know no protocol."""

import ctypes
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import count
from pathlib import Path

import trio

from lastcard.referee import cages, hardening
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.processes import UNCONFINED, BotProcess, start_bot
from lastcard.referee.sandbox.levels import Sandbox

# Everything a child needs; without site and environment it starts in 8 ms.
PRELUDE = """
import os, signal, subprocess, sys, time
def line():
    data = b""
    while not data.endswith(b"\\n"):
        byte = os.read(0, 1)
        if not byte:
            raise SystemExit(0)
        data += byte
    return data
def say(data, fd=1):
    while data:
        data = data[os.write(fd, data):]
def hang():
    while True:
        signal.pause()
"""

ECHO = "while True: say(line())"
HANG = "say(b'ready\\n'); hang()"


def python(script: str, *, name: str = "child", **environment: str) -> BotCommand:
    """The command of a child that runs this script."""
    return BotCommand(name, (sys.executable, "-S", "-E", "-I", "-c", PRELUDE + script), env=environment)


def shell(script: str) -> BotCommand:
    """The command of a child that the system's shell runs."""
    return BotCommand("shell", ("/bin/sh", "-c", script))


_matches = count(1)


@asynccontextmanager
async def running(
    command: BotCommand, *, grace: float = 0.0, sandbox: Sandbox = UNCONFINED, match: str = ""
) -> AsyncIterator[BotProcess]:
    """The child, ended in any case."""
    bot = start_bot(command, seat=0, match=match or f"m{next(_matches)}", sandbox=sandbox)
    try:
        yield bot
    finally:
        await bot.close(grace)


def soon(bot: BotProcess, seconds: float = 10.0) -> float:
    """A deadline that only a broken test reaches."""
    return bot.channel.clock() + seconds


async def receive_until(bot: BotProcess, ending: bytes = b"\n") -> bytes:
    """What the child says, up to a chunk that ends so."""
    said = b""
    while not said.endswith(ending):
        data = await bot.channel.receive(soon(bot))
        assert data, f"the child ended after {said!r}; its stderr: {bot.stderr.kept!r}"
        said += data
    return said


async def gone(pid: int) -> bool:
    """Whether a process that is no child of ours ends within some seconds (a zombie has ended)."""
    with trio.move_on_after(5):
        while _alive(pid):  # noqa: ASYNC110 - the system has no event for another's child
            await trio.sleep(0.002)
        return True
    return False


def _alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def open_files() -> int:
    """How many descriptors this process has open."""
    return len(os.listdir("/dev/fd"))


def children() -> set[str]:
    """The numbers of this process's own children, zombies included."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a worker thread of trio's that has just ended
            found |= set((task / "children").read_text().split())
    return found


# ---- what is left


def bearing(word: str) -> list[str]:
    """Every process with this word in its command line or environment, as "PID COMMAND"; ourselves left aside."""
    found: list[str] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with suppress(OSError):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                if word in line or word.encode() in (folder / "environ").read_bytes():
                    found.append(f"{folder.name} {line}")
    return found


def cages_left(referee: int | None = None) -> list[str]:
    """The folders of a referee's cages, of this process's if no other is named."""
    name = f"lastcard-{os.getpid() if referee is None else referee}-*"
    return [str(path) for tree in cages.hierarchies() for path in Path(tree.folder).glob(name)]


@contextmanager
def without_cages() -> Iterator[None]:
    """As on a machine that lets us make no cgroup."""
    real = cages.hierarchies
    cages.hierarchies = _none  # type: ignore[assignment]  # in place of the cached function
    try:
        yield
    finally:
        cages.hierarchies = real


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """As in a referee that was started from the command line; tests that start a referee do not want it."""
    hardening.adopt_orphans()
    try:
        yield
    finally:
        hardening.adopt_orphans.cache_clear()
        ctypes.CDLL(None).prctl(hardening.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _none() -> tuple[cages.Hierarchy, ...]:
    return ()
