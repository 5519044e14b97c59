"""Tournaments from seeds, on made-up bots: voids, exceptions, interrupts and ends of a run at any moment, by lot.

Whatever happens, every match is in the ledger once, with the result that it has in a run where nothing happens.
"""

import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random

import pytest
import trio

from lastcard.referee.tournament import Bot, MatchCall, MatchRecord
from lastcard.referee.tournament.folder import Folder
from lastcard.referee.tournament.runner import Ending, Run
from tests.fuzz.simulation import first, in_mock_time
from tests.tournament.fakes import FakePlayer, FakeTable, by_lot
from tests.tournament.test_runner import Harness, everything, never_starts

ONE = os.environ.get("LASTCARD_SIM_SEED")
SUITE, BLOCK = 30, 15
SOAK = int(os.environ.get("LASTCARD_SIM_SEEDS", "5000")) // 10
MOST_RUNS = 300
"""Runs that a tournament may take. Accidents become rarer from run to run, so it takes some twenty."""


def blocks(begin: int, count: int, size: int) -> list[range]:
    """The seeds in portions; only the one that was asked for, if one was."""
    if ONE is not None:
        return [range(int(ONE), int(ONE) + 1)]
    return [range(start, min(start + size, begin + count)) for start in range(begin, begin + count, size)]


class UnluckyPlayer(FakePlayer):
    """Tables that fail, and matches that are void or raise, as often as its luck says."""

    def __init__(self, chance: Random, luck: float, *, bad_bot: bool) -> None:
        script = never_starts("bot1") if bad_bot else by_lot
        super().__init__(self.fate, seconds=chance.choice([0.1, 1.0]))
        self.chance = chance
        self.bad_luck = 1 - luck
        self.good = script
        self.void = Counter[str]()
        """Attempts that counted for nothing, by match."""
        self.unseated = 0
        """Tables that could not be had: each is a void attempt of its first match."""

    def fate(self, call: MatchCall, names: tuple[str, ...]) -> MatchRecord:
        """The result of the match, or something else."""
        if self.chance.random() >= self.bad_luck:
            return self.good(call, names)
        self.void[call.match_id] += 1
        if self.chance.random() < 0.5:
            raise self.chance.choice(
                [RuntimeError("a bug of ours"), OSError(28, "No space left on device"), KeyError()]
            )
        return MatchRecord(void=True, void_reason="host: no memory")

    @asynccontextmanager
    async def open_table(self, bots: Sequence[Bot]) -> AsyncIterator[FakeTable]:
        """A table, unless it cannot be had; its end may fail as well."""
        await trio.sleep(self.chance.choice([0, 0.3]))
        if self.chance.random() < self.bad_luck / 4:
            self.unseated += 1
            raise OSError(24, "Too many open files")
        async with super().open_table(bots) as table:
            yield table
        if self.chance.random() < self.bad_luck / 4:
            raise RuntimeError("a bot could not be ended")


def config(folder: Path, chance: Random) -> Path:
    """A small tournament."""
    seats = chance.choice([2, 3])
    bots = seats + chance.choice([0, 1, 2])
    lines = ["[tournament]", 'name = "cup"', 'edition = "mario-kart"', 'seed = "s1"']
    lines += [f"seats = {seats}", f"blocks = {chance.choice([2, 9, 20])}"]
    for number in range(bots):
        lines += ["[[bot]]", f'name = "bot{number}"', 'command = "random"']
    path = folder / "cup.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def accident(chance: Random) -> tuple[float, str]:
    """When a run is interrupted, and how; mostly not at all."""
    return chance.uniform(0, 20), chance.choice(["", "", "drain", "stop", "twice", "cancel"])


def interrupt(run: Run, *, how: str, scope: trio.CancelScope) -> None:
    """Does it."""
    match how:
        case "drain":
            run.drain()
        case "stop":
            run.stop()
        case "twice":
            run.interrupt()
            run.interrupt()
        case "cancel":  # the referee is gone without a word
            scope.cancel()
        case _:
            pass


async def tournament(seed: int, folder: Path) -> None:
    """Run after run until all is played; then nothing has got lost on the way."""
    chance = Random(seed)
    path = config(folder, chance)
    calm, cup = Harness(Folder(folder / "calm"), path), Harness(Folder(folder / "cup"), path)
    bad_bot = chance.random() < 0.2
    jobs = chance.choice([1, 2, 5])
    ending: Ending | None = None
    seeds: dict[str, str] = {}
    runs = 0
    while ending is not Ending.DONE:
        runs += 1
        assert runs < MOST_RUNS, "it comes to no end"
        player = UnluckyPlayer(chance, 1 - 0.3 / (1 + runs / 4), bad_bot=bad_bot)
        at, how = accident(chance)
        before, voids, ending = cup.keys(), len(cup.keys("voids")), None
        with trio.CancelScope() as scope:
            meanwhile = partial(interrupt, how=how, scope=scope)
            ending = await cup.play(player, jobs=jobs, meanwhile=meanwhile, at=at)
        check_run(cup, player, ending, before, how)
        new = player.void.total() + player.unseated
        assert len(cup.keys("voids")) == voids + new, "a void attempt is not in the ledger, or one that was none"
        for call in player.calls:
            assert seeds.setdefault(call.match_id, call.seed) == call.seed, "a match was played again with another deal"
    assert cup.keys() == everything(cup)
    assert len(list(cup.folder.logs.glob("*.jsonl"))) == len(everything(cup)) or bad_bot
    if not bad_bot:
        await calm.play(FakePlayer(seconds=0.0))
        assert cup.content() == calm.content()
        assert cup.table() == calm.table()


def check_run(
    cup: Harness, player: UnluckyPlayer, ending: Ending | None, before: list[tuple[int, int]], how: str
) -> None:
    """What one run leaves behind."""
    keys = cup.keys()
    assert len(set(keys)) == len(keys), "a match is in the ledger twice"
    assert set(before) <= set(keys) <= set(everything(cup))
    assert (player.seated, player.running) == (0, 0), "bots are still there"
    assert (ending is Ending.DONE) == (len(keys) == len(everything(cup))) or how == "cancel"
    if ending is Ending.VOIDS:
        assert player.void.total() + player.unseated >= 2
    assert ending is not Ending.BROKEN


def run(seed: int, folder: Path) -> None:
    """One tournament in mock time."""
    folder.mkdir()
    try:
        in_mock_time(lambda: tournament(seed, folder), f"tournament {seed}")
    except Exception as error:
        command = f"LASTCARD_SIM_SEED={seed} .venv/bin/python -m pytest tests/fuzz/test_tournament_simulation.py"
        raise AssertionError(f"seed {seed}: {first(error)!r}; to see it again: {command}") from error


@pytest.mark.parametrize("seeds", blocks(0, SUITE, BLOCK), ids=str)
def test_tournaments(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        run(seed, tmp_path / str(seed))


@pytest.mark.soak
@pytest.mark.parametrize("seeds", blocks(1000, SOAK, 50), ids=str)
def test_many_tournaments(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        run(seed, tmp_path / str(seed))


def test_a_lost_record_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run that takes a match for played when it was void."""
    monkeypatch.setattr(Run, "_missing", lambda run, stretch: list(stretch.matches)[1:])
    with pytest.raises(AssertionError, match="to see it again"):
        run(0, tmp_path / "0")
