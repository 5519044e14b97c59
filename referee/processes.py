"""One bot as a child process: started, watched, ended with all that descends from it; it knows no message and no rule.

A bot is started from trio's own thread by `subprocess.Popen`: trio's worker threads end after ten idle
seconds and take with them every bot that has a parent-death signal, and a `preexec_fn` would fork all our
memory (42 ms, not 1). The start blocks until the program runs; a network filesystem that hangs just then
hangs the referee.
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

import trio

from lastcard.referee import hardening, trees
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.cages import PREFIX, Cage
from lastcard.referee.exit_words import exit_code_of, exit_words
from lastcard.referee.fd_channel import FdChannel
from lastcard.referee.process_groups import GROUPS, KILL_LIMIT, Tree, watch_groups
from lastcard.referee.sandbox.launch import Launch, launch_of
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.start_error import StartError as StartError  # who calls start_bot finds it here
from lastcard.referee.start_error import refused
from lastcard.referee.stderr import StderrTail

GRACE = 2.0
"""Seconds that a bot gets to leave by itself after the end of its input."""

STATUS_PATIENCE = 0.2
"""Seconds to wait for an exit status after the end of a bot's output."""

LOOK_EVERY = 0.001
"""Seconds between two looks at what has been killed."""

UNCONFINED = Sandbox()

WRAPPERS = 2
"""Processes of bubblewrap that a strict bot's cage counts beside its own."""

Ends = tuple[int, int, int]
"""Descriptors for stdin, stdout and stderr."""


class BotProcess:
    """A running bot: `start_bot` makes one, `close` must be awaited in the end."""

    def __init__(
        self, child: subprocess.Popen[bytes], ends: Ends, *, tree: Tree, launch: Launch, sandbox: Sandbox
    ) -> None:
        self.pid = child.pid
        stdin, stdout, stderr = ends
        self.channel = FdChannel(stdout, stdin)
        self.stderr = StderrTail(stderr)
        self.description = launch.description
        """How it is confined, for the log."""
        self.stuck = False
        """Not even SIGKILL has ended all of it."""
        self._child = child
        self._tree = tree
        self._launch = launch
        self._sandbox = sandbox
        self._code: int | None = None
        self._out_of_memory = False
        self._pidfd = open_pidfd(child.pid)
        self._frozen = False
        self._stopped: list[int] = []
        """Who has been stopped by signals, where no cage can do it."""
        self._gone = trio.Event()
        self._closed = False
        GROUPS.add(tree)
        watch_groups()
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
            code = peek(self._child)
            self._code = None if code is None else exit_code_of(code, wrapped=self._launch.wrapped)
        return self._code

    async def exit_status(self, patience: float = STATUS_PATIENCE) -> str | None:
        """How it ended in words, waiting so long for the end; None if it still runs."""
        with trio.move_on_after(patience):
            await self._gone.wait()
        if self.exit_code is None:
            return None
        return exit_words(self.exit_code, self._sandbox, out_of_memory=self._was_out_of_memory())

    @property
    def never_began(self) -> bool:
        """Whether it has ended because its sandbox could not be set up: its own program has not run."""
        status = self._launch.status
        return status is not None and self.exit_code is not None and self.exit_code > 0 and not status.ran()

    def _was_out_of_memory(self) -> bool:
        if not self._closed and self._tree.cage:
            self._out_of_memory = self._tree.cage.out_of_memory()
        return self._out_of_memory

    # ---- standing still

    def freeze(self) -> None:
        """Stop it with all that it has started, until `thaw` or `close`."""
        if self._closed or self._frozen:
            return
        self._frozen = True
        if not (self._tree.cage and self._tree.cage.freeze()):
            self._stopped = trees.stop([self.pid, *GROUPS.members(self._tree)])

    def thaw(self) -> None:
        """Let it run again; it does when this returns."""
        if self._closed or not self._frozen:
            return
        self._frozen = False
        if self._tree.cage:
            self._tree.cage.thaw()
        trees.signal_all(self._stopped, signal.SIGCONT)
        self._stopped = []

    # ---- ending it

    async def close(self, grace: float = GRACE) -> None:
        """End its input, give it `grace` seconds to leave, then kill all that is left and let go of everything.

        Cancelled, it kills at once. It never waits for the end of the output: children may hold it open.
        """
        if self._closed:
            return
        self.thaw()
        self.channel.close_write()
        try:
            await self.exit_status(grace)
        finally:
            with trio.CancelScope(shield=True):
                ended = await self._end_tree()
                self._let_go(ended)

    async def _end_tree(self) -> bool:
        """Kill until nothing lives. The first process may have exited, but is not reaped: its number is its own."""
        self._was_out_of_memory()
        until = trio.current_time() + KILL_LIMIT
        while not self._closed:
            dead = self.exit_code is not None  # asked first: at its death its children go to another parent
            if GROUPS.strike(self._tree) and dead:
                return True
            if trio.current_time() > until:
                break
            await trio.sleep(LOOK_EVERY)
        return False

    def _let_go(self, ended: bool) -> None:
        if self._closed:
            return
        self.stuck = not ended
        self.stderr.catch_up()
        self._closed = True
        self.channel.close()
        self.stderr.close()
        if self._pidfd is not None:
            trio.lowlevel.notify_closing(self._pidfd)
            os.close(self._pidfd)
        if ended:
            self._child.wait()
            if self._tree.cage:
                self._tree.cage.remove()
            self._launch.release()
            GROUPS.remove(self._tree)


