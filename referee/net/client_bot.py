"""A user's own bot behind `lastcard connect`: a child process with his environment, ended with all that it started.

Knows no message. Its standard error is ours, untouched.
"""

import os
import secrets
import subprocess
from contextlib import suppress
from typing import Final, Protocol

import trio

from lastcard.referee import hardening, trees
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.channel import MAX_READ
from lastcard.referee.exit_words import exit_words
from lastcard.referee.process_groups import GROUPS, KILL_LIMIT, Tree, watch_groups
from lastcard.referee.processes import LOOK_EVERY, open_pidfd, peek
from lastcard.referee.start_error import StartError

SEAT: Final = "remote"
"""The label of a bot whose real seat the referee says later."""


class Bot(Protocol):
    """What the client needs of a running bot."""

    async def receive(self) -> bytes:
        """The next bytes that it says; b"" at the end."""
        ...

    async def send(self, data: bytes) -> None:
        """Give it all of this, as fast as it reads. Raises trio.BrokenResourceError when it never will."""
        ...

    def close_input(self) -> None:
        """End its input."""
        ...

    async def gone(self) -> None:
        """Wait until its process has ended."""
        ...

    def exit_status(self) -> str | None:
        """How it ended, in words; None while it runs."""
        ...

    async def close(self, grace: float) -> None:
        """End it with all that it has started, within so many seconds if it does not leave by itself."""
        ...


class OwnBot:
    """A process of the user's: `start_own_bot` makes one, `close` must be awaited in the end."""

    def __init__(self, child: subprocess.Popen[bytes], tree: Tree, stdin: int, stdout: int) -> None:
        self._child = child
        self._tree = tree
        self._input: trio.lowlevel.FdStream | None = trio.lowlevel.FdStream(stdin)
        self._output = trio.lowlevel.FdStream(stdout)
        self._pidfd = open_pidfd(child.pid)
        self._code: int | None = None
        self._gone = trio.Event()
        self._closed = False
        GROUPS.add(tree)
        watch_groups()
        # A system task: it ends with the descriptor that `close` closes, whichever nursery is cancelled.
        trio.lowlevel.spawn_system_task(self._watch)

    async def _watch(self) -> None:
        if self._pidfd is None:
            while not self._closed and self._exit_code is None:  # noqa: ASYNC110 - the system has no event for it
                await trio.sleep(0.02)
        else:
            with suppress(trio.ClosedResourceError):
                await trio.lowlevel.wait_readable(self._pidfd)
        self._gone.set()

    # ---- the conversation

    async def receive(self) -> bytes:
        """See `Bot`."""
        try:
            return bytes(await self._output.receive_some(MAX_READ))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def send(self, data: bytes) -> None:
        """See `Bot`."""
        if self._input is None:
            raise trio.BrokenResourceError("its input is closed")
        await self._input.send_all(data)

    def close_input(self) -> None:
        """See `Bot`."""
        if self._input is not None:
            self._input.close()
            self._input = None

    # ---- its end

    @property
    def _exit_code(self) -> int | None:
        """It stays unreaped until `close`, so that its number still names its group."""
        if self._code is None:
            self._code = peek(self._child)
        return self._code

    async def gone(self) -> None:
        """See `Bot`."""
        await self._gone.wait()

    def exit_status(self) -> str | None:
        """See `Bot`."""
        return None if self._exit_code is None else exit_words(self._exit_code)

    async def close(self, grace: float) -> None:
        """See `Bot`. Cancelled, it kills at once."""
        self.close_input()
        try:
            with trio.move_on_after(grace):
                await self._gone.wait()
        finally:
            with trio.CancelScope(shield=True):
                self._let_go(await self._end_tree())

    async def _end_tree(self) -> bool:
        until = trio.current_time() + KILL_LIMIT
        while not self._closed and trio.current_time() < until:
            dead = self._exit_code is not None  # asked first: at its death its children go to another parent
            if GROUPS.strike(self._tree) and dead:
                return True
            await trio.sleep(LOOK_EVERY)
        return False

    def _let_go(self, ended: bool) -> None:
        if self._closed:
            return
        self._closed = True
        self._output.close()
        if self._pidfd is not None:
            trio.lowlevel.notify_closing(self._pidfd)
            os.close(self._pidfd)
        if ended:  # else it is stuck in the kernel, and the keeper goes on trying
            self._child.wait()
            GROUPS.remove(self._tree)


def start_own_bot(command: BotCommand, secret: str) -> OwnBot:
    """Start it in a session of its own, without the variable `secret`. Raises StartError.

    Call it from trio's thread; it blocks until the program runs.
    """
    hardening.clean_signals()
    mark = (SEAT, secrets.token_hex(4))
    environment = {**os.environ, **command.env, trees.SEAT: mark[0], trees.MATCH: mark[1]}
    environment.pop(secret, None)
    opened: list[int] = []
    try:
        opened += os.pipe()
        opened += os.pipe()
        child = subprocess.Popen(
            command.argv, stdin=opened[0], stdout=opened[3], env=environment, cwd=command.cwd, start_new_session=True
        )
    except OSError as error:
        for fd in opened:
            os.close(fd)
        what = os.strerror(error.errno) if error.errno else str(error)
        raise StartError(f"bot {command.name}: cannot start {command.argv[0]}: {what}") from error
    os.close(opened[0])
    os.close(opened[3])
    return OwnBot(child, Tree(child.pid, mark, None), opened[1], opened[2])
