"""What the referee asks of a byte transport to one bot; it knows no lines, no messages and no pipes.

Two kinds exist: `fd_channel` (a child's pipes, later a socket) and `memory_channel` (a scripted bot under a
mock clock). Neither ever waits without a deadline, and neither reads unless somebody calls a reading method:
a bot that floods between its asks blocks itself on its own full pipe and costs the referee nothing.
"""

from enum import Enum
from typing import Protocol

MAX_READ = 65536
"""The most bytes that one look takes: one pipeful on Linux."""


class Sent(Enum):
    """How a `send` ended."""

    TAKEN = "taken"
    """The system has taken the last byte; `sent_at` says when."""
    STALLED = "stalled"
    """The deadline passed with bytes left over. They stay queued: nothing may be cut in two."""
    CLOSED = "closed"
    """Nobody will ever read this: the other end is closed, or ours is."""


class Channel(Protocol):
    """Bytes to and from one bot. All times are seconds of `clock()`, all deadlines absolute.

    The seat above calls, for one ask: `read_now()` once (what the bot printed before it was asked), `send`,
    then `receive` until it has a whole line or gets None. What the bot used is `read_at - sent_at - lag`.
    """

    sent_at: float
    """When the system took the last byte of what was sent last."""
    read_at: float
    """When the last bytes were read, or when the last look found nothing."""
    lag: float
    """How long, at the most, the bytes that the last `receive` returned had been waiting for the referee.

    After a `receive` that returned None: how long after its deadline the last look came. After a `send`: how much of
    the time that it took was the referee's own.
    """

    def clock(self) -> float:
        """The time now, on the clock that deadlines are given in."""
        ...

    def write_now(self, data: bytes) -> bool:
        """Write without waiting. False if bytes are left over: they are queued, and go first next time."""
        ...

    async def send(self, data: bytes, deadline: float) -> Sent:
        """Write all of `data` (and what was queued before it), waiting until `deadline` at the latest.

        The deadline moves by what other tasks take before the first byte is written.
        """
        ...

    def read_now(self) -> bytes | None:
        """One look, at most `MAX_READ` bytes: None if nothing is there, b"" at the end of the output."""
        ...

    async def wait_readable(self, deadline: float) -> bool:
        """Wait until a look is worth while. False if the deadline came first."""
        ...

    async def receive(self, deadline: float) -> bytes | None:
        """The next bytes, b"" at the end. None only if a look made after the deadline finds nothing."""
        ...

    def close_write(self) -> None:
        """End the bot's input. What is queued is dropped."""
        ...

    def close(self) -> None:
        """End both directions and wake whoever waits; a second call does nothing."""
        ...
