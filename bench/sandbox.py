"""What a sandbox costs a bot: its speed inside, its start, and being stopped and woken between two answers."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import trio

from bench.harness import Row, Sample, Spread, interleaved, rates, ratios
from bench.kept import Kept, Start, confined, freeze_and_thaw, start_once
from bench.pingpong import INSTANT_BOT, Ask, Pipes, greeted, ping_pong
from bench.referee import FREE, ONE_CORE, one_core, placed, recorded_asks
from lastcard.engine import Rules
from lastcard.referee.limits import Idle
from lastcard.referee.sandbox.levels import Level

C_SOURCE = Path(__file__).parents[1] / "sample_bots" / "random_bot.c"

SPEED_TARGET = 95.0
SLICES = 4
"""Slices of a bot's life: then it is started anew, since a process may be quick or slow as long as it lives."""

WARM_UP = 100
"""Asks before the first slice."""


class Kind(NamedTuple):
    """Bots in one language, with so many asks a slice."""

    language: str
    command: Sequence[str]
    asks: int


class Talked:
    """A contender: a ping-pong with one bot at a level."""

    def __init__(
        self, command: Sequence[str], level: Level, cores: set[int] | None, asks: Sequence[Ask], count: int
    ) -> None:
        self.command = command
        self.level = level
        self.cores = cores
        self.asks = asks
        self.count = count
        self.bot: list[Pipes] = []
        self.life = ExitStack()

    def __call__(self, number: int) -> Sample:
        with placed(self.cores):
            if number % SLICES == 0:
                self.start_anew()
            return ping_pong(self.bot, self.asks, self.count)

    def start_anew(self) -> None:
        """End the bot, and start another. Not measured here."""
        self.life.close()
        self.bot = [greeted(self.life.enter_context(confined(self.command, self.level)))]
        ping_pong(self.bot, self.asks, WARM_UP)


def speed_rows(kind: Kind, where: str, cores: set[int] | None, asks: Sequence[Ask], rounds: int) -> list[Row]:
    """Each level against none. No other contenders, so that two slices of a pair are close to each other."""
    levels = {level: Talked(kind.command, level, cores, asks, kind.asks) for level in Level}
    with ExitStack() as running:
        for talked in levels.values():
            running.callback(talked.life.close)
        samples = interleaved(
            {level: talked for level, talked in levels.items() if Kept(level).missing is None}, SLICES * rounds
        )
    return [speed_row(f"{kind.language} bot, {where}", level, samples) for level in Level if level is not Level.NONE]


def speed_row(bot: str, level: Level, samples: dict[str, list[Sample]]) -> Row:
    what, unit = f"{bot}, {level}: speed", "% of none"
    why = Kept(level).missing
    if why is not None:
        return Row(what, unit, None, SPEED_TARGET, note=f"not available: {why}")
    ours, yardstick = samples[level], samples[Level.NONE]
    note = f"{rates(ours).median:,.0f} of {rates(yardstick).median:,.0f} asks a second, {len(ours)} pairs"
    return Row(what, unit, ratios(ours, yardstick).scaled(100), SPEED_TARGET, note=note)


# ---- starting


class Started:
    """A contender: some starts. It keeps how long each took."""

    def __init__(self, command: Sequence[str], kept: Kept, times: int) -> None:
        self.command = command
        self.kept = kept
        self.times = times
        self.starts: list[Start] = []

    def __call__(self, number: int) -> Sample:
        for _ in range(self.times):
            self.starts.append(trio.run(start_once, self.command, self.kept))
        return Sample(self.times, sum(start.hello for start in self.starts[-self.times :]) / 1000)


def start_rows(kind: Kind, rounds: int, times: int) -> list[Row]:
    """Milliseconds at each level."""
    levels = {level: Started(kind.command, Kept(level), times) for level in Level}
    interleaved({level: started for level, started in levels.items() if started.kept.missing is None}, rounds)
    table: list[Row] = []
    for level, started in levels.items():
        what = f"{kind.language} bot, {level}: start"
        if started.kept.missing is not None:
            table.append(Row(what, "ms", None, note=f"not available: {started.kept.missing}"))
            continue
        blocked = Spread.of([start.blocked for start in started.starts]).median
        note = f"to its hello; for {blocked:.1f} ms of it the referee stands still"
        table.append(Row(what, "ms", Spread.of([start.hello for start in started.starts]), note=note))
    return table


# ---- standing still


def frozen(command: Sequence[str], kept: Kept, times: int, _: int) -> Sample:
    return Sample(times, trio.run(freeze_and_thaw, command, kept, times))


def freeze_rows(kind: Kind, rounds: int, times: int) -> list[Row]:
    """Microseconds of the referee for stopping a bot and waking it."""
    ways = {
        "freeze and thaw by cage": Kept(idle=Idle.FREEZE),
        "freeze and thaw by cage, strict": Kept(Level.STRICT, Idle.FREEZE),
        "freeze and thaw by signals": Kept(idle=Idle.FREEZE, caged=False),
    }
    contenders: dict[str, Callable[[int], Sample]] = {
        what: partial(frozen, kind.command, kept, times) for what, kept in ways.items() if kept.missing is None
    }
    samples = interleaved(contenders, rounds)
    table: list[Row] = []
    for what, kept in ways.items():
        name = f"{kind.language} bot, {what}"
        if kept.missing is not None:
            table.append(Row(name, "us", None, note=f"not available: {kept.missing}"))
        else:
            table.append(Row(name, "us", Spread.of([1e6 / sample.rate for sample in samples[what]])))
    return table


# ---- all of it


def built_c_bot(folder: Path) -> Path | None:
    """The sample bot in C; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = folder / "random_bot"
    subprocess.run([compiler, "-std=c11", "-O2", "-o", str(program), str(C_SOURCE)], check=True)
    return program


def measure(edition: str, rounds: int, asks_of_python: int, starts: int, freezes: int) -> list[Row]:
    """A quick bot and a quicker one: whatever a sandbox costs in a round trip, no other bot feels it more."""
    core = one_core()
    placements = {FREE: None} if core is None else {FREE: None, ONE_CORE: core}
    table: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # a bot may have a user number of its own
        asks = [Ask(0, line) for _, line in recorded_asks(Rules.of(edition, {}), folder)]
        kinds = [Kind("Python", INSTANT_BOT, asks_of_python)]
        program = built_c_bot(folder)
        if program is None:
            table.append(Row("C bot", "% of none", None, note="not available: there is no C compiler, cc"))
        else:
            kinds.insert(0, Kind("C", (str(program),), 3 * asks_of_python))
        for kind in kinds:
            for where, cores in placements.items():
                table += speed_rows(kind, where, cores, asks, rounds)
        return table + start_rows(kinds[0], rounds, starts) + freeze_rows(kinds[0], rounds, freezes)
