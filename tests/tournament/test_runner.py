"""The runner on made-up bots and time: what it plays, when it stops, and what is then in the ledger."""

import io
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec
import pytest
import trio
import trio.testing

from lastcard.referee.tournament import Bot, FaultRecord, MatchCall, MatchRecord
from lastcard.referee.tournament.commands import plan_of, standings_of
from lastcard.referee.tournament.config import load_config
from lastcard.referee.tournament.errors import LedgerError
from lastcard.referee.tournament.folder import Folder, locked, open_tournament
from lastcard.referee.tournament.ledger import Ledger
from lastcard.referee.tournament.progress import PlainProgress
from lastcard.referee.tournament.rows import UNPLAYED
from lastcard.referee.tournament.runner import Ending, Run
from lastcard.referee.tournament.tables import table
from tests.tournament.fakes import FakePlayer, FakeTable, Script, WriteConfig, by_lot, record_of


class Harness:
    """A folder on which one run after the other is let loose."""

    def __init__(self, folder: Folder, config_path: Path) -> None:
        self.folder = folder
        self.file = load_config(config_path)
        self.output = io.StringIO()

    @contextmanager
    def ledger(self) -> Iterator[tuple[Ledger, str]]:
        with locked(self.folder):
            ledger, seed = open_tournament(self.folder, self.file)
            with ledger:
                yield ledger, seed

    def run(self, player: FakePlayer, ledger: Ledger, seed: str, jobs: int) -> Run:
        return Run(
            plan=plan_of(self.file.config, seed),
            rules=self.file.config.rules(),
            bots=[entry.bot(Path()) for entry in self.file.config.bots],
            player=player,
            ledger=ledger,
            folder=self.folder,
            reporter=PlainProgress(self.output, trio.current_time),
            jobs=jobs,
        )

    async def play(
        self,
        player: FakePlayer,
        *,
        jobs: int = 1,
        meanwhile: Callable[[Run], None] = lambda _: None,
        at: float = 0.0,
    ) -> Ending:
        """One run; `meanwhile` is called after `at` seconds of it."""
        with self.ledger() as (ledger, seed):
            run = self.run(player, ledger, seed, jobs)

            async def later() -> None:
                await trio.sleep(at)
                meanwhile(run)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(later)
                ending = await run.play()
                nursery.cancel_scope.cancel()
        assert (player.seated, player.running) == (0, 0)
        return ending

    def content(self) -> list[object]:
        """The rows, without what depends on the clock and on attempts."""
        with self.ledger() as (ledger, _):
            return [msgspec.structs.replace(row, wall_ms=0, void_attempts=0) for row in ledger.rows()]

    def table(self) -> str:
        with self.ledger() as (ledger, _):
            return table(standings_of(ledger, self.file.config))

    def keys(self, name: str = "matches") -> list[tuple[int, int]]:
        with self.ledger() as (ledger, _):
            return list(ledger._database.execute(f"SELECT block, rotation FROM {name} ORDER BY 1, 2"))


Build = Callable[..., Harness]


@pytest.fixture
def harness(tmp_path: Path, write_config: WriteConfig) -> Build:
    def build(name: str = "run", **keys: object) -> Harness:
        return Harness(Folder(tmp_path / name), write_config(**keys))

    return build


def everything(harness: Harness) -> list[tuple[int, int]]:
    tournament = harness.file.config.tournament
    return [(block, seat) for block in range(tournament.blocks) for seat in range(tournament.seats)]


@pytest.mark.parametrize("jobs", [1, 3, 50])
async def test_everything_is_played_once_with_so_many_matches_at_a_time(
    harness: Build, autojump_clock: trio.testing.MockClock, jobs: int
) -> None:
    cup = harness(bots=4, seats=3, blocks=70)
    player = FakePlayer()
    assert await cup.play(player, jobs=jobs) is Ending.DONE
    assert cup.keys() == everything(cup)
    assert (jobs if jobs < 20 else 10) <= player.most_running <= jobs
    assert len(list(cup.folder.logs.iterdir())) == 210


async def test_the_number_of_jobs_changes_no_byte(harness: Build, autojump_clock: trio.testing.MockClock) -> None:
    tables: set[str] = set()
    contents: list[list[object]] = []
    for jobs in (1, 2, 7):
        cup = harness(f"run{jobs}", bots=5, seats=3, blocks=30)
        await cup.play(FakePlayer(), jobs=jobs)
        tables.add(cup.table())
        contents.append(cup.content())
    assert len(tables) == 1
    assert contents[0] == contents[1] == contents[2]


