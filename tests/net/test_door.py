"""What strangers hear at the door: always the same, whatever they say, in bounded time, and nothing of the matches."""

import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastcard.referee.net import door as door_module
from lastcard.referee.net.door import AT_ONCE, HELLO_BYTES, HELLO_LIMIT, accepted
from lastcard.referee.net.sockets import BACKLOG, listen
from lastcard.referee.net.tls import client_context, server_context
from tests.net.conftest import Certificate
from tests.net.doorway import HELLO, PATIENCE, SENT_AWAY, TOKEN, Doorway, doorway, reset, rest_of

GOOD = b'{"type":"hello","protocol":1,"token":"%s"}\n' % TOKEN.encode()


@pytest.fixture(scope="module")
def way() -> Iterator[Doorway]:
    """One door for many strangers."""
    with doorway() as way:
        yield way


@pytest.fixture
def short_limit(monkeypatch: pytest.MonkeyPatch) -> float:
    """The time for a hello, shorter than it is."""
    assert HELLO_LIMIT == 5
    monkeypatch.setattr(door_module, "HELLO_LIMIT", 1.0)
    return 1.0


def hello(**members: Any) -> bytes:
    return json.dumps({"type": "hello", "protocol": 1, **members}).encode() + b"\n"


def test_a_bot_comes_in(way: Doorway) -> None:
    with way.knock() as sock:
        sock.sendall(GOOD)
        assert way.came_in.get(timeout=PATIENCE) == "remote"
        assert sock.recv(65536) == HELLO
    assert way.empty()


# ---- T-01: time


