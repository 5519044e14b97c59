"""Bots over TCP against a bare TCP ping-pong of the same asks and bots, the same over TLS, and 64 bots at 32 tables."""

import json
import math
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import trio

from bench.harness import Row, Sample, Spread, interleaved, rates, ratios
from bench.pingpong import Ask
from bench.referee import FREE, ONE_CORE, SEATS, one_core, placed, recorded_asks
from bench.remote import HOST, Certificate, calling, play_everywhere, play_remote_matches, server_side
from lastcard.engine import Rules
from lastcard.referee.limits import Limits

TARGET = 50.0
TABLES = 32
PATIENT = Limits(move_ms=10_000, bank_ms=60_000)
"""Of 64 bots that share the machine's cores with each other: whether they are quick is not the question."""

NO_OPENSSL = "not available: the program openssl is missing (Debian: apt-get install openssl)"


# ---- the yardstick


@contextmanager
def accepted_bots(seats: int, certificate: Certificate | None) -> Generator[list[socket.socket], None, None]:
    """Instant bots that have called and answered hello, as blocking sockets; they end with them."""
    context = server_side(certificate)
    with socket.create_server((HOST, 0)) as listener, ExitStack() as opened:
        opened.enter_context(calling(listener.getsockname()[1], ["yardstick"] * seats, certificate))
        sockets: list[socket.socket] = []
        for _ in range(seats):
            sock = listener.accept()[0]
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sockets.append(opened.enter_context(secured(sock, context)))
        for sock in sockets:
            ping_pong([sock], [Ask(0, b'{"type":"hello"}\n')], 1)
        yield sockets


def secured(sock: socket.socket, context: ssl.SSLContext | None) -> socket.socket:
    return sock if context is None else context.wrap_socket(sock, server_side=True)


def ping_pong(bots: Sequence[socket.socket], asks: Sequence[Ask], count: int) -> Sample:
    """As `pingpong.ping_pong`, with sockets."""
    script = [(bots[seat].sendall, bots[seat].recv, line) for seat, line in islice(cycle(asks), count)]
    begun = perf_counter()
    for send, receive, line in script:
        send(line)
        reply = receive(65536)
        while reply[-1:] != b"\n":
            more = receive(65536)
            if not more:
                raise RuntimeError("an instant bot closed its connection")
            reply += more
    return Sample(count, perf_counter() - begun)


@dataclass(frozen=True)
class PingPong:
    """The yardstick: recorded asks, to bots started under the same affinity."""

    bots: list[socket.socket]
    asks: list[Ask]
    count: int
    cores: set[int] | None

    def __call__(self, number: int) -> Sample:
        with placed(self.cores):
            return ping_pong(self.bots, self.asks, self.count)


# ---- the referee


@dataclass
class Refereed:
    """A contender: real matches between bots that come in at the referee's door."""

    rules: Rules
    matches: int
    cores: set[int] | None
    certificate: Certificate | None
    microseconds: list[float] = field(default_factory=list[float])

    def __call__(self, number: int) -> Sample:
        with tempfile.TemporaryDirectory() as folder, placed(self.cores):
            play = partial(play_remote_matches, seats=SEATS, seed=f"bench-{number}", certificate=self.certificate)
            played = trio.run(play, self.rules, self.matches, Path(folder))
        self.microseconds.append(1e6 * played.cpu_seconds / played.decisions)
        return Sample(played.decisions, played.seconds)


class Pair(NamedTuple):
    """One comparison of the table."""

    name: str
    cores: set[int] | None
    certificate: Certificate | None
    target: float | None


def measure(edition: str, rounds: int, matches: int, at_each_table: int) -> list[Row]:
    """`matches` is how many matches a sample plays, `at_each_table` how many each of the 32 tables plays."""
    rules = Rules.of(edition, {})
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        asks = recorded_asks(rules, folder)
        pairs = list(all_pairs(folder))
        contenders: dict[str, Callable[[int], Sample]] = {}
        for pair in pairs:
            with placed(pair.cores):
                bots = opened.enter_context(accepted_bots(SEATS, pair.certificate))
            contenders[f"ping-pong {pair.name}"] = PingPong(bots, asks, matches * len(asks), pair.cores)
            contenders[pair.name] = Refereed(rules, matches, pair.cores, pair.certificate)
        samples = interleaved(contenders, rounds)
        games = {name: game for name, game in contenders.items() if isinstance(game, Refereed)}
        table = [row for pair in pairs for row in rows(edition, pair, games[pair.name], samples)]
        if all(pair.certificate is None for pair in pairs):
            table.append(Row(f"{edition}, over TLS, {FREE}", "% of ping-pong", None, note=NO_OPENSSL))
    return [*table, *crowd_rows(edition, rules, at_each_table)]


def all_pairs(folder: Path) -> Generator[Pair, None, None]:
    core = one_core()
    yield Pair(f"over TCP, {FREE}", None, None, TARGET)
    if core is not None:
        yield Pair(f"over TCP, {ONE_CORE}", core, None, TARGET)
    certificate = new_certificate(folder)
    if certificate is not None:
        yield Pair(f"over TLS, {FREE}", None, certificate, None)


def new_certificate(folder: Path) -> Certificate | None:
    """One for this machine; None without openssl."""
    openssl = shutil.which("openssl")
    if openssl is None:
        return None
    made = Certificate(folder / "cert.pem", folder / "key.pem")
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=lastcard bench", "-addext", f"subjectAltName=IP:{HOST}",
         "-keyout", str(made.key), "-out", str(made.cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return made


def rows(edition: str, pair: Pair, game: Refereed, samples: dict[str, list[Sample]]) -> list[Row]:
    """Its share of the ping-pong, and its cost."""
    ours, yardstick = samples[pair.name], samples[f"ping-pong {pair.name}"]
    percent = ratios(ours, yardstick).scaled(100)
    note = f"{rates(ours).median:,.0f} of {rates(yardstick).median:,.0f} asks a second"
    what = f"{edition}, {pair.name}"
    return [
        Row(what, "% of ping-pong", percent, pair.target, note=note),
        Row(f"{what}: referee CPU", "us an ask", Spread.of(game.microseconds)),
    ]


# ---- the crowd


def crowd_rows(edition: str, rules: Rules, matches: int) -> list[Row]:
    """How many of all asks were answered, and how late the referee read the answers."""
    with tempfile.TemporaryDirectory() as folder:
        crowd = trio.run(play_everywhere, rules, TABLES, SEATS, matches, Path(folder), PATIENT)
        lags = sorted(lag for log in crowd.logs for lag in answer_lags(log))
    answered = len(lags)
    what = f"{edition}, {TABLES * SEATS} remote bots at {TABLES} tables"
    percent = 100 * answered / crowd.asked
    p50, p99, most = (lags[math.ceil(part * len(lags)) - 1] for part in (0.5, 0.99, 1.0))
    note = f"{answered:,} of {crowd.asked:,}, {crowd.faults} faults"
    return [
        Row(f"{what}: answered", "% of asks", Spread(percent, percent, percent), 100.0, note=note),
        Row(f"{what}: p99 lag", "ms", Spread(p99, p50, most), note="beside it: median and most"),
    ]


def answer_lags(log: Path) -> list[float]:
    """For each answer that was taken: milliseconds that it may have lain there before it was read."""
    lines = map(json.loads, log.read_bytes().splitlines())
    return [float(line["t"]["lag_ms"]) for line in lines if line["type"] == "decision" and line["how"] == "asked"]
