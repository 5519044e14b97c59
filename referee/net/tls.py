"""TLS at both ends: contexts from files, and the handshake; lines and limits are the caller's.

The standard library's `ssl` does the work, with memory for its bytes: `trio.SSLStream` cannot take one look without
waiting, which is what the clock of a bot needs.
"""

import ssl
from contextlib import suppress
from pathlib import Path
from socket import socket

import trio

RECORDS = 65536


class TlsError(Exception):
    """A certificate or key that cannot be used, or a handshake that failed. The text is one sentence."""


def server_context(cert: Path, key: Path) -> ssl.SSLContext:
    """What a referee shows to bots. Raises TlsError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    for path, what in ((cert, "a certificate"), (key, "a private key")):
        try:
            path.open("rb").close()
        except (OSError, ValueError) as error:
            raise TlsError(f"{path}: {_words(error)}, expected {what} in PEM form") from error
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except (OSError, ValueError) as error:
        raise TlsError(f"{cert} and {key}: {_words(error)}, expected a certificate and its key in PEM form") from error
    return context


def client_context(ca: Path | None) -> ssl.SSLContext:
    """Whom a client believes: the authorities of its system, or those in one file. Raises TlsError."""
    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ValueError) as error:
        raise TlsError(f"{ca}: {_words(error)}, expected certificates in PEM form") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _no_password() -> str:
    raise ValueError("the key is protected by a password")


class Tls:
    """One connection's TLS, without I/O: bytes of the network go in and out, and so do those of the peer."""

    def __init__(self, context: ssl.SSLContext, *, server_name: str | None = None) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(
            self._incoming, self._outgoing, server_side=server_name is None, server_hostname=server_name
        )

    def shake(self, received: bytes | None) -> bool:
        """Go on with the handshake; whether it is done. Raises TlsError."""
        self._take(received)
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError as error:
            raise TlsError(_words(error)) from error
        return True

    def sealed(self, data: bytes) -> bytes:
        """What goes over the network for these bytes. Raises TlsError once the peer has broken it."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._object.write(view) :]
        except ssl.SSLError as error:
            raise TlsError(_words(error)) from error
        return self._outgoing.read()

    def farewell(self) -> bytes:
        """What says that nothing more comes."""
        with suppress(OSError):  # ssl.SSLError is one; before the handshake is done nothing can be said
            self._object.unwrap()
        return self._outgoing.read()

    def opened(self, received: bytes | None) -> tuple[bytes, bool]:
        """What the peer said in these bytes of the network, and whether it has ended or broken its side."""
        self._take(received)
        parts: list[bytes] = []
        try:
            while part := self._object.read(RECORDS):
                parts.append(part)
            return b"".join(parts), True
        except ssl.SSLWantReadError:
            return b"".join(parts), False
        except ssl.SSLError:
            return b"".join(parts), True

    def outgoing(self) -> bytes:
        """What the handshake, or an alert, has to send."""
        return self._outgoing.read()

    def _take(self, received: bytes | None) -> None:
        if received:
            self._incoming.write(received)
        elif received is not None:
            self._incoming.write_eof()


async def handshake(tls: Tls, sock: socket, turn: trio.Lock) -> None:
    """Exchange what it takes, without a limit of its own. Raises TlsError or OSError.

    A step takes a millisecond of arithmetic or more: of all handshakes that share a turn, one does a step in a pass
    of the loop, so that bots are heard in between.
    """
    received: bytes | None = None
    done = False
    while not done:
        try:
            async with turn:
                done = tls.shake(received)
        finally:
            await _send_all(sock, tls.outgoing())
        if not done:
            await trio.lowlevel.wait_readable(sock)
            received = _receive(sock)
            if received == b"":
                raise TlsError("the peer left during the handshake")


def _receive(sock: socket) -> bytes | None:
    try:
        return sock.recv(RECORDS)
    except BlockingIOError:
        return None


async def _send_all(sock: socket, data: bytes) -> None:
    while data:
        try:
            data = data[sock.send(data) :]
        except BlockingIOError:
            await trio.lowlevel.wait_writable(sock)


def _words(error: OSError | ValueError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not to be believed: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return str(error.reason or error).lower().replace("_", " ")
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]
