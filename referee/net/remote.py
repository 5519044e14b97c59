"""A bot that plays over TCP, as a match sees it: a player whose connection may be lost and come back.

It is never started by us: to greet it is to wait until it is here. What it lost with a connection it is told anew;
its clock has run on meanwhile.
"""

import time
from math import inf

from lastcard.referee.faults import Fault, FaultKind, Phase
from lastcard.referee.limits import Limits
from lastcard.referee.net.door import Login
from lastcard.referee.net.lobby import Place
from lastcard.referee.net.socket_channel import SocketChannel
from lastcard.referee.player import Player
from lastcard.referee.processes import GRACE, STATUS_PATIENCE, StartError


class NoStderr:
    """Standard error stays with the author."""

    kept = b""

    def catch_up(self) -> None:
        """There is nothing to read."""

    def new_match(self) -> None:
        """There is nothing to part."""


class RemoteConnection:
    """One login: `player.Connection`."""

    def __init__(self, login: Login) -> None:
        self.login = login
        self.stderr = NoStderr()
        self.description = "remote"
        self.never_began = False

    @property
    def channel(self) -> SocketChannel:
        """The socket."""
        return self.login.channel

    def freeze(self) -> None:
        """What runs elsewhere cannot be stopped."""

    def thaw(self) -> None:
        """It was not."""

    async def exit_status(self, patience: float = STATUS_PATIENCE) -> str | None:
        """Nobody here sees how it ended."""
        del patience
        return None

    async def close(self, grace: float = GRACE) -> None:
        """End the connection; the peer has so long to read what is under way."""
        await self.channel.part(grace)


class RemotePlayer(Player):
    """A remote bot in the matches of one table."""

    returns = True

    def __init__(self, place: Place, limits: Limits) -> None:
        super().__init__(place.name, (f"tcp:{place.name}",), limits, _cannot_start)
        self._place = place
        self._login: Login | None = None

    async def greet(self, seat: int) -> Fault | None:
        """Wait until it is here, as long as a bot may take to start."""
        if self.connection is not None and not self.ended:
            return None
        await self.close(grace=0)
        limit = self.limits.start_ms
        if await self._takes_next(time.perf_counter() + limit / 1000 if self.limits.enforced else inf):
            return None
        return Fault(
            seat=seat, kind=FaultKind.STARTUP, phase=Phase.HELLO, of=self.limits.strikes, repeat=self.repeat,
            detail=f"not connected within {limit} ms", limit_ms=limit, elapsed_ms=limit,
        )  # fmt: skip

    async def come_back(self, deadline: float) -> bool:
        """Wait for a connection in place of the one that was lost; the ask open there is the next one here."""
        lost = self.conversation
        if not await self._takes_next(deadline):
            return False
        self.conversation.go_on_from(lost)
        return True

    async def _takes_next(self, deadline: float) -> bool:
        login = await self._place.newer_than(self._login, deadline)
        if login is None:
            return False
        self._login = login
        self.connection = RemoteConnection(login)
        self.conversation, self.hello, self.ended = login.conversation, login.hello, False
        self.confined = "remote"
        return True

    async def part(self, reason: str, grace: float = GRACE) -> None:
        """Send it away from this match; it may log in again for the next."""
        if self.connection is not None:
            self.channel.write_now(self.conversation.bye(reason, again=True))
        await self.close(grace)


def _cannot_start() -> RemoteConnection:
    raise StartError("a remote bot is not started by its referee", host=True)
