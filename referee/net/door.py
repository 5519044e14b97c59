"""The door: who connects is told who we are, has to name a token that is expected, and else learns nothing.

Knows the names and hashes of the bots that are waited for, and no match. Every stranger gets one of two answers,
whatever it says, in bounded time and memory; it costs no bot anything, because the crowd at the door is bounded and
the loop takes a breath when many come at once.
"""

import errno
import os
import resource
import ssl
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from socket import socket
from typing import Final, NamedTuple

import trio
from msgspec.structs import replace

from lastcard.protocol import BotHello, RefereeConversation, Refusal, RefusalKind
from lastcard.referee.net.blot import Blotter
from lastcard.referee.net.crowd import Crowd, Visitor, household
from lastcard.referee.net.socket_channel import SocketChannel
from lastcard.referee.net.sockets import prepare
from lastcard.referee.net.tls import Tls, TlsError, handshake
from lastcard.referee.net.tokens import TOKEN, matches
from lastcard.referee.version import REFEREE

HELLO_LIMIT: Final = 5.0
"""Seconds from the connection to the last byte of a hello with a token; TLS is within it. Absolute."""

HELLO_BYTES: Final = 4096
"""The longest hello, with its LF."""

BEGINNINGS: Final = b"{ \t"
"""What a hello may begin with. Of anything else no more is waited for: TLS or HTTP may have no line's end for long."""

AT_ONCE: Final = 16
"""Connections that are taken without a breath in between."""

BREATH: Final = 0.005
"""Seconds between two handfuls of connections: a flood costs the loop that bots are timed by little."""

SPARE: Final = 64
"""Descriptors that are left to matches and ledger: so few are no stranger's."""

REFUSED: Final = "expected a hello with the token of a bot that this referee waits for"
"""All that a stranger learns."""

LEAVING: Final = 0.5
"""Seconds that a refused peer has to read why."""


class Login(NamedTuple):
    """A bot that has come in."""

    name: str
    address: str
    channel: SocketChannel
    conversation: RefereeConversation
    hello: BotHello


class Door:
    """Takes connections, and hands those with a good token to `let_in`."""

    def __init__(
        self,
        expected: Mapping[str, str],
        let_in: Callable[[Login], None],
        *,
        start_ms: int,
        context: ssl.SSLContext | None = None,
        crowd: Crowd | None = None,
    ) -> None:
        self._expected = dict(expected)
        self._let_in = let_in
        self._start_ms = start_ms
        self._context = context
        self._turn = trio.Lock()
        self._last_free = descriptors() - 1 - SPARE
        self.crowd = crowd or Crowd()
        self.refused = 0
        """Connections that were no bot's."""

    async def serve(self, listener: socket) -> None:
        """Take connections until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                await trio.lowlevel.wait_readable(listener)
                for sock, address in accepted(listener):
                    nursery.start_soon(self._receive, sock, address)
                await trio.sleep(BREATH)

    async def _receive(self, sock: socket, address: str) -> None:
        """One connection, from its first byte until it is a bot or gone."""
        login: Login | None = None
        scope = trio.CancelScope(deadline=trio.current_time() + HELLO_LIMIT)
        visitor = Visitor(household(address), scope.cancel)
        crowded = sock.fileno() > self._last_free
        self.crowd.come(visitor, crowded=crowded)
        try:
            # ClosedResourceError: whoever waits for a number may be woken for the one that had it before.
            with scope, suppress(OSError, TlsError, trio.ClosedResourceError):
                if crowded:
                    sock = await self._moved_down(sock)
                login = await self._greeted(sock, address)
        finally:
            self.crowd.go(visitor)
            if login is None:
                self.refused += 1
                sock.close()
        if login is not None:
            self.crowd.logged_in(visitor)
            self._let_in(login)

    async def _moved_down(self, sock: socket) -> socket:
        """The same connection under a number that strangers may have. Raises OSError if there is none."""
        for _ in range(2):  # whoever leaves for this one closes meanwhile
            await trio.lowlevel.checkpoint()
        lower = sock.dup()
        sock.close()
        if lower.fileno() > self._last_free:
            lower.close()
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return lower

    async def _greeted(self, sock: socket, address: str) -> Login | None:
        """The bot, if it is one. Raises TlsError, OSError."""
        prepare(sock)
        tls = None
        if self._context is not None:
            tls = Tls(self._context)
            await handshake(tls, sock, self._turn)
        channel = SocketChannel(sock, tls)
        try:
            login = await self._introduced(channel, address)
        except BaseException:
            channel.close()
            raise
        return login

    async def _introduced(self, channel: SocketChannel, address: str) -> Login | None:
        conversation = RefereeConversation()
        if not channel.write_now(conversation.hello(referee=REFEREE, start_ms=self._start_ms)):
            channel.close()
            return None
        line, unread = await first_line(channel)
        answer = heard(conversation, line)
        if isinstance(answer, BotHello):
            name = self._name(answer.token)
            if name is not None:
                blotter = Blotter(answer.token)
                channel.adopt(blotter, unread)
                return Login(name, address, channel, conversation, without_token(answer, blotter))
            answer = REFUSED
        channel.write_now(conversation.bye(answer))
        await channel.part(LEAVING)
        return None

    def _name(self, token: str) -> str | None:
        """Whose token it is. All are looked at, so that the time tells nothing."""
        given = token if TOKEN.fullmatch(token) else ""
        found = [name for name, kept in self._expected.items() if matches(given, kept)]
        return found[0] if found and given else None


async def first_line(channel: SocketChannel) -> tuple[bytes, bytes]:
    """The first line with its LF, and what came behind it; an empty line for anything that cannot be a hello."""
    data = b""
    while b"\n" not in data:
        more = await channel.arrived()
        data += more
        if not more or data[0] not in BEGINNINGS or (b"\n" not in data[:HELLO_BYTES] and len(data) >= HELLO_BYTES):
            return b"", b""
    line, feed, unread = data.partition(b"\n")
    return line + feed, unread


def heard(conversation: RefereeConversation, line: bytes) -> BotHello | str:
    """The hello, if the line is one; else why it is none. Anything else is no bot of ours."""
    if not line:
        return REFUSED
    conversation.receive(line)
    item = conversation.next()
    if isinstance(item, BotHello):
        return item
    if isinstance(item, Refusal) and item.kind is RefusalKind.VERSION:
        return item.detail
    return REFUSED


def without_token(hello: BotHello, blotter: Blotter) -> BotHello:
    """What may be kept of a hello: an author may have put his token anywhere in it."""
    features = [blotter.text(feature) for feature in hello.features]
    return replace(
        hello, token="", name=blotter.text(hello.name), version=blotter.text(hello.version), features=features
    )


def accepted(listener: socket) -> Iterator[tuple[socket, str]]:
    """A handful of those who wait. Without a free descriptor none: those at the door have to leave first."""
    for _ in range(AT_ONCE):
        try:
            sock, address = listener.accept()
        except OSError:  # nobody is left, this one has gone again, or there is no descriptor
            return
        yield sock, str(address[0])


def descriptors() -> int:
    """How many this process may have."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if most == resource.RLIM_INFINITY else most
