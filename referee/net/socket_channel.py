"""The byte transport to one bot over a socket, with TLS or without; see `channel.Channel`.

It is `fd_channel` with one descriptor for both directions, and with a secret: the token by which the bot has come
in is blotted out of whatever it says later, so that no log, error or report can hold it. Until it has come in it is
a stranger, whom no clock of a bot is shared with.
"""

import os
import select
import socket
from contextlib import suppress

import trio

from lastcard.referee.channel import MAX_READ
from lastcard.referee.fd_channel import FdChannel
from lastcard.referee.net.blot import Blotter
from lastcard.referee.net.tls import Tls, TlsError

PEER_CLOSED = getattr(select, "POLLRDHUP", 0)
"""What Linux tells of a peer that has ended its side; elsewhere only a broken connection is told (POLLHUP, POLLERR)."""

MOST_DRAINED = 1 << 20
"""Bytes that are read of a peer which is sent away."""


class SocketChannel(FdChannel):
    """Owns the socket, and closes it."""

    def __init__(self, sock: socket.socket, tls: Tls | None = None) -> None:
        super().__init__(sock.fileno(), sock.fileno())
        self._socket = sock
        self._tls = tls
        self._blotter: Blotter | None = None
        self._hung = select.poll()
        self._hung.register(sock.fileno(), PEER_CLOSED)
        # The bot's first bytes may have come along with the last ones of the handshake.
        self._ready, self._peer_ended = (b"", False) if tls is None else tls.opened(None)
        self._watchdog.live -= 1  # a stranger takes nothing from the time that bots' channels share

    @property
    def ended(self) -> bool:
        """Whether either side has closed it, as far as the system knows."""
        return not self._open or self._peer_ended or bool(self._hung.poll(0))

    # ---- a stranger, until it has come in

    async def arrived(self) -> bytes:
        """The next bytes, b"" at the end. Waits as long as the caller's scope does, and watches no clock."""
        while (data := self._look()) is None:
            await trio.lowlevel.wait_readable(self._read_fd)
        return data

    def adopt(self, blotter: Blotter, unread: bytes) -> None:
        """It is a bot. What it has said beyond its hello is read as if it came only now."""
        self._blotter = blotter
        self._ready = unread + self._ready
        self._watchdog.live += 1

    # ---- a bot

    def write_now(self, data: bytes) -> bool:
        """As the parent's. What TLS has sealed is in its order for good: it waits sealed."""
        if self._tls is not None and data and self._write_open:
            try:
                data = self._tls.sealed(data)
            except TlsError:  # the peer has broken it: nobody is left to read
                self.close_write()
                return False
        return super().write_now(data)

    def read_now(self) -> bytes | None:
        """As the parent's. What is here already, the system's poll does not tell."""
        return self._look() if self._ready or self._peer_ended else super().read_now()

    def _take(self) -> bytes:
        """Bytes of the bot; b"" at the end. Raises BlockingIOError."""
        while data := self._read():
            if self._blotter is None:
                return data
            if clean := self._blotter.clean(data):
                return clean
        return b""

    def _read(self) -> bytes:
        data, self._ready = self._ready, b""
        if data or self._peer_ended:
            return data
        received = os.read(self._read_fd, MAX_READ)
        if self._tls is None:
            self._peer_ended = not received
            return received
        data, self._peer_ended = self._tls.opened(received)
        if answer := self._tls.outgoing():  # a change of keys is answered
            super().write_now(answer)
        if not data and not self._peer_ended:
            raise BlockingIOError
        return data

    # ---- the end

    def _end_output(self) -> None:
        with suppress(OSError):  # reset already
            self._socket.shutdown(socket.SHUT_WR)

    def close_write(self) -> None:
        """As the parent's; whoever has read all before it is told that TLS ends here in good order."""
        if self._write_open and self._tls is not None and not self._unsent:
            with suppress(OSError):
                os.write(self._write_fd, self._tls.farewell())
        super().close_write()

    def close(self) -> None:
        """As the parent's."""
        if self._open and self._blotter is None:
            self._watchdog.live += 1
        super().close()

    def _let_go(self) -> None:
        self._socket.close()

    def drop(self, last_words: bytes) -> None:
        """Say this and close it, without a wait, though a match may be in the middle of a wait for it."""
        if not self.ended:
            self.write_now(last_words)
            self.close_write()
            self._drain()
        self.close()

    async def part(self, patience: float) -> None:
        """End our side, let the peer read what is under way, and close. Nobody else may wait for this channel.

        Closed with unread bytes before it, a socket throws away what the other end has not read yet: the `bye`.
        """
        try:
            with trio.move_on_after(patience), suppress(trio.ClosedResourceError):
                while not self.write_now(b"") and self._write_open:
                    await trio.lowlevel.wait_writable(self._write_fd)
                self.close_write()
                left = MOST_DRAINED
                while self._open and left > 0 and (read := self._drain()) is not None:
                    left -= read
                    await trio.lowlevel.wait_readable(self._read_fd)
        finally:
            self.close()

    def _drain(self) -> int | None:
        """Read what is here; how much it was, None if nothing more can come."""
        read = 0
        with suppress(OSError):
            while read < MOST_DRAINED and self._open:
                data = os.read(self._read_fd, MAX_READ)
                read += len(data)
                if not data:
                    return None
        return None if self._hung.poll(0) else read