async def test_bots_stay_alive_over_a_stretch_and_never_longer(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    cup = harness(bots=2, seats=2, blocks=70)
    player = FakePlayer()
    await cup.play(player)
    assert Counter(len(table.seeds) for table in player.tables) == {16: 8, 6: 2}


async def test_a_first_interrupt_finishes_what_runs_and_a_resumed_run_plays_the_rest(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    whole, cup = harness("whole", blocks=20), harness(blocks=20)
    await whole.play(FakePlayer())
    assert await cup.play(FakePlayer(), jobs=2, meanwhile=Run.interrupt, at=7.5) is Ending.DRAINED
    before = cup.keys()
    assert len(before) == 16
    player = FakePlayer()
    assert await cup.play(player, jobs=3) is Ending.DONE
    assert len(player.calls) == 40 - 16
    assert cup.content() == whole.content()
    assert "40 matches, 16 of them played before" in cup.output.getvalue()
    assert await cup.play(FakePlayer()) is Ending.DONE


async def test_a_second_interrupt_gives_up_what_runs(harness: Build, autojump_clock: trio.testing.MockClock) -> None:
    def twice(run: Run) -> None:
        run.interrupt()
        run.interrupt()

    cup = harness(blocks=20)
    assert await cup.play(FakePlayer(), jobs=2, meanwhile=twice, at=7.5) is Ending.STOPPED
    assert len(cup.keys()) == 14
    assert await cup.play(FakePlayer()) is Ending.DONE
    assert cup.keys() == everything(cup)


async def test_an_interrupt_after_the_last_match_has_begun_is_no_unfinished_run(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    cup = harness(bots=2, blocks=1)
    assert await cup.play(FakePlayer(), meanwhile=Run.interrupt, at=1.5) is Ending.DONE


class Voids:
    """A script in which chosen attempts are void, by match id as often as it says."""

    def __init__(self, *attempts: int, record: MatchRecord | None) -> None:
        self.attempts = attempts
        self.record = record
        self.count = 0

    def __call__(self, call: MatchCall, names: tuple[str, ...]) -> MatchRecord:
        self.count += 1
        if self.count not in self.attempts:
            return by_lot(call, names)
        if self.record is None:
            raise RuntimeError("a bug of ours")
        return self.record


VOID = MatchRecord(void=True, void_reason="host: no memory")


@pytest.mark.parametrize(("record", "reason"), [(VOID, "host: no memory"), (None, "RuntimeError: a bug of ours")])
async def test_a_void_match_is_played_again_with_fresh_bots(
    harness: Build, autojump_clock: trio.testing.MockClock, record: MatchRecord | None, reason: str
) -> None:
    whole, cup = harness("whole", bots=2, blocks=20), harness(bots=2, blocks=20)
    await whole.play(FakePlayer())
    player = FakePlayer(Voids(3, record=record))
    assert await cup.play(player) is Ending.DONE
    assert cup.content() == whole.content()
    assert [len(table.seeds) for table in player.tables[:2]] == [3, 3]
    assert player.tables[0].seeds[2] == player.tables[1].seeds[0]
    assert player.calls[2].match_id == player.calls[3].match_id
    assert cup.keys("voids") == [(2, 0)]
    assert f"match 2-0 is void: {reason}" in cup.output.getvalue()
    assert (cup.folder.logs / "void" / "2-0.1.jsonl").exists()
    assert len(list(cup.folder.logs.glob("*.jsonl"))) == 40
    with cup.ledger() as (ledger, _):
        assert [row.block for row in ledger.rows() if row.void_attempts] == [2]
        (text,) = ledger._database.execute("SELECT reason FROM voids").fetchone()
    assert reason in text
    assert ("Traceback" in text) is (record is None)


async def test_two_voids_in_a_row_stop_the_run_and_it_can_go_on(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    cup = harness(bots=2, blocks=20)
    assert await cup.play(FakePlayer(Voids(3, 4, record=VOID))) is Ending.VOIDS
    assert cup.keys() == [(0, 0), (1, 0)]
    assert await cup.play(FakePlayer(Voids(1, record=VOID))) is Ending.DONE
    assert cup.keys() == everything(cup)
    assert cup.keys("voids") == [(2, 0)] * 3


async def test_voids_of_different_matches_do_not_stop_the_run(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    cup = harness(bots=2, blocks=20)
    assert await cup.play(FakePlayer(Voids(3, 5, 7, record=VOID))) is Ending.DONE


async def test_bots_that_cannot_be_seated_for_our_fault_are_a_void_attempt(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    class Broken(FakePlayer):
        @asynccontextmanager
        async def open_table(self, bots: Sequence[Bot]) -> AsyncIterator[FakeTable]:
            async with super().open_table(bots) as table:
                if bots:
                    raise OSError(24, "Too many open files")
                yield table

    cup = harness(bots=2)
    assert await cup.play(Broken()) is Ending.VOIDS
    assert cup.output.getvalue().count("match 0-0 is void: OSError: [Errno 24] Too many open files") == 2


async def test_bots_that_cannot_be_ended_void_nothing(harness: Build, autojump_clock: trio.testing.MockClock) -> None:
    class Sticky(FakePlayer):
        @asynccontextmanager
        async def open_table(self, bots: Sequence[Bot]) -> AsyncIterator[FakeTable]:
            async with super().open_table(bots) as table:
                yield table
            raise RuntimeError("unkillable")

    cup = harness(bots=2, blocks=8)
    assert await cup.play(Sticky()) is Ending.DONE
    assert cup.keys("voids") == []
    assert "bots could not be ended: RuntimeError: unkillable" in cup.output.getvalue()


def never_starts(bad: str) -> Script:
    def script(call: MatchCall, names: tuple[str, ...]) -> MatchRecord:
        if bad not in names:
            return by_lot(call, names)
        seat = names.index(bad)
        faults = [FaultRecord(seat=seat, kind="startup", detail="exit status 1")]
        record = record_of(scores=[0] * len(names), rounds=[], faults=faults, forfeited=[seat])
        places = tuple(len(names) if name == bad else 1 for name in names)
        return msgspec.structs.replace(record, places=places)

    return script


@pytest.mark.parametrize("stop_after", [None, 1.5, 2.5, 10.5])
async def test_three_failed_starts_in_a_row_suspend_a_bot(
    harness: Build, autojump_clock: trio.testing.MockClock, stop_after: float | None
) -> None:
    cup = harness(bots=3, blocks=20)
    player = FakePlayer(never_starts("bot1"))
    if stop_after is not None:
        assert await cup.play(player, meanwhile=Run.interrupt, at=stop_after) is Ending.DRAINED
    assert await cup.play(player) is Ending.DONE
    assert cup.keys() == everything(cup)
    with cup.ledger() as (ledger, _):
        rows = list(ledger.rows("number"))
        assert ledger.suspended() == {"bot1": "3 failed starts in a row"}
    failed = [row for row in rows if "bot1" in row.bots and row.reason != UNPLAYED]
    unplayed = [row for row in rows if row.reason == UNPLAYED]
    assert len(failed) == 3
    assert {row.bots.index("bot1") for row in unplayed} == {0, 1}
    assert all(row.forfeited == (row.bots.index("bot1"),) for row in unplayed)
    assert all(row.places[row.bots.index("bot1")] == 2 and row.rounds == 0 for row in unplayed)
    assert all("bot1" in row.bots for row in unplayed)
    # The three started once each and then not again, and nobody else was hurt
    assert sum("bot1" in table.names for table in player.tables) <= 3
    assert cup.output.getvalue().count("bot1 is suspended: 3 failed starts in a row") == 1


async def test_failed_starts_with_a_good_one_between_do_not_suspend(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    class Sometimes:
        count = 0

        def __call__(self, call: MatchCall, names: tuple[str, ...]) -> MatchRecord:
            self.count += 1
            return by_lot(call, names) if self.count % 3 == 0 else never_starts("bot1")(call, names)

    cup = harness(bots=2, blocks=20)
    assert await cup.play(FakePlayer(Sometimes())) is Ending.DONE
    with cup.ledger() as (ledger, _):
        assert ledger.suspended() == {}


async def test_a_ledger_that_cannot_be_written_ends_the_run(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    cup = harness(blocks=20)
    with cup.ledger() as (ledger, seed):
        run = cup.run(FakePlayer(), ledger, seed, 2)
        ledger._database.execute("PRAGMA query_only = ON")
        assert await run.play() is Ending.BROKEN
        assert isinstance(run.broken, LedgerError)
        assert "readonly" in str(run.broken)


async def test_no_match_is_scored_that_was_cancelled_from_outside(
    harness: Build, autojump_clock: trio.testing.MockClock
) -> None:
    cup = harness(blocks=20)
    with cup.ledger() as (ledger, seed):
        run = cup.run(FakePlayer(), ledger, seed, 2)
        with trio.move_on_after(3.5):
            await run.play()
        assert ledger.count() == 6
        assert ledger.count("voids") == 0
