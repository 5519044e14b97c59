"""A bot that is there: its connection, its conversation and its greeting, over as many matches as it plays.

Knows no rules and no match; `seat` puts a player into one.
"""

import shlex
from collections.abc import Callable
from typing import Protocol

from lastcard.protocol import (
    BotHello,
    Closed,
    Ready,
    RefereeConversation,
    Refusal,
    RefusalKind,
    Stale,
)
from lastcard.referee.channel import Channel, Sent
from lastcard.referee.faults import MOST_STALE, Fault, FaultKind, Phase, last_lines
from lastcard.referee.limits import Limits
from lastcard.referee.processes import STATUS_PATIENCE, StartError
from lastcard.referee.version import REFEREE


class Stderr(Protocol):
    """What is kept of a bot's standard error."""

    @property
    def kept(self) -> bytes:
        """Head and tail of it."""
        ...

    def catch_up(self) -> None:
        """Read what is there by now."""
        ...


class Connection(Protocol):
    """A started bot: `processes.BotProcess`, or a scripted one in a test."""

    @property
    def channel(self) -> Channel:
        """The bytes to and from it."""
        ...

    @property
    def stderr(self) -> Stderr:
        """What it says beside the protocol."""
        ...

    async def exit_status(self, patience: float = STATUS_PATIENCE) -> str | None:
        """How it ended, in words; None if it runs."""
        ...

    async def close(self, grace: float = 2.0) -> None:
        """End it with all that it has started."""
        ...


Launch = Callable[[], Connection]
"""Starts the bot anew. Raises StartError."""


class Player:
    """One bot under its name in the match or tournament."""

    def __init__(self, name: str, argv: tuple[str, ...], limits: Limits, launch: Launch) -> None:
        self.name = name
        self.argv = argv
        self.limits = limits
        self.hello: BotHello | None = None
        self.conversation = RefereeConversation()
        self.connection: Connection | None = None
        self._launch = launch

    @property
    def repeat(self) -> str:
        """The command that starts this bot by hand."""
        return shlex.join(self.argv)

    @property
    def features(self) -> frozenset[str]:
        """What it listed in its hello."""
        return self.conversation.features

    @property
    def channel(self) -> Channel:
        """Its bytes. It has to be connected."""
        assert self.connection is not None, "a player is greeted before it is spoken to"
        return self.connection.channel

    async def greet(self, seat: int) -> Fault | None:
        """Start the bot if it does not run, and exchange hellos. Returns why that failed, or None."""
        if self.connection is not None:
            return None
        try:
            self.connection = self._launch()
        except StartError as error:
            kind = FaultKind.HOST if error.host else FaultKind.STARTUP
            return Fault(seat=seat, kind=kind, phase=Phase.HELLO, detail=str(error), repeat=self.repeat)
        self.conversation = RefereeConversation()
        fault = await self._await(seat, BotHello, self._hello_line(), Phase.HELLO)
        if fault is not None:
            await self.complete(fault)
            if fault.kind is FaultKind.VERSION:
                self.channel.write_now(self.conversation.bye(fault.detail))
            await self.close()
        return fault

    def _hello_line(self) -> bytes:
        return self.conversation.hello(referee=REFEREE, start_ms=self.limits.start_ms)

    async def start(self, seat: int, line: bytes) -> Fault | None:
        """Tell a match, and wait for `ready` from a bot that listed it. Returns why that failed, or None."""
        wanted = Ready if "ready" in self.features else None
        fault = await self._await(seat, wanted, line, Phase.START)
        if fault is not None:
            await self.complete(fault)
            await self.close()
        return fault

    async def _await(self, seat: int, wanted: type[BotHello | Ready] | None, line: bytes, phase: Phase) -> Fault | None:
        """Send the line and wait for the wanted answer within `start_ms`, past at most `MOST_STALE` other lines."""
        channel, limit = self.channel, self.limits.start_ms
        begun = channel.clock()
        deadline = begun + limit / 1000
        first_junk = ""
        junk = 0
        fault = Fault(seat=seat, kind=FaultKind.STARTUP, phase=phase, detail="", limit_ms=limit)
        if await channel.send(line, deadline) is Sent.STALLED:
            fault.detail = f"the {phase} line was not read within {limit} ms"
            return fault
        while wanted is not None:
            match item := self.conversation.next():
                case BotHello() | Ready():
                    if isinstance(item, BotHello):
                        self.hello = item
                    return None
                case Refusal(kind=RefusalKind.VERSION):
                    fault.kind, fault.detail, fault.received = FaultKind.VERSION, item.detail, item.raw
                    return fault
                case Refusal() | Stale():
                    junk += 1
                    detail = item.detail if isinstance(item, Refusal) else f"a {item.reason} line"
                    first_junk = first_junk or f"; {detail}"
                    fault.received = fault.received or item.raw
                    if junk > MOST_STALE or (isinstance(item, Refusal) and item.kind is RefusalKind.HUGE):
                        fault.detail = f"{junk} lines but no {wanted.__name__} among them{first_junk}"
                        return fault
                case Closed():
                    fault.detail = (
                        f"the bot ended before its {'hello' if phase is Phase.HELLO else 'ready'}{first_junk}"
                    )
                    fault.elapsed_ms = int(1000 * (channel.clock() - begun))
                    return fault
                case _:
                    data = await channel.receive(deadline)
                    if data is None:
                        fault.detail = (
                            f"no {'hello' if phase is Phase.HELLO else 'ready'} within {limit} ms{first_junk}"
                        )
                        fault.elapsed_ms = int(1000 * (channel.clock() - begun))
                        return fault
                    self.conversation.receive(data)
        return None

    async def complete(self, fault: Fault) -> None:
        """Adds the evidence that only the connection has: exit status, standard error."""
        fault.repeat = self.repeat
        if self.connection is None:
            return
        if fault.kind in (FaultKind.EOF, FaultKind.CRASH, FaultKind.STARTUP):
            gone = fault.kind is not FaultKind.STARTUP or "ended" in fault.detail
            fault.exit_status = await self.connection.exit_status(STATUS_PATIENCE if gone else 0.0)
        self.connection.stderr.catch_up()
        fault.stderr = last_lines(self.connection.stderr.kept)

    async def part(self, reason: str) -> None:
        """Say bye, and end the bot."""
        if self.connection is not None:
            self.channel.write_now(self.conversation.bye(reason))
        await self.close()

    async def close(self, grace: float = 2.0) -> None:
        """End the bot and all that it has started."""
        connection, self.connection = self.connection, None
        if connection is not None:
            await connection.close(grace)
