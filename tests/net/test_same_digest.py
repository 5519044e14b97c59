"""The same bots on the same seed play the same match to the same digest over pipes, TCP and TLS; and through a line
that cuts, delays and splits at random.
"""

import random
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from lastcard.engine import Rules
from lastcard.referee.limits import Limits
from lastcard.referee.net.lobby import OVER
from lastcard.referee.net.tls import server_context
from lastcard.referee.seating import ProcessSeating
from lastcard.referee.tournament import Bot, MatchCall
from tests.cli.commands import LASTCARD, environment
from tests.net.caller import Caller, Gone, play
from tests.net.conftest import Certificate
from tests.net.hall import LIMITS, Game, Hall, opened, play_at, token

SAMPLE_BOTS = Path(__file__).parents[2] / "sample_bots"
BOTS = {"random": SAMPLE_BOTS / "random_bot.py", "greedy": SAMPLE_BOTS / "greedy_bot.py"}
MATCHES = [("mario-kart", "1"), ("attack-trade-hands", "2"), ("classic", "3")]


async def over_pipes(folder: Path) -> list[str]:
    """The digests of the matches between the sample bots as processes of ours."""
    bots = [
        Bot(name=name, command=f"{sys.executable} {path}", limits=LIMITS, env={}, cwd=folder)
        for name, path in BOTS.items()
    ]
    digests: list[str] = []
    async with ProcessSeating().open_table(bots) as table:
        for edition, seed in MATCHES:
            rules = Rules.of(edition, {"rounds": 1})
            call = MatchCall(match_id="m", rules=rules, seed=seed, bots=(0, 1), log_path=folder / "pipes")
            digests.append((await table.play(call)).digest)
    return digests


async def over_tcp(hall: Hall, folder: Path) -> list[str]:
    """The same with the bots that come to the hall."""
    digests: list[str] = []
    async with hall.table(*BOTS) as table:
        for edition, seed in MATCHES:
            game = await play_at(table, folder / "tcp", 2, seed=seed, rules=Rules.of(edition, {"rounds": 1}))
            assert game.faults == []
            digests.append(game.record.digest)
    return digests


@contextmanager
def connected(hall: Hall, folder: Path, *options: str) -> Iterator[None]:
    """`lastcard connect` with each of the sample bots."""
    clients: list[subprocess.Popen[bytes]] = []
    try:
        for name, path in BOTS.items():
            token_file = folder / f"{name}.token"
            token_file.touch(mode=0o600)
            token_file.write_text(token(name))
            command = [*LASTCARD, "connect", f"localhost:{hall.port}", "--token-file", str(token_file), *options]
            clients.append(subprocess.Popen([*command, "--", str(path)], env=environment(), stderr=subprocess.DEVNULL))
        yield
    finally:
        for client in clients:
            client.terminate()
            client.wait(30)


@pytest.mark.parametrize("secured", [False, True], ids=["tcp", "tls"])
async def test_over_pipes_and_over_the_network(tmp_path: Path, certificate: Certificate, secured: bool) -> None:
    pipes = await over_pipes(tmp_path)
    server = server_context(certificate.cert, certificate.key) if secured else None
    options = ["--ca", str(certificate.cert)] if secured else []
    async with opened(*BOTS, patience=30, server=server) as hall:
        with connected(hall, tmp_path, *options):
            assert await over_tcp(hall, tmp_path) == pipes
    assert len(set(pipes)) == len(MATCHES)


# ---- a line of bad quality


class Proxy:
    """Passes bytes on between a bot and the door in pieces and late, and cuts the line now and then."""

    def __init__(self, port: int, seed: int) -> None:
        self.lot = random.Random(seed)
        self.cuts = 0
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join(30)
        self._listener.close()
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        pairs: dict[socket.socket, socket.socket] = {}
        while not self._ended.is_set():
            readable, _, _ = select.select([self._listener, *pairs], [], [], 0.05)
            for sock in readable:
                if sock is self._listener:
                    self._join(pairs)
                elif sock in pairs:
                    self._pass_on(pairs, sock)
        for sock in pairs:
            sock.close()

    def _join(self, pairs: dict[socket.socket, socket.socket]) -> None:
        near, _ = self._listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self._port))
        except OSError:
            near.close()
            return
        for sock, other in ((near, far), (far, near)):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pairs[sock] = other

    def _pass_on(self, pairs: dict[socket.socket, socket.socket], sock: socket.socket) -> None:
        other = pairs[sock]
        try:
            data = sock.recv(self.lot.choice([1, 7, 100, 65536]))
            if data and self.lot.random() < 0.03:
                self.cuts += 1
                other.sendall(data[: len(data) // 2])
                data = b""
            elif self.lot.random() < 0.1:
                time.sleep(self.lot.random() * 0.02)
            other.sendall(data)
        except OSError:
            data = b""
        if not data:
            for end in (sock, other):
                pairs.pop(end).close()


def stubborn(caller: Caller) -> None:
    """Comes back whenever its line is lost, until it is told that the run is over or nobody listens."""
    while True:
        try:
            caller.log_in()
            bye = play(caller)
        except ConnectionRefusedError:
            return
        except (Gone, ConnectionError):
            time.sleep(0.01)
            continue
        if bye["reason"] == OVER:
            return


async def through_a_proxy(folder: Path, seed: int) -> tuple[Game, int]:
    """A match in which one of the bots has a bad line; how often it was cut."""
    limits = Limits(move_ms=400, bank_ms=1000, start_ms=5000)
    async with opened("a", "b", limits=limits, patience=20) as hall:
        proxy = Proxy(hall.port, seed)
        try:
            hall.run_as(Caller(proxy.port, token("a")), stubborn)
            hall.run("b", stubborn)
            game = await hall.play(folder / f"{seed}", "a", "b", seed=str(seed))
        finally:
            await trio.to_thread.run_sync(proxy.close)
    return game, proxy.cuts


async def prove_seeds(folder: Path, seeds: range) -> None:
    cuts = 0
    for seed in seeds:
        game, cut = await through_a_proxy(folder, seed)
        cuts += cut
        assert {kind for _, kind in game.faults} <= {"eof", "timeout"}, seed
        assert {seat for seat, _ in game.faults} <= {0}
        assert game.record.places
    assert cuts > len(seeds)


async def test_a_line_of_bad_quality(tmp_path: Path) -> None:
    """T-10, T-14: every match ends with a result, and its log is proved."""
    await prove_seeds(tmp_path, range(20))


@pytest.mark.soak
async def test_a_line_of_bad_quality_for_long(tmp_path: Path) -> None:
    await prove_seeds(tmp_path, range(20, 400))