def test_nobody_stands_longer_than_the_limit(short_limit: float) -> None:
    """T-01: whoever says nothing, part of a hello, or one byte now and then."""
    heard: dict[str, bytes] = {}
    lasted: dict[str, float] = {}

    def stranger(way: Doorway, name: str, first: bytes, drop: bytes) -> None:
        with way.knock() as sock:
            begun = time.perf_counter()
            sock.sendall(first)
            sock.settimeout(0.1)
            data = b""
            while True:
                try:
                    more = sock.recv(65536)
                    if not more:
                        break
                    data += more
                except TimeoutError:
                    sock.sendall(drop)
                except ConnectionError:
                    break
            heard[name], lasted[name] = data, time.perf_counter() - begun

    with doorway() as way:
        cases = {"silent": (b"", b""), "part": (GOOD[:-1], b""), "drops": (b"{", b" "), "spaces": (b" ", b" ")}
        threads = [threading.Thread(target=stranger, args=(way, name, *case)) for name, case in cases.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert heard == dict.fromkeys(cases, HELLO)
        assert all(short_limit * 0.9 < seconds < short_limit + 4 for seconds in lasted.values()), lasted
        assert way.empty()
        assert way.door.refused == len(cases)


# ---- T-02, T-03: other words

CLIENT_HELLO = bytes.fromhex("16030100f5010000f10303") + bytes(range(11, 240))  # no LF comes in it

FIRST_WORDS = {
    "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "http begun": b"GET / HT",
    "uci": b"uci\n",
    "act": b'{"type":"act","id":1,"action":"draw"}\n',
    "ready": b'{"type":"ready"}\n',
    "blank": b"\n",
    "crlf": b"\r\n",
    "blank before hello": b"\n" + GOOD,
    "no utf-8": b'{"type":"hello","protocol":1,"name":"\xff"}\n',
    "bom": b"\xef\xbb\xbf" + GOOD,
    "not json": b"{hello}\n",
    "list": b"[]\n",
    "no type": b"{}\n",
    "deep": b"{" + b'"a":{' * 1000 + b"\n",
    "tls": CLIENT_HELLO,
    "act before hello": b'{"type":"act","id":1,"action":"draw"}\n' + GOOD,
    "zero": b"\0" * 100,
}


@pytest.mark.parametrize("name", FIRST_WORDS)
def test_other_first_words(way: Doorway, name: str) -> None:
    """T-02: the answer is there at once, though the other side waits for more."""
    assert way.hears(FIRST_WORDS[name], end=False) == SENT_AWAY


def test_tls_on_a_plain_port(way: Doorway) -> None:
    """T-02: with OpenSSL's own first words."""
    context = ssl.create_default_context()
    with way.knock() as sock, pytest.raises((ssl.SSLError, ConnectionError)):
        context.wrap_socket(sock, server_hostname="localhost")
    assert way.empty()


TOKENS: dict[str, Any] = {
    "wrong": "x" * 22, "long": "x" * 64, "too long": "x" * 65, "short": TOKEN[:-1], "longer": TOKEN + "x", "empty": "",
    "null": None, "number": 22, "list": [TOKEN], "upper": TOKEN.upper(), "space": TOKEN + " ", "letter": "é" * 22,
    "hash": "sha256:" + "0" * 57,
}  # fmt: skip


@pytest.mark.parametrize("name", TOKENS)
def test_other_tokens(way: Doorway, name: str) -> None:
    """T-03."""
    assert way.hears(hello(token=TOKENS[name], name="remote"), end=False) == SENT_AWAY


def test_no_token(way: Doorway) -> None:
    """T-03, and T-12 for one that is of another bot."""
    assert way.hears(hello(name="remote"), end=False) == SENT_AWAY
    assert way.hears(hello(name=TOKEN), end=False) == SENT_AWAY
    assert way.hears(b'{"type":"hello","protocol":1,"token":"\\ud800%s"}\n' % TOKEN.encode(), end=False) == SENT_AWAY


def test_the_hash_of_nothing_lets_nobody_in() -> None:
    """Whatever file an organiser has written."""
    door = door_module.Door({"a": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                            lambda login: None, start_ms=1)  # fmt: skip
    assert door._name("") is None


@pytest.mark.parametrize("token", ["", TOKEN], ids=["without", "with"])
def test_another_protocol(way: Doorway, token: str) -> None:
    """T-04."""
    heard = way.hears(hello(token=token).replace(b'"protocol": 1', b'"protocol": 2'), end=False)
    first, second = heard.splitlines(keepends=True)
    assert first == HELLO
    bye = json.loads(second)
    assert bye["type"] == "bye"
    assert "1" in bye["reason"]
    assert "2" in bye["reason"]
    assert "again" not in bye


# ---- T-05: size


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize(("size", "comes_in"), [(HELLO_BYTES, True), (HELLO_BYTES + 1, False)])
def test_the_longest_hello(way: Doorway, size: int, comes_in: bool, pieces: int) -> None:
    """T-05: to the byte, however it comes."""
    line = GOOD[:-2] + b',"x":"' + b"x" * (size - len(GOOD) - 7) + b'"}\n'
    assert len(line) == size
    with way.knock() as sock:
        step = -(-size // pieces)
        for start in range(0, size, step):
            sock.sendall(line[start : start + step])
            if pieces > 1:
                time.sleep(0.01)
        if comes_in:
            assert way.came_in.get(timeout=PATIENCE) == "remote"
        else:
            assert rest_of(sock) == SENT_AWAY


def test_a_long_first_line(way: Doorway) -> None:
    """T-05: more than the system takes at once is not waited for."""
    assert way.hears(b"{" * HELLO_BYTES, end=False) == SENT_AWAY
    with way.knock() as sock, suppress(ConnectionError):
        sock.sendall(b"{" * (8 << 20))
    assert way.empty()


# ---- anything at all

beginnings = st.sampled_from([b"", b"{", b'{"type":"hello",', GOOD[:-3], GOOD[:20], b"\n", b"GET ", b"\x16\x03\x01"])


@given(begin=beginnings, rest=st.binary(max_size=6000), cut=st.integers(0, 6000))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_stranger_says(way: Doorway, begin: bytes, rest: bytes, cut: int) -> None:
    """T-02 to T-05: one of two constants."""
    said = begin + rest
    if said.startswith(GOOD[:-1]):
        said = b"x" + said
    heard = way.hears(said[:cut], said[cut:])
    assert heard == SENT_AWAY


@given(
    st.dictionaries(
        st.sampled_from(["type", "protocol", "token", "name", "version", "features"]),
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=70),
                  st.lists(st.text(max_size=40), max_size=20), st.just("hello"), st.just(1)),
    )
)  # fmt: skip
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_hello_a_stranger_says(way: Doorway, members: dict[str, Any]) -> None:
    """T-03, T-04."""
    heard = way.hears(json.dumps(members).encode() + b"\n")
    if heard != SENT_AWAY:
        first, second = heard.splitlines(keepends=True)
        assert first == HELLO
        assert members["type"] == "hello"
        assert members["protocol"] != 1
        assert str(members["protocol"]) in json.loads(second)["reason"]


# ---- T-06: TLS


def test_no_tls_on_a_tls_port(certificate: Certificate, short_limit: float) -> None:
    """T-06: an alert at most, and the end; those who stall leave in time."""
    with doorway(server_context(certificate.cert, certificate.key)) as way:
        for words in (GOOD, b"GET / HTTP/1.1\r\n\r\n", b"\n" * 100):
            with way.knock() as sock:
                sock.sendall(words)
                heard = b""
                with suppress(ConnectionError):
                    heard = rest_of(sock)
                assert heard[:1] in (b"", b"\x15")
                assert len(heard) <= 7
        begun = time.perf_counter()
        for part in (b"", CLIENT_HELLO[:5], b"\x16\x03\x01\xff\xff"):
            assert way.hears(part, end=False)[:1] in (b"", b"\x15")
        assert time.perf_counter() - begun < 3 * (short_limit + 4)
        assert way.empty()
        context = client_context(certificate.cert)
        with way.knock() as sock, context.wrap_socket(sock, server_hostname="localhost") as tls:
            tls.sendall(GOOD[:10])
            tls.sendall(GOOD[10:])
            assert way.came_in.get(timeout=PATIENCE) == "remote"
            assert tls.recv(65536) == HELLO
        for words in (b"\n", GOOD.replace(b"a-token", b"b-token")):
            with way.knock() as sock, context.wrap_socket(sock, server_hostname="localhost") as tls:
                tls.sendall(words)
                heard = tls.recv(65536)
                while more := tls.recv(65536):  # its end is TLS's own: no error is hidden here
                    heard += more
                assert heard == SENT_AWAY


def test_hello_in_the_last_piece_of_the_handshake(certificate: Certificate) -> None:
    """What comes in one packet with the end of the handshake is not lost."""
    with doorway(server_context(certificate.cert, certificate.key)) as way, way.knock() as sock:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = client_context(certificate.cert).wrap_bio(incoming, outgoing, server_hostname="localhost")
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                if data := outgoing.read():
                    sock.sendall(data)
                incoming.write(sock.recv(65536))
        tls.write(GOOD)
        sock.sendall(outgoing.read())
        assert way.came_in.get(timeout=PATIENCE) == "remote"


# ---- T-07, T-08: many


def test_many_of_one_address() -> None:
    """T-07: the oldest of them leaves for the newest, and a bot of that address comes in."""
    with doorway() as way:
        with crowd(way, ["127.0.0.1"] * 40) as socks, greeted(way, source="127.0.0.2") as other:
            assert standing(socks) == list(range(8, 40))
            with way.knock() as bot:
                bot.sendall(GOOD)
                assert way.came_in.get(timeout=PATIENCE) == "remote"
            assert standing([other]) == [0]
        assert way.door.crowd.pushed_out == 9
        assert way.empty()


def test_many_of_many_addresses() -> None:
    """T-07: the oldest of the address with most leaves; who comes from a bot's address has a place beside them all."""
    with doorway() as way:
        with way.knock(source="127.0.0.99") as bot:
            bot.sendall(GOOD)
            assert way.came_in.get(timeout=PATIENCE) == "remote"
        with crowd(way, [f"127.0.1.{number // 30}" for number in range(192)]) as socks:
            assert standing(socks) == list(range(192))
            with greeted(way, source="127.0.0.99") as known:
                assert standing([known, *socks]) == list(range(193))
                with greeted(way, source="127.0.2.1") as new:
                    assert standing([new, known]) == [0, 1]
                    assert standing(socks) in (list(range(1, 192)), [*range(30), *range(31, 192)])
        assert way.empty()


def test_a_handful_is_taken_at_a_time() -> None:
    """T-08."""
    (listener,) = listen("127.0.0.1", 0)
    with listener:
        socks = [socket.create_connection(listener.getsockname()) for _ in range(2 * AT_ONCE + 3)]
        taken = [[sock for sock, _ in accepted(listener)] for _ in range(4)]
        assert [len(handful) for handful in taken] == [16, 16, 3, 0]
        for sock in [*socks, *(sock for handful in taken for sock in handful)]:
            sock.close()
    assert BACKLOG == 1024


def test_a_burst() -> None:
    """T-08: those who cannot be looked at wait in the system's queue."""
    with doorway() as way:
        socks = [way.knock(source=f"127.0.3.{number // 30}") for number in range(300)]
        try:
            with way.knock(source="127.0.4.1") as bot:
                bot.sendall(GOOD)
                assert way.came_in.get(timeout=PATIENCE) == "remote"
        finally:
            for sock in socks:
                sock.close()
        assert way.empty()


def greeted(way: Doorway, *, source: str = "127.0.0.1") -> socket.socket:
    """A stranger who has heard hello, so that the door has seen him."""
    sock = way.knock(source=source)
    assert sock.recv(len(HELLO), socket.MSG_WAITALL) == HELLO
    return sock


@contextmanager
def crowd(way: Doorway, sources: Iterable[str]) -> Iterator[list[socket.socket]]:
    """Strangers from these addresses, each of whom the door has seen before the next one knocks."""
    socks: list[socket.socket] = []
    try:
        for source in sources:
            socks.append(greeted(way, source=source))
        yield socks
    finally:
        for sock in socks:
            sock.close()


def standing(socks: Sequence[socket.socket]) -> list[int]:
    """Which of them are connected, after a while in which they could have been sent away."""
    time.sleep(0.1)
    return [number for number, sock in enumerate(socks) if is_open(sock)]


def is_open(sock: socket.socket) -> bool:
    sock.setblocking(False)
    try:
        return sock.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


# ---- T-09: no descriptor


def test_the_last_descriptors_are_no_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """T-09: those at the door make room for the newest, and never take the last ones."""
    used = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(door_module, "descriptors", lambda: used + 60 + door_module.SPARE)
    with doorway() as way:
        with crowd(way, [f"127.0.5.{number}" for number in range(80)]) as socks:
            left = standing(socks)
            assert 0 < len(left) < 60
            assert left[-1] == 79
            with way.knock() as bot:
                bot.sendall(GOOD)
                assert way.came_in.get(timeout=PATIENCE) == "remote"
        assert way.empty()


# ---- T-10: resets


@pytest.mark.parametrize("secured", [False, True], ids=["plain", "tls"])
def test_resets_are_forgotten(certificate: Certificate, secured: bool) -> None:
    """T-10: at every stage, by a reset or in good order."""
    context = server_context(certificate.cert, certificate.key) if secured else None
    with doorway(context) as way:
        way.hears(GOOD[:3])  # the first one opens what stays: the count of waits for a core
        before = len(os.listdir("/proc/self/fd"))
        for words in (b"", b"{", GOOD[:-1], b"\n", CLIENT_HELLO[:9], CLIENT_HELLO, GOOD + b"x" * 5000):
            for end in (reset, socket.socket.close):
                sock = way.knock()
                sock.sendall(words)
                end(sock)
                sock = way.knock()
                if not secured:
                    sock.recv(1)
                sock.sendall(words)
                end(sock)
        assert way.empty()
        for _ in range(500):
            if len(os.listdir("/proc/self/fd")) <= before + way.came_in.qsize():  # a bot stays until the door is closed
                return
            time.sleep(0.01)
        raise AssertionError("a descriptor is left")


def test_an_address_of_ipv6() -> None:
    with doorway(host="::1") as way, socket.create_connection(("::1", way.port), timeout=PATIENCE) as sock:
        sock.sendall(GOOD)
        assert way.came_in.get(timeout=PATIENCE) == "remote"
