"""TLS at the referee's end: what a peer can do to a match by it, and files that are no certificates."""

import os
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from lastcard.referee.channel import Sent
from lastcard.referee.net.blot import Blotter
from lastcard.referee.net.socket_channel import SocketChannel
from lastcard.referee.net.sockets import prepare
from lastcard.referee.net.tls import Tls, TlsError, client_context, handshake, server_context
from tests.net.caller import Caller, Gone, answer, honest
from tests.net.conftest import Certificate, MakeCertificate
from tests.net.hall import opened


class Peer:
    """The bot's end, with OpenSSL in the test's hands: what goes over the line is bytes that the test may change."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        self.sock = sock
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")

    async def shake(self) -> None:
        while True:
            try:
                self.tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.flush()
                await trio.lowlevel.wait_readable(self.sock)
                self.incoming.write(self.sock.recv(65536))
        self.flush()

    def flush(self) -> None:
        if data := self.outgoing.read():
            self.sock.sendall(data)

    def say(self, data: bytes) -> None:
        self.tls.write(data)
        self.flush()

    async def hears(self) -> bytes:
        """The next words of the referee; b"" after TLS's own end."""
        while True:
            try:
                return self.tls.read(65536)
            except ssl.SSLWantReadError:
                await trio.lowlevel.wait_readable(self.sock)
                data = self.sock.recv(65536)
                if not data:
                    raise
                self.incoming.write(data)
            except ssl.SSLZeroReturnError:
                return b""


async def pair(
    certificate: Certificate, tune: Callable[[ssl.SSLContext], object] | None = None
) -> tuple[SocketChannel, Peer]:
    """The referee's channel to a bot that has logged in, and the bot."""
    ours, theirs = socket.socketpair()
    prepare(ours)
    theirs.setblocking(False)
    context = client_context(certificate.cert)
    if tune is not None:
        tune(context)
    tls, peer = Tls(server_context(certificate.cert, certificate.key)), Peer(theirs, context)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(peer.shake)
        await handshake(tls, ours, trio.Lock())
    channel = SocketChannel(ours, tls)
    channel.adopt(Blotter("x" * 22), b"")
    return channel, peer


def no_tls13(context: ssl.SSLContext) -> None:
    context.maximum_version = ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("tune", [None, no_tls13], ids=["1.3", "1.2"])
async def test_lines_in_both_directions(certificate: Certificate, tune: Callable[[ssl.SSLContext], object]) -> None:
    channel, peer = await pair(certificate, tune)
    soon = channel.clock() + 20
    long = b"y" * 500_000 + b"\n"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(channel.send, long, soon)
        heard = b""
        while len(heard) < len(long):
            heard += await peer.hears()
    assert heard == long
    peer.say(b"one\n")
    peer.say(b"two\n")
    heard = b""
    while len(heard) < 8:
        heard += await channel.receive(soon) or b""
    assert heard == b"one\ntwo\n"
    assert channel.read_now() is None
    channel.close_write()
    assert await peer.hears() == b""  # TLS has said that nothing was cut off
    peer.sock.close()
    assert await channel.receive(soon) == b""
    channel.close()


async def test_the_peer_ends_tls_and_not_the_connection(certificate: Certificate) -> None:
    """That is its end: it can say nothing more."""
    channel, peer = await pair(certificate)
    peer.say(b"last words\n")
    with pytest.raises(ssl.SSLWantReadError):
        peer.tls.unwrap()
    peer.flush()
    assert await channel.receive(channel.clock() + 20) == b"last words\n"
    assert channel.read_now() == b""
    assert await channel.receive(channel.clock() + 20) == b""
    assert channel.ended
    await channel.part(0.1)
    peer.sock.close()


