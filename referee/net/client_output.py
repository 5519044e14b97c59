"""What a bot says behind `lastcard connect`: its hello is read, all else is passed on as it comes. Knows no socket.

Bytes are not held back until a line is whole: half a line must look to the referee as it does over a pipe. But no
connection gets the end of a line whose beginning went elsewhere.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from lastcard.protocol import BOT_LINES, MAX_LINE, BotHello, Refusal, RefusalKind
from lastcard.referee.net.client_link import Link, Lost

MOST_BEFORE_HELLO: Final = 16
"""Lines that a bot may say before its hello."""

FULL_READ: Final = 65536
REST: Final = 0.001
"""Seconds between two full reads that are dropped: a flood that nobody hears must not take a whole core."""

MEANT_AS_HELLO = re.compile(rb'"type"\s*:\s*"hello"')
"""A refused line that holds this was the hello: no better one will follow."""

SHOWN: Final = 60


class BotOutput:
    """`receive` gives the bot's bytes, b"" at their end; `hearer` the connection that they go to now, if any."""

    def __init__(
        self,
        receive: Callable[[], Awaitable[bytes]],
        hearer: Callable[[], Link | None],
        say: Callable[[str], None],
    ) -> None:
        self._receive = receive
        self._hearer = hearer
        self._say = say
        self._held = b""
        self._begun: Link | None = None
        """Where the beginning of the last line went."""
        self._inside = False
        """That line has had no LF yet."""

    # ---- hello

    async def hello(self) -> BotHello | str | None:
        """The bot's hello; why it cannot be used; or None if the output ends before it."""
        for _ in range(MOST_BEFORE_HELLO + 1):
            line = await self._line()
            if line is None:
                return None
            message = BOT_LINES.decode(line)
            if isinstance(message, BotHello):
                return message
            if isinstance(message, Refusal) and _was_hello(message):
                return f"the bot's hello is not valid: {message.detail}"
            head = line[:SHOWN].decode("utf-8", "backslashreplace")
            self._say(f"dropped what the bot said before its hello: {head!r}")
        return f"the bot said {MOST_BEFORE_HELLO + 1} lines and none was its hello; only messages belong on its stdout"

    async def _line(self) -> bytes | None:
        while b"\n" not in self._held:
            self._held = self._held[:MAX_LINE]  # what is longer is no hello, whatever else it is
            data = await self._receive()
            if not data:
                return None
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return line.removesuffix(b"\r")

    # ---- all else

    async def pass_on(self) -> None:
        """Pass on what follows the hello, until the end."""
        data, self._held = self._held, b""
        while data or (data := await self._receive()):
            await self._pass(data)
            data = b""

    async def _pass(self, data: bytes) -> None:
        hearer = self._hearer()
        if self._inside and hearer is not self._begun:
            _, line_feed, data = data.partition(b"\n")
            self._inside = not line_feed
            if not data:
                return
        self._begun = hearer
        self._inside = not data.endswith(b"\n")
        if hearer is None:
            await trio.sleep(REST if len(data) >= FULL_READ else 0)
            return
        try:
            await hearer.send(data)
        except Lost:  # whoever listens there will see it too, after the last words of the referee
            hearer.hears = False


def _was_hello(refusal: Refusal) -> bool:
    return refusal.kind is RefusalKind.VERSION or MEANT_AS_HELLO.search(refusal.raw) is not None
