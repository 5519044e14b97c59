"""Where the benchmarks touch the referee for single bots: kept in some way, started, stopped, talked to from inside.

It plays no match.
"""

import os
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from lastcard.referee import cages
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.limits import Idle, Limits
from lastcard.referee.player import Connection, Player
from lastcard.referee.processes import bot_environment, start_bot
from lastcard.referee.sandbox.launch import launch_of
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.sandbox.machine import missing
from lastcard.referee.seating import Keeping, player_of

LIMITS = Limits(move_ms=1000, bank_ms=10_000)


@dataclass(frozen=True)
class Kept:
    """How bots are kept; without cages, as on a machine where no cgroup can be made."""

    level: Level = Level.NONE
    idle: Idle = Idle.RUN
    caged: bool = True

    @property
    def missing(self) -> str | None:
        """Why this machine cannot do it."""
        if self.idle is Idle.FREEZE and self.caged and not cages.hierarchies():
            return "no cgroup can be made here"
        return missing(self.level)

    @contextmanager
    def applied(self) -> Generator[Keeping, None, None]:
        """Bots that are started inside are kept so."""
        real = cages.hierarchies
        try:
            if not self.caged:
                cages.hierarchies = _no_hierarchies  # type: ignore[assignment]  # in place of the cached function
            yield Keeping(Sandbox(level=self.level), (), self.idle)
        finally:
            cages.hierarchies = real


def _no_hierarchies() -> tuple[cages.Hierarchy, ...]:
    return ()


def player(seat: str, command: Sequence[str], keeping: Keeping) -> Player:
    """A bot that is started when it is greeted."""
    return player_of(BotCommand(f"instant-{seat}", tuple(command)), LIMITS, keeping, seat=seat, match="bench")


async def greeted(one: Player) -> None:
    """Start the bot, and hear its hello."""
    fault = await one.greet(0)
    if fault is not None:
        raise RuntimeError(f"an instant bot did not start: {fault.detail}")


@dataclass(frozen=True)
class Start:
    """Milliseconds of one start."""

    blocked: float
    """The referee does nothing else meanwhile."""
    hello: float
    """From the beginning to the bot's hello."""


async def start_once(command: Sequence[str], kept: Kept) -> Start:
    """Start a bot, hear its hello, and end it."""
    blocked = 0.0
    bot = BotCommand("instant", tuple(command))
    with kept.applied() as keeping:

        def launch() -> Connection:
            nonlocal blocked
            begun = time.perf_counter()
            started = start_bot(bot, seat=0, match="bench", sandbox=keeping.sandbox)
            blocked = time.perf_counter() - begun
            return started

        one = Player("instant", bot.argv, LIMITS, launch)
        begun = time.perf_counter()
        try:
            await greeted(one)
            return Start(1000 * blocked, 1000 * (time.perf_counter() - begun))
        finally:
            await one.close()


async def freeze_and_thaw(command: Sequence[str], kept: Kept, times: int) -> float:
    """Seconds for stopping a bot that waits for its next ask, and letting it go on, so many times."""
    with kept.applied() as keeping:
        one = player("0", command, keeping)
        try:
            await greeted(one)
            assert one.connection is not None, "it has been greeted"
            begun = time.perf_counter()
            for _ in range(times):
                one.connection.freeze()
                one.connection.thaw()
            return time.perf_counter() - begun
        finally:
            await one.close()


_numbers = count(10**6)


@contextmanager
def confined(command: Sequence[str], level: Level) -> Generator["subprocess.Popen[bytes]", None, None]:
    """A bot in its sandbox, started as the referee does it, but with blocking pipes and nobody who watches it.

    The referee must not end another bot meanwhile: it would take this one for something that the other has left.
    """
    bot, sandbox = BotCommand("instant", tuple(command)), Sandbox(level=level)
    limited = level is not Level.NONE
    cage = cages.Cage.make(
        f"{cages.PREFIX}-{os.getpid()}-{next(_numbers)}",
        memory_mb=sandbox.memory_mb if limited else None,
        processes=sandbox.processes if limited else None,
    )
    launch = launch_of(bot, sandbox, bot_environment(bot, 0, "bench"), cage, ())
    child = subprocess.Popen(
        launch.argv, env=launch.env, cwd=launch.cwd, pass_fds=launch.pass_fds,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True,
    )  # fmt: skip
    launch.started()
    try:
        yield child
    finally:
        child.communicate()
        if cage is not None:
            cage.kill()
            cage.remove()
        launch.release()