BROKEN = {
    "no record": b"\n{}\n" * 10,
    "damaged": b"\x17\x03\x03\x00\x20" + b"x" * 32,
    "huge": b"\x17\x03\x03\xff\xff" + b"x" * 1000,
    "alert": b"\x15\x03\x03\x00\x02\x02\x28",
    "handshake again": b"\x16\x03\x03\x00\x04\x01\x00\x00\x00",
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_peer_that_breaks_tls_has_ended(certificate: Certificate, name: str) -> None:
    """T-10: what was said before counts; nothing that we say afterwards raises."""
    channel, peer = await pair(certificate)
    soon = channel.clock() + 20
    peer.say(b"whole\n")
    assert await channel.receive(soon) == b"whole\n"
    peer.sock.sendall(BROKEN[name])
    assert await channel.receive(soon) == b""
    assert channel.ended
    for _ in range(3):
        channel.write_now(b"bye\n")
    assert await channel.send(b"bye\n", soon) in (Sent.CLOSED, Sent.TAKEN)
    await channel.part(0.1)
    peer.sock.close()


async def test_a_peer_that_asks_for_tls12_again(certificate: Certificate) -> None:
    """Renegotiation is refused by OpenSSL; it must not tear a match."""
    openssl_s_client_renegotiation = BROKEN["handshake again"]
    channel, peer = await pair(certificate, no_tls13)
    peer.sock.sendall(openssl_s_client_renegotiation)
    assert await channel.receive(channel.clock() + 20) == b""
    channel.write_now(b"x\n")
    await channel.part(0.1)
    peer.sock.close()


async def test_a_peer_that_does_not_read(certificate: Certificate) -> None:
    """T-13: sealed bytes wait in their order, and no byte twice."""
    channel, peer = await pair(certificate)
    lines = [b"%d " % number + b"z" * 20_000 + b"\n" for number in range(100)]
    taken = [channel.write_now(line) for line in lines]
    assert taken[0]
    assert not taken[-1]
    assert await channel.send(b"last\n", channel.clock() + 0.05) is Sent.STALLED
    expected = b"".join(lines) + b"last\n"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(channel.send, b"", channel.clock() + 20)
        heard = b""
        while len(heard) < len(expected):
            heard += await peer.hears()
    assert heard == expected
    peer.sock.close()
    channel.close()


async def test_a_bot_that_breaks_tls_in_a_match_comes_back(certificate: Certificate, tmp_path: Path) -> None:
    """T-14."""

    def broken(caller: Caller) -> None:
        for number in range(5):
            caller.log_in()
            caller.until("ask")
            raw = socket.socket(fileno=os.dup(caller.sock.fileno()))
            raw.sendall(list(BROKEN.values())[number])
            raw.close()
            caller.rest()
        while True:
            try:
                caller.log_in()
                while (line := caller.read())["type"] != "bye":
                    answer(caller, line)
            except Gone:
                continue
            return

    server, client = server_context(certificate.cert, certificate.key), client_context(certificate.cert)
    async with opened("a", "b", patience=20, server=server, client=client) as hall:
        hall.run("a", broken)
        hall.run("b", honest)
        game = await hall.play(tmp_path / "m", "a", "b")
    assert game.faults == []


# ---- files


@pytest.mark.parametrize("what", ["no file", "text", "swapped", "folder", "other key"])
def test_what_is_no_certificate(
    certificate: Certificate, make_certificate: MakeCertificate, tmp_path: Path, what: str
) -> None:
    text = tmp_path / "text"
    text.write_text("hello")
    cert, key = {
        "no file": (tmp_path / "none", certificate.key),
        "text": (text, certificate.key),
        "swapped": (certificate.key, certificate.cert),
        "folder": (tmp_path, certificate.key),
        "other key": (certificate.cert, make_certificate("DNS:other").key),
    }[what]
    with pytest.raises(TlsError, match="expected a certificate"):
        server_context(cert, key)


def test_a_key_with_a_password(
    certificate: Certificate, tmp_path: Path, require_debian: Callable[[str, str], str]
) -> None:
    """Nobody is there to be asked for it."""
    import subprocess

    locked = tmp_path / "locked.pem"
    subprocess.run(
        [require_debian("openssl", "openssl"), "ec", "-in", str(certificate.key), "-aes128", "-passout", "pass:secret",
         "-out", str(locked)], check=True, capture_output=True,
    )  # fmt: skip
    with pytest.raises(TlsError, match="expected a certificate and its key in PEM form"):
        server_context(certificate.cert, locked)
