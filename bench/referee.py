"""The referee against a bare ping-pong of the same asks and bots: free, on one core, sixteen at once.

Each of them with the bots in no sandbox, in a basic and in a strict one, against the same ping-pong with bots in
none. Beside that what it costs to freeze bots between their answers.
"""

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
from bench.kept import Kept
from bench.pingpong import INSTANT_BOT, RECORDING_BOT, Ask, Pipes, ping_pong, read_recordings, started_bots
from lastcard.engine import Rules
from lastcard.referee.limits import Idle
from lastcard.referee.sandbox.levels import Level

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
    where: str
    kept: Kept
    target: float | None
    microseconds: list[float] = field(default_factory=list[float])

    @property
    def name(self) -> str:
        """As it stands in the table."""
        how = "" if self.kept.level is Level.NONE else f", {self.kept.level}"
        if self.kept.idle is Idle.FREEZE:
            how += f", freezing by {'cage' if self.kept.caged else 'signals'}"
        return f"{self.where}{how}"

    def __call__(self, number: int) -> Sample:
        with tempfile.TemporaryDirectory() as folder, placed(one_core() if self.where == ONE_CORE else None):
            played = trio.run(self._played, Path(folder), f"bench-{number}")
        self.microseconds.append(1e6 * played.cpu_seconds / played.decisions)
        return Sample(played.decisions, played.seconds)

    async def _played(self, folder: Path, seed: str) -> Played:
        commands = [INSTANT_BOT] * SEATS
        tables, matches = (AT_ONCE, 2 * self.matches) if self.where == SIXTEEN else (1, self.matches)
        return await play_matches(commands, self.rules, matches, folder, tables=tables, seed=seed, kept=self.kept)


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
    """`matches` is how many matches end in one sample; twice as many where sixteen are played at once."""
    rules = Rules.of(edition, {})
    with tempfile.TemporaryDirectory() as folder:
        asks = recorded_asks(rules, Path(folder))
    core = one_core()
    placements = {FREE: None} if core is None else {FREE: None, ONE_CORE: core}
    games = [game for game in all_games(rules, matches) if game.where in {*placements, SIXTEEN}]
    with ExitStack() as running:
        contenders: dict[str, Callable[[int], Sample]] = {
            game.name: game for game in games if game.kept.missing is None
        }
        for where, cores in placements.items():
            with placed(cores):
                bots = running.enter_context(started_bots(SEATS))
            contenders[f"ping-pong {where}"] = PingPong(bots, asks, matches * len(asks), cores)
        samples = interleaved(contenders, rounds)
    return [row for game in games for row in rows(edition, game, samples)]


def all_games(rules: Rules, matches: int) -> list[Refereed]:
    """In the order of the table. Freezing has no target, and gets fewer matches."""
    games = [
        Refereed(rules, matches, where, Kept(level), target) for level in Level for where, target in TARGETS.items()
    ]
    for caged in (True, False):
        games.append(Refereed(rules, (matches + 1) // 2, FREE, Kept(idle=Idle.FREEZE, caged=caged), None))
    return games


def rows(edition: str, game: Refereed, samples: dict[str, list[Sample]]) -> list[Row]:
    """Its share of the ping-pong, and its cost."""
    what, unit = f"{edition}, {game.name}", "% of ping-pong"
    if game.kept.missing is not None:
        return [Row(what, unit, None, game.target, note=f"not available: {game.kept.missing}")]
    ours, yardstick = samples[game.name], samples[f"ping-pong {FREE if game.where == SIXTEEN else game.where}"]
    percent = ratios(ours, yardstick).scaled(100)
    note = f"{rates(ours).median:,.0f} of {rates(yardstick).median:,.0f} asks a second"
    return [
        Row(what, unit, percent, game.target, note=note),
        Row(f"{what}: referee CPU", "us a decision", Spread.of(game.microseconds)),
    ]
