"""Calling a referee once: the address, the connection, TLS and its hello, and plain words for all that can go wrong.

Knows no bot and no token.
"""

import errno
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeVar, cast

import trio

from lastcard.protocol import REFEREE_LINES, Bye, RefereeHello, Refusal, RefusalKind
from lastcard.referee.net.client_link import CLOSED, Link, Lost, how_broken, ssl_reason
from lastcard.referee.net.sockets import set_options, shown

CALL_LIMIT: Final = 10.0
"""Seconds from the look-up of the name to the last byte of the referee's hello."""

SILENCE: Final = 1.0
"""A server that closes after so many seconds without a word has waited for us to speak, as one with TLS does."""

SHOWN: Final = 60
"""Bytes of a stranger's text that are quoted."""

LONGEST_REASON: Final = 300
"""Characters of a referee's bye that are shown."""

PORT = re.compile(r"[0-9]{1,5}")
NOT_FOUND = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
UNREACHABLE = frozenset({errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL})

OTHER_NAME = frozenset({62, 63, 64})
"""OpenSSL's numbers for a certificate of another host, e-mail or IP address."""

UNKNOWN_ISSUER = frozenset({2, 18, 19, 20, 21})

NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"})
"""What OpenSSL says of an answer that is not TLS at all; its versions differ."""

T = TypeVar("T")


class CallFailed(Exception):
    """There is no referee there for us now. One sentence; `hopeless` says that waiting will not mend it."""

    def __init__(self, sentence: str, *, hopeless: bool = False) -> None:
        super().__init__(sentence)
        self.hopeless = hopeless


class Address(NamedTuple):
    """Where a referee listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return shown(self)


def parse_address(text: str) -> Address:
    """The address in HOST:PORT or [IPV6]:PORT. Raises ValueError with a sentence."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host or "[" in host:
        raise ValueError(f"{text!r}: expected brackets around an IPv6 address, as [::1]:4000")
    if not colon or not host or not PORT.fullmatch(port) or not 1 <= int(port) <= 65535:
        raise ValueError(f"{text!r}: expected HOST:PORT, as example.org:4000")
    return Address(host, int(port))


async def call(address: Address, context: ssl.SSLContext | None) -> Link:
    """A connection on which the referee has said hello. Raises CallFailed."""
    deadline = trio.current_time() + CALL_LIMIT
    late = f"no answer from {address} in {CALL_LIMIT:.0f} s"
    transport = await _in_time(deadline, late, lambda: _reached(address))
    try:
        stream: trio.abc.Stream = transport
        if context is not None:
            late = f"{address} does not answer the TLS handshake: does it speak TLS?"
            stream = await _in_time(deadline, late, lambda: _secured(transport, context, address))
        link = Link(stream, transport)
        late = f"{address} says nothing: is it a referee of lastcard{'' if context else ', does it want --tls'}?"
        await _in_time(deadline, late, lambda: _greeted(link, address, secured=context is not None))
    except BaseException:
        await trio.aclose_forcefully(transport)
        raise
    return link


async def _in_time(deadline: float, late: str, step: Callable[[], Awaitable[T]]) -> T:
    with trio.move_on_at(deadline):
        return await step()
    raise CallFailed(late)


# ---- the connection


async def _reached(address: Address) -> trio.SocketStream:
    try:
        stream = await trio.open_tcp_stream(address.host, address.port)
    except socket.gaierror as error:
        if error.errno in NOT_FOUND:
            raise CallFailed(f"there is no host {address.host!r}", hopeless=True) from error
        raise CallFailed(f"the host {address.host!r} cannot be looked up: {_small(error.strerror)}") from error
    except UnicodeError as error:
        raise CallFailed(f"there can be no host {address.host!r}: {error}", hopeless=True) from error
    except OSError as error:
        raise CallFailed(_unreached(error, address)) from error
    set_options(stream.socket)
    return stream


def _unreached(error: OSError, address: Address) -> str:
    """Of several addresses of one host, the most telling failure."""
    tried = _attempts(error)
    numbers = {attempt.errno for attempt in tried}
    if errno.ECONNREFUSED in numbers:
        return f"{address} refuses: no referee listens there"
    if errno.ETIMEDOUT in numbers:
        return f"no answer from {address}"
    words = _small(tried[0].strerror or str(tried[0]))
    return f"{address} cannot be reached: {words}" if numbers & UNREACHABLE else f"{address}: {words}"


def _attempts(error: OSError) -> list[OSError]:
    """What trio has tried: one error, or a group of them behind its own."""
    cause = error.__cause__
    if isinstance(cause, ExceptionGroup):
        inside = cast("ExceptionGroup[Exception]", cause).exceptions
        return [inner for inner in inside if isinstance(inner, OSError)] or [error]
    return [cause] if isinstance(cause, OSError) else [error]


def _small(text: str | None) -> str:
    return (text or "")[:1].lower() + (text or "")[1:]


# ---- TLS


async def _secured(
    transport: trio.SocketStream, context: ssl.SSLContext, address: Address
) -> trio.SSLStream[trio.SocketStream]:
    try:
        stream = trio.SSLStream(transport, context, server_hostname=address.host)
        await stream.do_handshake()
    except trio.BrokenResourceError as error:
        cause = error.__cause__
        # An end in mid-handshake is the one or the other by the versions of Python and OpenSSL.
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            raise CallFailed(_tls_words(cause, address), hopeless=True) from error
        raise CallFailed(f"{address} broke off the TLS handshake ({how_broken(error)}): does it speak TLS?") from error
    except ValueError as error:  # a name that no certificate can have
        raise CallFailed(f"there can be no host {address.host!r}: {_small(str(error))}", hopeless=True) from error
    return stream


def _tls_words(error: ssl.SSLError, address: Address) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        words = _small(error.verify_message).removesuffix(".")
        if error.verify_code in OTHER_NAME:
            return f"{address} shows a certificate for another name: {words}"
        if error.verify_code in UNKNOWN_ISSUER:
            return f"the certificate of {address} is not believed ({words}): name it or its authority with --ca FILE"
        return f"the certificate of {address} is not believed: {words}"
    if error.reason in NO_TLS:
        return f"{address} does not speak TLS: leave out --tls and --ca"
    return f"no TLS with {address}: {ssl_reason(error)}"


# ---- hello


async def _greeted(link: Link, address: Address, *, secured: bool) -> None:
    try:
        line = await link.next_line()
    except Lost as lost:
        silent = str(lost) == CLOSED and trio.current_time() - link.since >= SILENCE
        hint = "" if secured else ": does it want --tls?"
        sentence = f"{address} closed the connection before it said hello ({lost}){hint}"
        raise CallFailed(sentence, hopeless=silent and not secured) from lost
    match message := REFEREE_LINES.decode(line):
        case RefereeHello():
            link.greeted(line, message)
        case Bye():
            raise CallFailed(
                f"{address} says bye: {message.reason[:LONGEST_REASON]}", hopeless=message.again is not True
            )
        case Refusal(kind=RefusalKind.VERSION):
            raise CallFailed(f"{address}: {message.detail}", hopeless=True)
        case _:
            head = line[:SHOWN].decode("utf-8", "backslashreplace")
            raise CallFailed(f"{address} is no referee of lastcard: its first line is {head!r}", hopeless=True)
