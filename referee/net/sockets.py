"""Sockets as the referee and its client want them: options against dead peers, listening, names of addresses."""

import errno
import socket
import sys
from contextlib import suppress
from typing import Protocol

KEEPALIVE_IDLE = 15
KEEPALIVE_EVERY = 5
KEEPALIVE_PROBES = 3

UNANSWERED_MS = 20_000
"""How long sent bytes may stay unacknowledged: keepalive does not look while bytes are under way (measured)."""

BACKLOG = 1024
"""Connections that the system keeps until they are looked at: a burst of strangers costs an honest bot no SYN."""


NOT_OURS = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""Why one address of a name may be left out, if another can be listened on."""


class HasOptions(Protocol):
    """A socket of the standard library's, or one of trio's."""

    def setsockopt(self, level: int, optname: int, value: int, /) -> None:
        """As of a socket."""
        ...


class ListenError(Exception):
    """The address cannot be listened on. The text is one sentence."""


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen on all addresses of the host, on one port; port 0 is one that is free."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ListenError(f"{host}: {_words(error)}, expected the name or the address of this machine") from error
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    try:
        for family, _, _, _, address in dict.fromkeys(found):
            try:
                sockets.append(_listening(family, (address[0], port, *address[2:])))
            except OSError as error:
                if error.errno not in NOT_OURS:
                    raise
                missing = error  # `localhost` names ::1 where there is no IPv6 too
            else:
                port = port or sockets[0].getsockname()[1]
        if missing is not None and not sockets:
            raise missing
    except OSError as error:
        for opened in sockets:
            opened.close()
        raise ListenError(f"{shown((host, port))}: {_words(error)}, expected an address to listen on") from error
    return sockets


def _listening(family: int, address: tuple[object, ...]) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:  # the other family has a socket of its own
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.setblocking(False)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def prepare(connected: socket.socket) -> None:
    """A line goes out when it is written, and a peer that has vanished is noticed within half a minute."""
    connected.setblocking(False)
    set_options(connected)


def set_options(connected: HasOptions) -> None:
    """The same for a socket whose blocking is its owner's affair."""
    options = [(socket.IPPROTO_TCP, "TCP_NODELAY", 1)]
    options.append((socket.SOL_SOCKET, "SO_KEEPALIVE", 1))
    options.append(
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE" if sys.platform != "darwin" else "TCP_KEEPALIVE", KEEPALIVE_IDLE)
    )
    options.append((socket.IPPROTO_TCP, "TCP_KEEPINTVL", KEEPALIVE_EVERY))
    options.append((socket.IPPROTO_TCP, "TCP_KEEPCNT", KEEPALIVE_PROBES))
    options.append((socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", UNANSWERED_MS))
    for level, name, value in options:
        number = getattr(socket, name, None)
        if number is not None:
            with suppress(OSError):  # reset already, or a system without it: the next read or write says so
                connected.setsockopt(level, number, value)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the host."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(str(address[0]).startswith("127.") or address[0] == "::1" for *_, address in found)


def shown(address: tuple[object, ...]) -> str:
    """HOST:PORT, with brackets around an IPv6 address."""
    host, port = str(address[0]), address[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _words(error: OSError | UnicodeError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]
