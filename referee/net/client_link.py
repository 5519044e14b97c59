"""One connection of a client to a referee: bytes out, lines in, plain words for its end. Knows no bot."""

import ssl
from contextlib import suppress
from typing import Final

import trio

from lastcard.protocol import LineBuffer, RefereeHello

LONGEST_LINE: Final = 8 << 20
"""Bytes of a line of the referee. Its asks hold the events of many turns, but no more than this."""

LEAVING: Final = 0.5
"""Seconds in which a referee may still read what a bot said last."""


class Lost(Exception):
    """The connection has ended or broken. The text says how, as part of a sentence."""


class Link:
    """Owns the connection; `transport` is what is below TLS, or the same as `stream`."""

    def __init__(self, stream: trio.abc.Stream, transport: trio.abc.HalfCloseableStream) -> None:
        self.hello = b""
        """The referee's first line with its LF."""
        self.start_s = 0.0
        """Seconds that the referee gives a bot to answer it."""
        self.since = trio.current_time()
        self.hears = False
        """Whether what the bot says goes here."""
        self.proved = False
        """Whether the referee has said anything but hello and bye: then the bot has been let in."""
        self._stream = stream
        self._transport = transport
        self._lines = LineBuffer(LONGEST_LINE, LONGEST_LINE)

    def greeted(self, line: bytes, hello: RefereeHello) -> None:
        """The referee has said hello."""
        self.hello = line + b"\n"
        self.start_s = hello.start_ms / 1000

    async def next_line(self) -> bytes:
        """The next line of the referee, whole and without its LF. Raises Lost."""
        while (line := self._lines.next_line()) is None:
            self._lines.feed(await self._receive())
        if not isinstance(line, bytes):
            raise Lost(f"a line of more than {LONGEST_LINE >> 20} MiB")
        return line

    async def _receive(self) -> bytes:
        try:
            data = await self._stream.receive_some()
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise Lost(how_broken(error)) from error
        if not data:
            raise Lost(CLOSED)
        return bytes(data)

    async def send(self, data: bytes) -> None:
        """Send all of it; waits as long as the referee does not read. Raises Lost."""
        try:
            await self._stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise Lost(how_broken(error)) from error

    async def part(self) -> None:
        """Let the referee read what is under way. Closed at once, with bytes unread, that would be thrown away."""
        with trio.move_on_after(LEAVING), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._transport.send_eof()
            while await self._transport.receive_some():
                pass

    async def drop(self) -> None:
        """Close it; whoever sends or receives here is woken with Lost."""
        self.hears = False
        await trio.aclose_forcefully(self._transport)


CLOSED: Final = "closed by the other end"


def how_broken(error: Exception) -> str:
    """Why a stream broke, in the system's words."""
    cause = error.__cause__
    if cause is None or isinstance(cause, ssl.SSLEOFError):
        return CLOSED
    if isinstance(cause, ssl.SSLError):
        return f"TLS: {ssl_reason(cause)}"
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return text[:1].lower() + text[1:]


def ssl_reason(error: ssl.SSLError) -> str:
    """OpenSSL's reason in small letters."""
    return str(error.reason or error).lower().replace("_", " ")
