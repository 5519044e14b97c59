"""Small programs that behave in one particular way, and how a test starts them; they know no protocol."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.processes import BotProcess, start_bot

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


@asynccontextmanager
async def running(command: BotCommand, *, grace: float = 0.0) -> AsyncIterator[BotProcess]:
    """The child, ended in any case."""
    bot = start_bot(command, seat=0, match="m1")
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
        found |= set((task / "children").read_text().split())
    return found
