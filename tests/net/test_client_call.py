"""One call: what is said of each thing that can be wrong with an address, a server, its TLS and its first line."""

import errno
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from lastcard.referee.net.client_call import Address, CallFailed, call, parse_address
from lastcard.referee.net.client_link import Lost
from lastcard.referee.net.tls import client_context, server_context
from tests.net.client_rig import REFEREE_HELLO
from tests.net.conftest import Certificate, MakeCertificate

Handler = Callable[[trio.SocketStream], Awaitable[None]]


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("example.org:4000", "example.org", 4000), ("127.0.0.1:1", "127.0.0.1", 1), ("[::1]:65535", "::1", 65535)],
)
def test_an_address(text: str, host: str, port: int) -> None:
    assert parse_address(text) == (host, port)
    assert str(parse_address(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example.org", "HOST:PORT"),
        (":4000", "HOST:PORT"),
        ("[]:4000", "HOST:PORT"),
        ("host:", "HOST:PORT"),
        ("host:0", "HOST:PORT"),
        ("host:65536", "HOST:PORT"),
        ("host:http", "HOST:PORT"),
        ("host:-1", "HOST:PORT"),
        ("host:٣", "HOST:PORT"),
        ("::1:4000", "brackets around an IPv6 address"),
        ("[::1:4000", "brackets around an IPv6 address"),
        ("[::1]", "brackets around an IPv6 address"),
        ("", "HOST:PORT"),
    ],
)
def test_no_address(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        parse_address(text)


@asynccontextmanager
async def server(handler: Handler) -> AsyncIterator[Address]:
    """Something that listens on this machine."""
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, handler, [listener])
        yield Address("127.0.0.1", listener.socket.getsockname()[1])
        nursery.cancel_scope.cancel()


