"""Bots that come over TCP, as their authors write them: blocking sockets and JSON in a thread; imports nothing of ours.

A script is a function of a `Caller`. What goes wrong in it is raised where the test waits for it.
"""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

Line = dict[str, Any]
PATIENCE = 30.0


class Gone(Exception):
    """The referee has closed the connection, or it is broken."""


class Caller:
    """One bot, over as many connections as it makes, one at a time."""

    def __init__(
        self, port: int, token: str, *, host: str = "127.0.0.1", source: str = "", tls: ssl.SSLContext | None = None
    ) -> None:
        self.port = port
        self.token = token
        self.host = host
        self.source = source
        self.tls = tls
        self.heard: list[Line] = []
        """Every line of the referee on this connection."""
        self.earlier: list[list[Line]] = []
        """The same on the connections before."""
        self._sock: socket.socket | None = None
        self._data = b""

    @property
    def sock(self) -> socket.socket:
        assert self._sock is not None
        return self._sock

    def connect(self) -> None:
        """A new connection, without a word."""
        self.cut()
        if self.heard:
            self.earlier.append(self.heard)
        self.heard, self._data = [], b""
        source = (self.source, 0) if self.source else None
        self._sock = socket.create_connection((self.host, self.port), timeout=PATIENCE, source_address=source)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls is not None:
            self._sock = self.tls.wrap_socket(self._sock, server_hostname="localhost")

    def log_in(self, features: Sequence[str] = (), **more: Any) -> None:
        """A new connection, as far as the bot's hello."""
        self.connect()
        assert self.read()["type"] == "hello"
        self.say({"type": "hello", "protocol": 1, "token": self.token, "features": list(features), **more})

    def read(self) -> Line:
        """The next line. Raises Gone."""
        while b"\n" not in self._data:
            try:
                data = self.sock.recv(65536)
            except TimeoutError:
                raise
            except OSError as error:
                raise Gone(str(error)) from error
            if not data:
                raise Gone("closed")
            self._data += data
        line, _, self._data = self._data.partition(b"\n")
        self.heard.append(json.loads(line))
        return self.heard[-1]

    def until(self, *kinds: str) -> Line:
        """Reads up to a line of one of these types."""
        while (line := self.read())["type"] not in kinds:
            pass
        return line

    def rest(self) -> list[Line]:
        """All lines up to the end of the connection."""
        with suppress(Gone):
            while True:
                self.read()
        return self.heard

    def say(self, line: object) -> None:
        """One message, or bytes as they are. Raises Gone."""
        data = line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
        try:
            self.sock.sendall(data)
        except TimeoutError:
            raise
        except OSError as error:
            raise Gone(str(error)) from error

    def act(self, ask: Line, action: str | None = None, **more: Any) -> None:
        """Answers; if it is not said how, with the first legal action and the call that is due."""
        self.say({"type": "act", "id": ask["id"], "action": action or choice(ask), **more})

    def cut(self, *, reset: bool = False) -> None:
        """End the connection, in good order or with a reset."""
        if self._sock is not None:
            if reset:
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._sock.close()
            self._sock = None

    @property
    def all_heard(self) -> list[Line]:
        """Every line on every connection."""
        return [line for lines in (*self.earlier, self.heard) for line in lines]


def choice(ask: Line) -> str:
    """The first legal action, with the call if it is due."""
    action: str = ask["legal"][0]
    return f"{action} uno" if action.startswith("play") and len(ask["state"]["hand"]) == 2 else action


Script = Callable[[Caller], None]


def honest(caller: Caller) -> None:
    """A good bot, from login to bye; comes back when it is invited or its line is lost."""
    while True:
        caller.log_in()
        try:
            bye = play(caller)
        except Gone:
            continue
        if not bye.get("again"):
            return


def play(caller: Caller, features: Sequence[str] = ()) -> Line:
    """Answer everything up to bye, which is returned. Raises Gone."""
    while (line := caller.read())["type"] != "bye":
        answer(caller, line, features)
    return line


def answer(caller: Caller, line: Line, features: Sequence[str] = ()) -> None:
    """What a good bot says to a line."""
    match line["type"]:
        case "ask":
            caller.act(line)
        case "start" if "ready" in features:
            caller.say({"type": "ready"})
        case "ping":
            caller.say({"type": "pong"})
        case _:
            pass


class Running:
    """A script at work in its thread."""

    def __init__(self, caller: Caller, script: Script) -> None:
        self.caller = caller
        self._script = script
        self._trouble: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._script(self.caller)
        except BaseException as error:
            self._trouble = error
        finally:
            self.caller.cut()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def join(self) -> Caller:
        """Wait for its end. Raises what the script raised."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the script does not end"
        if self._trouble is not None:
            raise self._trouble
        return self.caller


@contextmanager
def running(caller: Caller, script: Script) -> Iterator[Running]:
    """The script at work during the block, and at its end by then or soon after."""
    run = Running(caller, script)
    yield run
    run.join()
