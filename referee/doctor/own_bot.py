"""Whether somebody's own bot comes up at each level under the limits that a match would set; it plays nothing."""

import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.limits import Limits
from lastcard.referee.player import Player
from lastcard.referee.processes import BotProcess, start_bot
from lastcard.referee.sandbox.launch import problem
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.sandbox.machine import missing
from lastcard.referee.trees import descendants

START_MS = 10_000
REASON = "lastcard doctor has seen enough"


class ComesUp(Struct, kw_only=True):
    """How a bot's start went at one level."""

    level: Level
    unavailable: str = ""
    """Why it cannot be tried here."""
    fault: str = ""
    """Why it did not come up."""
    stderr: list[str] = []
    description: str = ""
    name: str = ""
    version: str = ""
    hello_ms: float = 0.0
    memory_mb: float = 0.0
    """The most that it and its children have used until the hello."""


async def comes_up(command: BotCommand, levels: Sequence[Level]) -> list[ComesUp]:
    """One start a level, one after the other."""
    return [await start_at(command, Sandbox(level=level)) for level in levels]


async def start_at(command: BotCommand, sandbox: Sandbox) -> ComesUp:
    """Start it, exchange hellos, end it."""
    found = ComesUp(level=sandbox.level)
    found.unavailable = missing(sandbox.level) or ""
    found.fault = "" if found.unavailable else problem(command, sandbox, ()) or ""
    if found.unavailable or found.fault:
        return found
    started: list[BotProcess] = []

    def launch() -> BotProcess:
        started.append(start_bot(command, seat=0, match="doctor", sandbox=sandbox))
        return started[0]

    player = Player(command.name, command.argv, Limits(start_ms=START_MS), launch)
    begun = time.perf_counter()
    try:
        fault = await player.greet(0)
        found.hello_ms = round(1000 * (time.perf_counter() - begun), 1)
        found.description = player.confined
        if fault is not None:
            found.fault, found.stderr = fault.detail, fault.stderr.splitlines()
        elif player.hello is not None:
            found.name, found.version = player.hello.name or "", player.hello.version or ""
            found.memory_mb = round(most_memory(started[0].pid), 1)
    finally:
        await player.part(REASON)
    return found


def most_memory(pid: int) -> float:
    """The most memory that the processes of this tree have used, in MB; 0 where there is no /proc."""
    total = 0
    for each in (pid, *descendants(pid)):
        try:
            status = Path(f"/proc/{each}/status").read_text()
        except OSError:  # it has just ended
            continue
        total += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    return total / 1024