def says(*lines: bytes, then: float = 3600) -> Handler:
    """A server that speaks first, and closes so many seconds later."""

    async def handler(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.send_all(b"".join(line + b"\n" for line in lines))
            await trio.sleep(then)

    return handler


async def failure(address: Address, context: ssl.SSLContext | None = None) -> tuple[str, bool]:
    """The words of the call's failure with HOST:PORT in place of the real ones, and whether it is hopeless."""
    with pytest.raises(CallFailed) as caught:
        await call(address, context)
    return str(caught.value).replace(str(address), "HOST:PORT"), caught.value.hopeless


# ---- no connection


async def test_nobody_listens() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = Address("127.0.0.1", bound.getsockname()[1])
        assert await failure(address) == ("HOST:PORT refuses: no referee listens there", False)


class Resolver(trio.abc.HostnameResolver):
    """Knows no host but for the reason that it is told."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    async def getaddrinfo(self, *_: Any, **__: Any) -> Any:
        raise self._error

    async def getnameinfo(self, *_: Any, **__: Any) -> Any:
        raise self._error


@pytest.mark.parametrize(
    ("number", "words", "hopeless"),
    [
        (socket.EAI_NONAME, "there is no host 'nowhere.example'", True),
        (socket.EAI_AGAIN, "the host 'nowhere.example' cannot be looked up: try again", False),
    ],
)
async def test_no_such_host(number: int, words: str, hopeless: bool) -> None:
    trio.socket.set_custom_hostname_resolver(Resolver(socket.gaierror(number, "Try again")))
    assert await failure(Address("nowhere.example", 4000)) == (words, hopeless)


@pytest.mark.parametrize("host", ["a..b", "x" * 64 + ".example", "\udc80"])
async def test_no_possible_host(host: str) -> None:
    words, hopeless = await failure(Address(host, 4000))
    assert words.startswith("there can be no host ")
    assert hopeless


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([errno.EHOSTUNREACH], "HOST:PORT cannot be reached: no route to host"),
        ([errno.ENETUNREACH], "HOST:PORT cannot be reached: network is unreachable"),
        ([errno.ETIMEDOUT], "no answer from HOST:PORT"),
        ([errno.ENETUNREACH, errno.ECONNREFUSED], "HOST:PORT refuses: no referee listens there"),
        ([errno.EACCES], "HOST:PORT: permission denied"),
    ],
)
async def test_no_way_there(numbers: list[int], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_way(*_: object) -> trio.SocketStream:
        await trio.lowlevel.checkpoint()
        tried = [OSError(number, os.strerror(number)) for number in numbers]
        raise OSError("all attempts failed") from ExceptionGroup("all attempts failed", tried)

    monkeypatch.setattr(trio, "open_tcp_stream", no_way)
    assert await failure(Address("example.org", 4000)) == (words, False)


async def test_no_answer_within_the_limit(autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_answer(*_: object) -> trio.SocketStream:
        await trio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(trio, "open_tcp_stream", no_answer)
    assert await failure(Address("example.org", 4000)) == ("no answer from HOST:PORT in 10 s", False)


# ---- the first line


async def test_a_referee_says_hello() -> None:
    async with server(says(REFEREE_HELLO, b'{"type":"start"}', then=0)) as address:
        link = await call(address, None)
        assert (link.hello, link.start_s) == (REFEREE_HELLO + b"\n", 20.0)
        assert await link.next_line() == b'{"type":"start"}'
        with pytest.raises(Lost, match="closed by the other end"):
            await link.next_line()
        await link.drop()


@pytest.mark.parametrize(
    ("line", "words", "hopeless"),
    [
        (b"SSH-2.0-OpenSSH_9.2", "HOST:PORT is no referee of lastcard: its first line is 'SSH-2.0-OpenSSH_9.2'", True),
        (b"\x1b[2J\xff", r"HOST:PORT is no referee of lastcard: its first line is '\x1b[2J\\xff'", True),
        (b'{"type":"ask"}', "HOST:PORT is no referee of lastcard: its first line is '{\"type\":\"ask\"}'", True),
        (b"x" * 999, f"HOST:PORT is no referee of lastcard: its first line is '{'x' * 60}'", True),
        (b'{"type":"hello","protocol":2}',
         "HOST:PORT: this end speaks protocol 1, the other end speaks protocol 2", True),
        (b'{"type":"bye","reason":"full"}', "HOST:PORT says bye: full", True),
        (b'{"type":"bye","reason":"full","again":true}', "HOST:PORT says bye: full", False),
    ],
)  # fmt: skip
async def test_a_first_line_that_is_no_hello(line: bytes, words: str, hopeless: bool) -> None:
    async with server(says(line)) as address:
        assert await failure(address) == (words, hopeless)


async def test_who_closes_at_once_may_be_a_proxy() -> None:
    async with server(says(then=0)) as address:
        closed = "HOST:PORT closed the connection before it said hello (closed by the other end): does it want --tls?"
        assert await failure(address) == (closed, False)


@pytest.fixture
def quick_clock() -> MockClock:
    """Jumps when nothing has happened for a moment: what a socket brings is no event of the clock's."""
    return MockClock(autojump_threshold=0.1)


async def test_who_closes_after_a_silence_has_waited_for_us(quick_clock: MockClock) -> None:
    async with server(says(then=5)) as address:
        words, hopeless = await failure(address)
    assert words.endswith("before it said hello (closed by the other end): does it want --tls?")
    assert hopeless


async def test_who_says_nothing(quick_clock: MockClock) -> None:
    async with server(says(then=3600)) as address:
        silent = "HOST:PORT says nothing: is it a referee of lastcard, does it want --tls?"
        assert await failure(address) == (silent, False)


# ---- TLS


def over_tls(certificate: Certificate, *lines: bytes) -> Handler:
    context = server_context(certificate.cert, certificate.key)

    async def handler(stream: trio.SocketStream) -> None:
        try:
            secured = trio.SSLStream(stream, context, server_side=True)
            await secured.send_all(b"".join(line + b"\n" for line in lines))
            await trio.sleep_forever()
        except trio.BrokenResourceError:
            await stream.aclose()

    return handler


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_certificate_that_is_named_is_believed(certificate: Certificate, host: str) -> None:
    async with server(over_tls(certificate, REFEREE_HELLO)) as address:
        link = await call(Address(host, address.port), client_context(certificate.cert))
        assert link.hello == REFEREE_HELLO + b"\n"
        await link.drop()


async def test_a_certificate_that_is_not_named_is_not_believed(certificate: Certificate) -> None:
    async with server(over_tls(certificate, REFEREE_HELLO)) as address:
        words, hopeless = await failure(address, client_context(None))
    assert words.startswith("the certificate of HOST:PORT is not believed (self")
    assert words.endswith("): name it or its authority with --ca FILE")
    assert hopeless


async def test_a_certificate_for_another_name(make_certificate: MakeCertificate) -> None:
    other = make_certificate("DNS:example.org,IP:127.0.0.2")
    async with server(over_tls(other, REFEREE_HELLO)) as address:
        words, hopeless = await failure(address, client_context(other.cert))
        named, _ = await failure(Address("localhost", address.port), client_context(other.cert))
    assert words.startswith("HOST:PORT shows a certificate for another name: ")
    assert "not valid for '127.0.0.1'" in words
    assert named.startswith("HOST:PORT shows a certificate for another name: ")
    assert hopeless


async def test_a_referee_without_tls(certificate: Certificate) -> None:
    async with server(says(REFEREE_HELLO)) as address:
        no_tls = "HOST:PORT does not speak TLS: leave out --tls and --ca"
        assert await failure(address, client_context(certificate.cert)) == (no_tls, True)


async def test_a_handshake_that_is_broken_off(certificate: Certificate) -> None:
    async with server(says(then=0)) as address:
        words, hopeless = await failure(address, client_context(certificate.cert))
    assert words.startswith("HOST:PORT broke off the TLS handshake (")
    assert words.endswith("): does it speak TLS?")
    assert not hopeless


async def test_a_handshake_that_is_not_answered(certificate: Certificate, quick_clock: MockClock) -> None:
    async with server(says(then=3600)) as address:
        silent = "HOST:PORT does not answer the TLS handshake: does it speak TLS?"
        assert await failure(address, client_context(certificate.cert)) == (silent, False)


async def test_a_referee_with_tls_is_called_without(certificate: Certificate, quick_clock: MockClock) -> None:
    """It waits for us as we for it."""
    async with server(over_tls(certificate, REFEREE_HELLO)) as address:
        words, hopeless = await failure(address)
    assert words.endswith("does it want --tls?")
    assert not hopeless
