"""Players that are child processes of this referee: made out of commands, and parted from. Knows no tournament."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import trio

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.limits import Idle, Limits
from lastcard.referee.player import Connection, Player
from lastcard.referee.processes import start_bot
from lastcard.referee.sandbox.levels import Sandbox


class Keeping(NamedTuple):
    """How bots are kept: what each may do, which files none may see, and whether it runs while it owes nothing."""

    sandbox: Sandbox
    hidden: tuple[Path, ...]
    idle: Idle


def player_of(command: BotCommand, limits: Limits, keeping: Keeping, *, seat: int | str, match: str) -> Player:
    """A player that starts this command when it is greeted. No other living bot may have this seat and match."""

    def launch() -> Connection:
        return start_bot(command, seat=seat, match=match, sandbox=keeping.sandbox, hidden=keeping.hidden)

    return Player(command.name, command.argv, limits, launch, idle=keeping.idle)


async def part_all(players: Sequence[Player], reason: str) -> None:
    """Say bye to all and end them, the slowest at most two seconds later."""
    async with trio.open_nursery() as nursery:
        for player in players:
            nursery.start_soon(player.part, reason)
