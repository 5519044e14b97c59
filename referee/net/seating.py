"""Seats remote bots and bots of this machine at the same tables: the `MatchPlayer` of `lastcard serve`."""

import ssl
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from socket import socket

import trio

from lastcard.protocol import State
from lastcard.referee.net.door import Door
from lastcard.referee.net.lobby import Lobby
from lastcard.referee.net.remote import RemotePlayer
from lastcard.referee.player import Player
from lastcard.referee.processes import GRACE
from lastcard.referee.seating import ProcessSeating, SeatedTable, local_players, part_all
from lastcard.referee.tournament.ports import Bot


class NetSeating(ProcessSeating):
    """Listens while a run goes on. `expected` holds the hash of each remote bot's token."""

    def __init__(
        self,
        expected: Mapping[str, str],
        listeners: Sequence[socket],
        *,
        start_ms: int,
        patience: float,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._expected = expected
        self._listeners = listeners
        self._start_ms = start_ms
        self._patience = patience
        self._context = context
        self._lobby = Lobby(expected, lambda _: None)
        self._gathered = trio.Event()

    def problem(self, bot: Bot) -> str | None:
        """Why the bot cannot be started, as a sentence; whether a remote one comes cannot be known before."""
        return None if bot.name in self._expected else super().problem(bot)

    @asynccontextmanager
    async def opened(self, say: Callable[[str], None]) -> AsyncGenerator[None]:
        """Listen, and gather the bots that are to come; bye to all in the end."""
        self._lobby = Lobby(self._expected, say)
        self._gathered = trio.Event()
        door = Door(self._expected, self._lobby.let_in, start_ms=self._start_ms, context=self._context)
        async with trio.open_nursery() as nursery:
            for listener in self._listeners:
                nursery.start_soon(door.serve, listener)
            nursery.start_soon(self._gather, say)
            try:
                yield
            finally:
                with trio.CancelScope(shield=True):
                    await self._lobby.part(GRACE)
                nursery.cancel_scope.cancel()
        for listener in self._listeners:
            listener.close()

    async def _gather(self, say: Callable[[str], None]) -> None:
        if missing := await self._lobby.gather(self._patience):
            say(f"not here after {self._patience:.0f} s: {', '.join(missing)}; the others begin")
        self._gathered.set()

    @asynccontextmanager
    async def open_table(self, bots: Sequence[Bot]) -> AsyncGenerator[SeatedTable]:
        """The bots as players; remote ones as soon as no other table has them. The first tables wait for all bots."""
        await self._gathered.wait()
        remote = {bot.name: RemotePlayer(self._lobby.places[bot.name], bot.limits) for bot in self._remote(bots)}
        async with self._lobby.reserved(remote):
            local = local_players([bot for bot in bots if bot.name not in remote])
            at_hand: dict[str, Player] = {**{player.name: player for player in local}, **remote}
            try:
                yield SeatedTable([at_hand[bot.name] for bot in bots])
            finally:
                with trio.CancelScope(shield=True):
                    unfinished = [player for player in remote.values() if player.conversation.state is not State.IDLE]
                    await part_all([*local, *unfinished], "no more matches at this table")

    def _remote(self, bots: Sequence[Bot]) -> list[Bot]:
        return [bot for bot in bots if bot.name in self._expected]
