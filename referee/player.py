"""A bot that is there: its connection, its conversation and its greeting, over as many matches as it plays.

Knows no rules and no match; `seat` puts a player into one.
"""

import re
import shlex
from collections.abc import Callable
from math import inf
from typing import Protocol

from lastcard.protocol import (
    FLUSH,
    STALE_WORDS,
    BotHello,
    Closed,
    RefereeConversation,
    Refusal,
    RefusalKind,
    Stale,
    unfinished,
)
from lastcard.referee.channel import Channel, Sent
from lastcard.referee.faults import GONE, MOST_STALE, Fault, FaultKind, Phase, last_lines, printable
from lastcard.referee.limits import Idle, Limits
from lastcard.referee.processes import GRACE, STATUS_PATIENCE
from lastcard.referee.start_error import StartError
from lastcard.referee.version import REFEREE

MEANT_AS_HELLO = re.compile(rb'"type"\s*:\s*"hello"')
"""A refused line that holds this was the hello: no better one will follow."""


class Stderr(Protocol):
    """What is kept of a bot's standard error."""

    @property
    def kept(self) -> bytes:
        """Head and tail of it."""
        ...

    def catch_up(self) -> None:
        """Read what is there by now."""
        ...

    def new_match(self) -> None:
        """Another match with the same process begins."""
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

    @property
    def never_began(self) -> bool:
        """Whether it has ended before its own program ran, by no fault of its own."""
        ...

    @property
    def description(self) -> str:
        """How it is confined, in a few words for the log."""
        ...

    def freeze(self) -> None:
        """Stop all its processes where they are."""
        ...

    def thaw(self) -> None:
        """Let them go on."""
        ...

    async def exit_status(self, patience: float = STATUS_PATIENCE) -> str | None:
        """How it ended, in words; None if it runs."""
        ...

    async def close(self, grace: float = GRACE) -> None:
        """End it with all that it has started."""
        ...


Launch = Callable[[], Connection]
"""Starts the bot anew. Raises StartError."""


