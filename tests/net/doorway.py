"""A door at work in a thread of its own, so that tests without a loop, and those of Hypothesis, can knock at it."""

import queue
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import trio

from lastcard.protocol import Bye, RefereeHello, encode
from lastcard.protocol.messages import MAX_LINE
from lastcard.referee.net.door import REFUSED, Door, Login
from lastcard.referee.net.sockets import listen
from lastcard.referee.net.tokens import hash_of
from lastcard.referee.version import REFEREE

TOKEN = "a-token-of-22-letters_"
START_MS = 1234
HELLO = encode(RefereeHello(1, REFEREE, START_MS, MAX_LINE))
SENT_AWAY = HELLO + encode(Bye(REFUSED))
"""All that a stranger ever hears, but for the version of the protocol."""

PATIENCE = 20.0


class Doorway(NamedTuple):
    """A door, its port, and the names of those who came in."""

    door: Door
    port: int
    came_in: "queue.Queue[str]"

    def knock(self, *, source: str = "127.0.0.1") -> socket.socket:
        """A connection that has said nothing."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE, source_address=(source, 0))

    def hears(self, *parts: bytes, end: bool = True, source: str = "127.0.0.1") -> bytes:
        """All that is said to somebody who says this, and then ends his side or waits."""
        with self.knock(source=source) as sock:
            for part in parts:
                sock.sendall(part)
            if end:
                sock.shutdown(socket.SHUT_WR)
            return rest_of(sock)

    def empty(self) -> bool:
        """Whether nobody stands there, after a while at the most."""
        for _ in range(500):
            if not len(self.door.crowd):
                return True
            threading.Event().wait(0.02)
        return False


def rest_of(sock: socket.socket) -> bytes:
    """All up to the end of the connection."""
    heard = b""
    while data := sock.recv(65536):
        heard += data
    return heard


def reset(sock: socket.socket) -> None:
    """End it as a machine that has lost its power ends it, when it is back."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


@contextmanager
def doorway(context: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Doorway]:
    """The door at work. Whoever comes in is noted and stays connected until the end."""
    (listener,) = listen(host, 0)
    logins: list[Login] = []
    came_in: queue.Queue[str] = queue.Queue()
    scope = trio.CancelScope()
    trouble: list[BaseException] = []

    def let_in(login: Login) -> None:
        logins.append(login)
        came_in.put(login.name)

    doors: queue.Queue[tuple[Door, trio.lowlevel.TrioToken]] = queue.Queue()

    async def serve() -> None:
        door = Door({"remote": hash_of(TOKEN)}, let_in, start_ms=START_MS, context=context)
        doors.put((door, trio.lowlevel.current_trio_token()))
        with listener, scope:
            await door.serve(listener)
        for login in logins:
            login.channel.close()

    def run() -> None:
        try:
            trio.run(serve)
        except BaseException as error:
            trouble.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    door, loop = doors.get(timeout=PATIENCE)
    try:
        yield Doorway(door, listener.getsockname()[1], came_in)
    finally:
        with suppress(trio.RunFinishedError):
            loop.run_sync_soon(scope.cancel)
        thread.join(PATIENCE)
        assert not thread.is_alive()
        if trouble:
            raise trouble[0]
