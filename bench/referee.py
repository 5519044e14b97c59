"""The referee against a bare ping-pong of the same asks and bots: free, on one core, sixteen at once."""

import os
import tempfile
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import trio

from bench.adapter import Played, play_matches
from bench.harness import Row, Sample, Spread, interleaved, rates, ratios
from bench.pingpong import INSTANT_BOT, RECORDING_BOT, Ask, Pipes, ping_pong, read_recordings, started_bots
from lastcard.engine import Rules

SEATS = 2
AT_ONCE = 16
FREE, ONE_CORE, SIXTEEN = "free", "on one core", "sixteen matches at once"
TARGETS = {FREE: 45.0, ONE_CORE: 40.0, SIXTEEN: 55.0}


@contextmanager
def placed(cores: set[int] | None) -> Generator[None, None, None]:
    """This process, and whatever it starts meanwhile, on these cores; None lets the system choose."""
    if cores is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def one_core() -> set[int] | None:
    """The last core that this process may use; None where processes cannot be pinned (macOS)."""
    return {max(os.sched_getaffinity(0))} if hasattr(os, "sched_setaffinity") else None


def recorded_asks(rules: Rules, folder: Path) -> list[Ask]:
    """Every ask of one match, as the referee sent it."""
    records = [folder / f"seat-{seat}.asks" for seat in range(SEATS)]
    commands = [(*RECORDING_BOT, str(record)) for record in records]
    trio.run(partial(play_matches, commands, rules, 1, folder))
    return read_recordings(records)


@dataclass
class Refereed:
    """A contender: real matches between instant bots. It keeps what each sample cost the referee."""

    rules: Rules
    matches: int
    tables: int
    cores: set[int] | None
    microseconds: list[float] = field(default_factory=list[float])

    def __call__(self, number: int) -> Sample:
        with tempfile.TemporaryDirectory() as folder, placed(self.cores):
            played = trio.run(self._played, Path(folder), f"bench-{number}")
        self.microseconds.append(1e6 * played.cpu_seconds / played.decisions)
        return Sample(played.decisions, played.seconds)

    async def _played(self, folder: Path, seed: str) -> Played:
        commands = [INSTANT_BOT] * SEATS
        return await play_matches(commands, self.rules, self.matches, folder, tables=self.tables, seed=seed)


@dataclass(frozen=True)
class PingPong:
    """The yardstick: as many of the recorded asks, to bots started under the same affinity."""

    bots: list[Pipes]
    asks: list[Ask]
    count: int
    cores: set[int] | None

    def __call__(self, number: int) -> Sample:
        with placed(self.cores):
            return ping_pong(self.bots, self.asks, self.count)


def measure(edition: str, rounds: int, matches: int) -> list[Row]:
    """`matches` is how many matches one sample plays; some five times as many where sixteen are played at once."""
    rules = Rules.of(edition, {})
    with tempfile.TemporaryDirectory() as folder:
        asks = recorded_asks(rules, Path(folder))
    core = one_core()
    placements = {FREE: None} if core is None else {FREE: None, ONE_CORE: core}
    games = {where: Refereed(rules, matches, 1, cores) for where, cores in placements.items()}
    games[SIXTEEN] = Refereed(rules, 1 + 5 * (matches - 1), AT_ONCE, None)
    with ExitStack() as running:
        contenders: dict[str, Callable[[int], Sample]] = dict(games)
        for where, cores in placements.items():
            with placed(cores):
                bots = running.enter_context(started_bots(SEATS))
            contenders[f"ping-pong {where}"] = PingPong(bots, asks, matches * len(asks), cores)
        samples = interleaved(contenders, rounds)
    return rows(edition, games, samples)


def rows(edition: str, games: dict[str, Refereed], samples: dict[str, list[Sample]]) -> list[Row]:
    table: list[Row] = []
    for where, game in games.items():
        yardstick = f"ping-pong {FREE if where == SIXTEEN else where}"
        percent = ratios(samples[where], samples[yardstick]).scaled(100)
        note = f"{rates(samples[where]).median:,.0f} of {rates(samples[yardstick]).median:,.0f} asks a second"
        table.append(Row(f"{edition}, {where}", "% of ping-pong", percent, TARGETS[where], note=note))
        cost = Spread.of(game.microseconds)
        table.append(Row(f"{edition}, {where}: referee CPU", "us a decision", cost))
    return table