class Player:
    """One bot under its name in the match or tournament."""

    returns = False
    """Whether a lost connection may come back, as that of a remote bot may."""

    def __init__(
        self, name: str, argv: tuple[str, ...], limits: Limits, launch: Launch, *, idle: Idle = Idle.RUN
    ) -> None:
        self.name = name
        self.argv = argv
        self.limits = limits
        self.freezes = idle is Idle.FREEZE
        """Whether it is stopped while it owes nothing."""
        self.frozen = False
        self.confined = ""
        """How the process that was started last is confined; empty before the first."""
        self.hello: BotHello | None = None
        self.conversation = RefereeConversation()
        self.connection: Connection | None = None
        self.ended = False
        """Its output has ended; a child of it may still write there, to nobody."""
        self._launch = launch

    @property
    def repeat(self) -> str:
        """The command that starts this bot by hand."""
        return printable(shlex.join(self.argv))

    @property
    def features(self) -> frozenset[str]:
        """What it listed in its hello."""
        return self.conversation.features

    @property
    def channel(self) -> Channel:
        """Its bytes. It has to be connected."""
        assert self.connection is not None, "a player is greeted before it is spoken to"
        return self.connection.channel

    def heard(self, data: bytes) -> None:
        """Takes what was read of the bot: b"" is the end, and whatever follows it counts for nothing."""
        if not self.ended:
            self.ended = not data
            self.conversation.receive(data)

    def start_deadline(self) -> float:
        """Until when it may take to answer what it is told now, in the channel's time."""
        limits = self.limits
        return self.channel.clock() + limits.start_ms / 1000 if limits.enforced else inf

    # ---- the greeting

    async def greet(self, seat: int) -> Fault | None:
        """Start the bot if it does not run, and exchange hellos. Returns why that failed, or None."""
        if self.connection is not None:
            return None
        fault = Fault(
            seat=seat, kind=FaultKind.STARTUP, phase=Phase.HELLO, detail="", of=self.limits.strikes, repeat=self.repeat
        )
        self.conversation, self.ended = RefereeConversation(), False
        try:
            self.connection = self._launch()
        except (StartError, OSError) as error:
            if not isinstance(error, StartError) or error.host:
                fault.kind = FaultKind.HOST
            fault.detail = printable(str(error))
            return fault
        self.confined = self.connection.description
        begun = self.channel.clock()
        if await self._exchange_hellos(fault):
            return None
        fault.limit_ms, fault.elapsed_ms = self.limits.start_ms, int(1000 * (self.channel.clock() - begun))
        await self.complete(fault)
        await self.part(fault.detail)
        return fault

    async def _exchange_hellos(self, fault: Fault) -> bool:
        """Whether the bot has said hello in time; if not, the fault says what was wrong."""
        channel, limit = self.channel, self.limits.start_ms
        deadline = self.start_deadline()
        if await channel.send(self.conversation.hello(referee=REFEREE, start_ms=limit), deadline) is Sent.STALLED:
            fault.detail = f"the referee's hello was not read within {limit} ms"
            return False
        others, first = 0, ""
        while True:
            match item := self.conversation.next():
                case BotHello():
                    self.hello = item
                    return True
                case Refusal() | Stale():
                    others += 1
                    if hopeless(item, fault):
                        return False
                    fault.received, fault.size = fault.received or item.raw, fault.size or item.size
                    first = first or f"; its first line was {described(item)}"
                    if others > MOST_STALE:
                        fault.detail = f"{others} lines and no hello among them{first}"
                        return False
                case Closed():
                    fault.detail = f"the bot's output ended before its hello{first}"
                    fault.received, fault.size = fault.received or item.partial, fault.size or item.size
                    return False
                case _:
                    data = await channel.receive(deadline)
                    if data is None:
                        self._not_in_time(fault, f"no hello within {limit} ms", first)
                        return False
                    self.heard(data)

    def _not_in_time(self, fault: Fault, late: str, first: str) -> None:
        """Nothing that was a hello came: what came instead, if anything did."""
        part, size = self.conversation.unfinished
        fault.received, fault.size = fault.received or part, fault.size or size
        fault.detail = late + (first or unfinished(part))
        if not fault.received:
            fault.detail += f"; {FLUSH}"

    async def come_back(self, deadline: float) -> bool:
        """Wait for a new connection in place of a lost one; whether it came. A process that has ended never does."""
        del deadline
        return False

    # ---- standing still

    def freeze(self) -> None:
        """Stop the bot until it is spoken to, if that is how this match is played."""
        if self.freezes and not self.frozen and self.connection is not None:
            self.connection.freeze()
            self.frozen = True

    def thaw(self) -> None:
        """Let the bot go on, before its clock starts."""
        if self.frozen and self.connection is not None:
            self.connection.thaw()
            self.frozen = False

    # ---- evidence and the end

    async def complete(self, fault: Fault) -> None:
        """Adds the evidence that only the connection has: exit status, standard error."""
        if self.connection is None:
            return
        gone = self.ended or fault.kind in GONE
        if gone:
            self.thaw()  # it may have been stopped between its last word and its end
        if gone or fault.kind is FaultKind.STARTUP:
            fault.exit_status = await self.connection.exit_status(STATUS_PATIENCE if gone else 0.0)
        if gone and fault.exit_status is not None:
            if fault.kind is FaultKind.EOF:
                fault.kind = FaultKind.CRASH
            if fault.kind in (FaultKind.CRASH, FaultKind.STARTUP):
                fault.detail = f"the process ended ({fault.exit_status}): {fault.detail}"
        self.connection.stderr.catch_up()
        fault.stderr = last_lines(self.connection.stderr.kept)
        if fault.phase is Phase.HELLO and self.connection.never_began:
            fault.kind = FaultKind.HOST
            fault.detail = f"the sandbox of bot {self.name} could not be set up: {fault.stderr.rpartition(chr(10))[2]}"

    async def part(self, reason: str, grace: float = GRACE) -> None:
        """Say bye, and end the bot."""
        if self.connection is not None:
            self.thaw()  # a frozen process cannot read, and where freezing is the old kind, not even die
            self.channel.write_now(self.conversation.bye(reason))
        await self.close(grace)

    async def close(self, grace: float = GRACE) -> None:
        """End the bot and all that it has started."""
        self.thaw()
        connection, self.connection = self.connection, None
        if connection is not None:
            await connection.close(grace)


def hopeless(item: Refusal | Stale, fault: Fault) -> bool:
    """Whether no hello can be hoped for after this line; then the fault says why."""
    if not isinstance(item, Refusal):
        return False
    if item.kind is RefusalKind.MALFORMED and not MEANT_AS_HELLO.search(item.raw):
        return False
    if item.kind is RefusalKind.VERSION:
        fault.kind = FaultKind.VERSION
    fault.detail, fault.received, fault.size = item.detail, item.raw, item.size
    return True


def described(item: Refusal | Stale) -> str:
    """What was wrong with a line, as part of a sentence."""
    return f"refused ({item.detail})" if isinstance(item, Refusal) else STALE_WORDS[item.reason]
