"""What the tests of the network share: certificates made for the run, the real door, and a token file."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))  # tests.net.plain_referee belongs to no installed package

from lastcard.referee.net.door import Door, Login  # noqa: E402  (needs the line above)
from lastcard.referee.net.sockets import listen  # noqa: E402  (needs the line above)
from lastcard.referee.net.tls import server_context  # noqa: E402  (needs the line above)
from lastcard.referee.net.tokens import hash_of  # noqa: E402  (needs the line above)
from tests.net.plain_referee import TOKEN  # noqa: E402  (needs the line above)


class Certificate(NamedTuple):
    """A certificate that vouches for itself, and its key."""

    cert: Path
    key: Path


MakeCertificate = Callable[[str], Certificate]


@pytest.fixture(scope="session")
def make_certificate(
    tmp_path_factory: pytest.TempPathFactory, require_debian: Callable[[str, str], str]
) -> MakeCertificate:
    """`make_certificate("DNS:localhost,IP:127.0.0.1")`: one for these names, good for two days."""
    openssl = require_debian("openssl", "openssl")

    def make(names: str) -> Certificate:
        folder = tmp_path_factory.mktemp("certificate")
        made = Certificate(folder / "cert.pem", folder / "key.pem")
        subprocess.run(
            [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=lastcard test", "-addext", f"subjectAltName={names}",
             "-keyout", str(made.key), "-out", str(made.cert)],
            check=True, capture_output=True,
        )  # fmt: skip
        return made

    return make


@pytest.fixture(scope="session")
def certificate(make_certificate: MakeCertificate) -> Certificate:
    """One for this machine."""
    return make_certificate("DNS:localhost,IP:127.0.0.1")


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    """A file with the token that the referees of these tests wait for."""
    path = tmp_path / "bot.token"
    path.touch(mode=0o600)
    path.write_text(TOKEN + "\n")
    return path


class OpenDoor(NamedTuple):
    """A door at work, and who came in."""

    port: int
    logins: trio.MemoryReceiveChannel[Login]


OpenTheDoor = Callable[[Certificate | None], AbstractAsyncContextManager[OpenDoor]]


@pytest.fixture
def open_door() -> OpenTheDoor:
    """`async with open_door(None) as door`: the referee's own door, which waits for the bot `remote`."""

    @asynccontextmanager
    async def opened(certificate: Certificate | None) -> AsyncIterator[OpenDoor]:
        came_in, logins = trio.open_memory_channel[Login](16)
        context = None if certificate is None else server_context(certificate.cert, certificate.key)
        door = Door({"remote": hash_of(TOKEN)}, came_in.send_nowait, start_ms=20_000, context=context)
        (listener,) = listen("127.0.0.1", 0)
        with listener:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(door.serve, listener)
                yield OpenDoor(listener.getsockname()[1], logins)
                nursery.cancel_scope.cancel()

    return opened
