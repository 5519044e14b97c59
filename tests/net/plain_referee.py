"""A referee of plain sockets and threads, to prove the client against something that is not ours; imports none of it.

It asks as many questions as it is told, over as many connections as it takes, under the rules of spec.md 4: after a
new login with the token the open ask comes again with its id. It can cut a connection at any message boundary.
"""

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

TOKEN = "abcdefghijklmnopqrstuv"
PATIENCE = 20

HELLO = {"type": "hello", "protocol": 1, "referee": "plain 1.0", "start_ms": 20000, "max_line": 65536}
START = {
    "type": "start", "match": "m1", "edition": "classic", "options": {}, "seat": 0, "players": ["a", "b"],
    "limits": {}, "bot_seed": 7,
}  # fmt: skip
END = {"type": "end", "match": "m1", "places": [1, 2], "scores": [20, 0], "events": []}
BYE = {"type": "bye", "reason": "that was all"}


class Cut(Exception):
    """The connection is to be cut here."""


class Gone(Exception):
    """The other end has closed."""


class Line:
    """One connection, read and written line by line, that is cut at some boundaries."""

    def __init__(self, sock: socket.socket, cuts: set[int], half: bool) -> None:
        self._sock = sock
        self._cuts = cuts
        self._half = half
        self._held = b""
        self.boundary = 0

    def say(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        if self._half and self.boundary + 1 in self._cuts:
            self._sock.sendall(data[: len(data) // 2])
            raise Cut
        self._sock.sendall(data)
        self.pass_boundary()

    def hear(self) -> dict[str, Any]:
        line = self.hear_bytes()
        self.pass_boundary()
        message: dict[str, Any] = json.loads(line)
        return message

    def hear_bytes(self) -> bytes:
        while b"\n" not in self._held:
            data = self._sock.recv(65536)
            if not data:
                raise Gone
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return line

    def pass_boundary(self) -> None:
        self.boundary += 1
        if self.boundary in self._cuts:
            raise Cut


class PlainReferee:
    """Serves one bot, one connection after the other, in a thread of its own."""

    def __init__(
        self,
        asks: int = 3,
        *,
        cuts: frozenset[int] = frozenset(),
        half: bool = False,
        tls: ssl.SSLContext | None = None,
        rcvbuf: int = 0,
    ) -> None:
        """`cuts` are boundaries of the first connection; `half` leaves half a line of what was being said."""
        self.asks = asks
        self.cuts = cuts
        self.half = half
        self.hellos: list[dict[str, Any]] = []
        self.answers: dict[int, str] = {}
        self.boundaries = 0
        self.parted = False
        """The bye was read: the other end has closed after it."""
        self.trouble: BaseException | None = None
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE)
        if rcvbuf:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.port: int = self._listener.getsockname()[1]

    def serve(self) -> None:
        """Until the bye, or until the listener is closed."""
        try:
            connection = 0
            while not self.parted:
                sock, _ = self._listener.accept()
                with sock:
                    sock.settimeout(PATIENCE)
                    self._serve_one(sock, set(self.cuts) if connection == 0 else set())
                connection += 1
        except BaseException as error:
            self.trouble = error

    def _serve_one(self, sock: socket.socket, cuts: set[int]) -> None:
        stream = self._tls.wrap_socket(sock, server_side=True) if self._tls else sock
        line = Line(stream, cuts, self.half)
        with suppress(Cut, Gone, ConnectionError), stream:
            self.converse(line)
        self.boundaries = max(self.boundaries, line.boundary)

    def converse(self, line: Line) -> None:
        line.say(HELLO)
        hello = line.hear()
        self.hellos.append(hello)
        if hello.get("token") != TOKEN:
            line.say({"type": "bye", "reason": "who are you?"})
            return
        line.say({**START, "resumed": True} if len(self.hellos) > 1 else START)
        while len(self.answers) < self.asks:
            number = len(self.answers) + 1
            line.say(ask(number))
            answer = line.hear()
            while answer["id"] != number:  # stale: of an ask that came twice
                answer = line.hear()
            self.answers[number] = answer["action"]
            line.say({"type": "events", "events": [{"type": "skip", "seat": number}]})
        line.say(END)
        try:
            line.say(BYE)
        except Cut:
            self.parted = not self.half
            raise
        self.parted = True

    def hang_up(self) -> None:
        """Wake the thread if it waits for a connection, which closing alone would not."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()


def ask(number: int) -> dict[str, Any]:
    """Some ask, of a few hundred bytes."""
    legal = [f"play R{number % 9 + 1}", "play WD R", "draw"]
    state = {"round": 1, "turn": 0, "hand": ["R1", "WD"], "counts": [2, 7], "top": "R3", "note": "x" * 200}
    return {"type": "ask", "id": number, "kind": "turn", "legal": legal, "state": state, "events": [], "move_ms": 1000}


R = TypeVar("R", bound=PlainReferee)


@contextmanager
def serving(referee: R) -> Iterator[R]:
    """The referee at work, ended at the end of the block."""
    thread = threading.Thread(target=referee.serve)
    thread.start()
    try:
        yield referee
    finally:
        referee.hang_up()
        thread.join(PATIENCE)
        referee.close()
        assert not thread.is_alive()