def open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there is none: then we poll."""
    with suppress(OSError):
        return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    return None


def peek(child: subprocess.Popen[bytes]) -> int | None:
    """The return code, without reaping where the system can (macOS learnt `waitid` with Python 3.13)."""
    if child.returncode is not None or not hasattr(os, "waitid"):
        return child.poll()
    status = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if status is None:
        return None
    return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status


# ---- starting


def bot_environment(command: BotCommand, seat: int | str, match: str) -> dict[str, str]:
    """All that a bot's environment holds: nothing of ours leaks, and nothing of ours helps a bot along."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        **command.env,
        # Last, because by these two we find what a bot leaves behind.
        trees.SEAT: str(seat),
        trees.MATCH: match,
    }


_numbers = count(1)


def start_bot(
    command: BotCommand,
    *,
    seat: int | str,
    match: str,
    sandbox: Sandbox = UNCONFINED,
    hidden: Sequence[Path] = (),
) -> BotProcess:
    """Start it in a session of its own, at the sandbox's level. Call it from trio's thread; it blocks for a moment.

    No two bots that live at the same time have the same seat and match. `hidden` are files and folders that
    a strict bot does not see, whatever it may read beside.
    """
    hardening.clean_signals()
    cage = _cage(sandbox)
    mark = (str(seat), match)
    GROUPS.expect(mark, cage)
    opened: list[int] = []
    launch: Launch | None = None
    try:
        launch = launch_of(command, sandbox, bot_environment(command, seat, match), cage, hidden)
        ours, theirs = _pipes(opened)
        child = _spawn(launch, theirs)
    except (OSError, StartError) as error:
        for fd in opened:
            os.close(fd)
        if launch is not None:
            launch.started()
            launch.release()
        if cage is not None:
            cage.remove()
        GROUPS.forget()
        if isinstance(error, StartError):
            raise
        raise refused(command.name, command.argv[0], error) from error
    for fd in theirs:
        os.close(fd)
    launch.started()
    tree = Tree(child.pid, mark, cage)
    return BotProcess(child, ours, tree=tree, launch=launch, sandbox=sandbox)


def _cage(sandbox: Sandbox) -> Cage | None:
    name = f"{PREFIX}-{os.getpid()}-{next(_numbers)}"
    if sandbox.level is Level.NONE:
        return Cage.make(name, memory_mb=None, processes=None)
    more = WRAPPERS if sandbox.level is Level.STRICT else 0
    return Cage.make(name, memory_mb=sandbox.memory_mb, processes=sandbox.processes + more)


def _spawn(launch: Launch, ends: Ends) -> subprocess.Popen[bytes]:
    stdin, stdout, stderr = ends
    return subprocess.Popen(
        launch.argv,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=launch.env,
        cwd=launch.cwd,
        pass_fds=launch.pass_fds,
        start_new_session=True,
    )


def _pipes(opened: list[int]) -> tuple[Ends, Ends]:
    """Three pipes: our ends, and the bot's."""
    for _ in range(3):
        opened += os.pipe()
    return (opened[1], opened[2], opened[4]), (opened[0], opened[3], opened[5])
