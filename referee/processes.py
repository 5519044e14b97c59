"""One bot as a child process: started, watched, ended with all its group; it knows no message and no rule.

A bot is started from trio's own thread by `subprocess.Popen`: trio's worker threads end after ten idle
seconds and take with them every bot that has a parent-death signal, and a `preexec_fn` would fork all our
memory (42 ms, not 1).
"""

import errno
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress

import trio

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.fd_channel import FdChannel
from lastcard.referee.process_groups import GROUPS, kill_group
from lastcard.referee.stderr import StderrTail

GRACE = 2.0
"""Seconds that a bot gets to leave by itself after the end of its input."""

STATUS_PATIENCE = 0.2
"""Seconds to wait for an exit status after the end of a bot's output."""

KILL_LIMIT = 1.0
"""A process that exists so long after SIGKILL is stuck in the kernel: it is left behind, and said so."""

OUR_FAULT = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""Errors of a start that say nothing about the bot."""


Ends = tuple[int, int, int]
"""Descriptors for stdin, stdout and stderr."""


class StartError(Exception):
    """A bot could not be started. The text is one sentence; `host` says that the machine is to blame."""

    def __init__(self, sentence: str, *, host: bool = False) -> None:
        super().__init__(sentence)
        self.host = host


def exit_words(code: int) -> str:
    """How a process ended, from a return code as `subprocess` gives it."""
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def bot_environment(command: BotCommand, seat: int | str, match: str) -> dict[str, str]:
    """All that a bot's environment holds: nothing of ours leaks, and nothing of ours helps a bot along."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "LASTCARD_SEAT": str(seat),
        "LASTCARD_MATCH": match,
        **command.env,
    }


class BotProcess:
    """A running bot: `start_bot` makes one, `close` must be awaited in the end."""

    def __init__(self, command: BotCommand, child: subprocess.Popen[bytes], ends: Ends) -> None:
        self.command = command
        self.pid = child.pid
        stdin, stdout, stderr = ends
        self.channel = FdChannel(stdout, stdin)
        self.stderr = StderrTail(stderr)
        self.stuck = False
        """Not even SIGKILL has ended it."""
        self._child = child
        self._code: int | None = None
        self._pidfd = _open_pidfd(child.pid)
        self._gone = trio.Event()
        self._closed = False
        GROUPS.add(self.pid)
        # System tasks: they end with the descriptors that `close` closes, whichever nursery is cancelled.
        trio.lowlevel.spawn_system_task(self.stderr.drain)
        trio.lowlevel.spawn_system_task(self._watch)

    async def _watch(self) -> None:
        """Notice the death of the process itself, though its children may hold its pipes open."""
        if self._pidfd is None:
            while not self._closed and self.exit_code is None:  # noqa: ASYNC110 - the system has no event for it
                await trio.sleep(0.02)
        else:
            with suppress(trio.ClosedResourceError):
                await trio.lowlevel.wait_readable(self._pidfd)
        if not self._closed:
            self.channel.hang_up()
        self._gone.set()

    # ---- how it ended

    @property
    def exit_code(self) -> int | None:
        """None while it runs. It stays unreaped until `close`, so that its number still names its group."""
        if self._code is None:
            self._code = _peek(self._child)
        return self._code

    async def exit_status(self, patience: float = STATUS_PATIENCE) -> str | None:
        """How it ended in words, waiting so long for the end; None if it still runs."""
        with trio.move_on_after(patience):
            await self._gone.wait()
        return None if self.exit_code is None else exit_words(self.exit_code)

    # ---- ending it

    def kill_now(self) -> None:
        """SIGKILL to the whole group, without waiting: for a signal handler, or for somebody in a hurry."""
        if not self._closed:
            kill_group(self.pid)

    async def close(self, grace: float = GRACE) -> None:
        """End its input, give it `grace` seconds to leave, then kill all its group and let go of everything.

        Cancelled, it kills at once. It never waits for the end of the output: children may hold it open.
        """
        if self._closed:
            return
        self.channel.close_write()
        try:
            await self.exit_status(grace)
        finally:
            # The leader may have exited, but is not reaped yet: the number cannot be another group's.
            kill_group(self.pid)
            with trio.CancelScope(shield=True):
                await self.exit_status(KILL_LIMIT)
                await self._let_go()

    async def _let_go(self) -> None:
        if self._closed:
            return
        self.stuck = self.exit_code is None
        self.stderr.catch_up()
        self._closed = True
        self.channel.close()
        self.stderr.close()
        if self._pidfd is not None:
            trio.lowlevel.notify_closing(self._pidfd)
            os.close(self._pidfd)
        if not self.stuck:
            self._child.wait()
            await _bury(self.pid)
            GROUPS.remove(self.pid)


async def close_all(bots: Iterable[BotProcess], grace: float = GRACE) -> None:
    """Close several at once: the slowest, not the sum of all, is waited for."""
    async with trio.open_nursery() as nursery:
        for bot in bots:
            nursery.start_soon(bot.close, grace)


async def _bury(group: int) -> None:
    """Reap what came to us of the killed group (see `hardening`); mostly init has adopted it all."""
    until = time.perf_counter() + KILL_LIMIT
    with suppress(ChildProcessError):
        while time.perf_counter() < until:
            if os.waitpid(-group, os.WNOHANG) == (0, 0):  # noqa: ASYNC222 - does not block
                await trio.sleep(0.001)


def _open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there is none: then we poll."""
    with suppress(OSError):
        return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    return None


def _peek(child: subprocess.Popen[bytes]) -> int | None:
    """The return code, without reaping where the system can (macOS learnt `waitid` with Python 3.13)."""
    if child.returncode is not None or not hasattr(os, "waitid"):
        return child.poll()
    status = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if status is None:
        return None
    return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status


# ---- starting


def start_bot(command: BotCommand, *, seat: int | str, match: str) -> BotProcess:
    """Start it in a session of its own. Call it from trio's thread; it blocks for about a millisecond."""
    opened: list[int] = []
    try:
        ours, theirs = _pipes(opened)
        child = subprocess.Popen(
            command.argv,
            stdin=theirs[0],
            stdout=theirs[1],
            stderr=theirs[2],
            env=bot_environment(command, seat, match),
            cwd=command.cwd,
            start_new_session=True,
        )
    except OSError as error:
        for fd in opened:
            os.close(fd)
        raise _start_error(command, error) from error
    for fd in theirs:
        os.close(fd)
    return BotProcess(command, child, ours)


def _pipes(opened: list[int]) -> tuple[Ends, Ends]:
    """Three pipes: our ends, and the bot's."""
    for _ in range(3):
        opened += os.pipe()
    return (opened[1], opened[2], opened[4]), (opened[0], opened[3], opened[5])


def _start_error(command: BotCommand, error: OSError) -> StartError:
    what = os.strerror(error.errno) if error.errno else str(error)
    sentence = f"bot {command.name}: cannot start {command.argv[0]}: {what}"
    return StartError(sentence, host=error.errno in OUR_FAULT)
