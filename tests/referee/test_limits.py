"""Time: what a decision costs, what is left, what a bot is told of it, and whom the referee's own lateness costs."""

from itertools import pairwise
from math import inf
from pathlib import Path

import pytest
import trio

from lastcard.referee.channel import Sent
from lastcard.referee.limits import HARD_CAP_MS, Clock, Idle, Limits
from lastcard.referee.match_log import MatchLog
from lastcard.referee.memory_channel import MemoryChannel
from lastcard.referee.sandbox.levels import Sandbox
from lastcard.referee.seating import Keeping, part_all, player_of
from lastcard.referee.table import Table
from tests.referee.children import python
from tests.referee.scripted import ONE_ROUND, Bot, Game, Line, honest, mock_time, play, says, seated, silent, waits

SEED = "h"


# ---- arithmetic


@pytest.mark.parametrize(
    ("move", "bank", "margin", "used", "left", "budget"),
    [
        (1000, 5000, 50, 0, 5000, 6050),
        (1000, 5000, 50, 1000, 5000, 6050),
        (1000, 5000, 50, 1050, 5000, 6050),
        (1000, 5000, 50, 1051, 4999, 6049),
        (1000, 5000, 0, 1001, 4999, 5999),
        (1000, 5000, 50, 6050, 0, 1050),
        (1000, 5000, 50, 9999, 0, 1050),
        (1000, 0, 50, 1050, 0, 1050),
        (1000, None, 50, 1050, None, 1050),
        (None, 5000, 50, 50, 5000, 5050),
        (None, 5000, 50, 1050, 4000, 4050),
        (None, 5000, 50, 5050, 0, 50),
        (None, None, 50, 59_000, None, HARD_CAP_MS),
    ],
)
def test_what_a_decision_costs(
    move: int | None, bank: int | None, margin: int, used: float, left: int | None, budget: float
) -> None:
    """`charge = max(0, used - move_ms - margin_ms)`, and the bank is never below 0."""
    clock = Clock(Limits(move_ms=move, bank_ms=bank, margin_ms=margin))
    clock.charge(used)
    assert clock.shown_bank_ms == left
    assert clock.budget_ms() == budget
    assert clock.used_ms == used


def test_a_seat_has_only_so_much_time_in_a_match() -> None:
    clock = Clock(Limits(move_ms=1000, seat_ms=1500))
    assert clock.budget_ms() == 1050
    clock.charge(1000)
    assert clock.budget_ms() == 500
    clock.charge(499.5)
    assert clock.budget_ms() == 0.5
    clock.charge(10)
    assert clock.budget_ms() == 0


def test_without_limits_nothing_is_late() -> None:
    clock = Clock(Limits(move_ms=1, bank_ms=1, seat_ms=1, enforced=False))
    clock.charge(1e9)
    assert clock.budget_ms() == inf


def test_a_clock_that_ran_backwards_gives_nothing_back() -> None:
    clock = Clock(Limits(move_ms=100, bank_ms=100))
    clock.charge(-500)
    assert (clock.thought_ms, clock.shown_bank_ms) == (0, 100)


# ---- at the table


def asks(game: Game, seat: int = 1) -> list[Line]:
    return game.bots[seat][0].told("ask")


@mock_time
async def test_the_bank_is_shown_before_each_ask(tmp_path: Path) -> None:
    """It falls by what goes beyond the move and the margin, and `used_ms` is what the decision before cost."""
    thinks = [0.5, 1.0, 1.04, 1.25, 2.0, 0.1]
    turns = {number: waits(seconds) for number, seconds in enumerate(thinks, 1)}
    limits = Limits(move_ms=1000, bank_ms=2000)
    game = await play(tmp_path / "log", honest(), honest(turns), honest(), limits=limits, seed=SEED)
    assert game.outcome.faults == []
    shown = [(ask["move_ms"], ask["bank_ms"], ask["used_ms"]) for ask in asks(game)[:7]]
    banks = [2000, 2000, 2000, 2000, 1800, 850, 850]
    for (move, bank, used), expected, thought in zip(shown, banks, [0, *thinks], strict=True):
        assert move == 1000
        assert bank == pytest.approx(expected, abs=1)
        assert used == pytest.approx(thought * 1000, abs=1)
    logged = [line["t"] for line in game.decisions(1, "asked")]
    assert [t["ms"] for t in logged[:6]] == pytest.approx([seconds * 1000 for seconds in thinks], abs=0.01)
    assert [t["bank_ms"] for t in logged[:6]] == [ask["bank_ms"] for ask in asks(game)[1:7]]


@mock_time
async def test_a_bank_alone_is_all_the_time_there_is(tmp_path: Path) -> None:
    """`move_ms` is not set: every decision is charged."""
    limits = Limits(bank_ms=2000)
    game = await play(tmp_path / "log", honest(), honest(each=waits(0.44)), honest(), limits=limits, seed=SEED)
    assert {"move_ms"} & set(asks(game)[0]) == set()
    assert [ask["bank_ms"] for ask in asks(game)[:6]] == pytest.approx([2000, 1610, 1220, 830, 440, 50], abs=3)
    late = [fault.elapsed_ms for fault in game.outcome.faults if fault.kind == "timeout"]
    assert late == pytest.approx([100, 50, 50], abs=3)
    assert game.outcome.forfeited == [1]


@mock_time
async def test_the_bank_lasts_for_one_match(tmp_path: Path) -> None:
    async with seated(honest({2: waits(2.0)}), honest(), limits=Limits(move_ms=1000, bank_ms=2000)) as hall:
        await hall.play(tmp_path / "one")
        before = len(hall.bot(0).told("ask"))
        await hall.play(tmp_path / "two")
        first = hall.bot(0).told("ask")[before]
        assert (first["bank_ms"], first["used_ms"]) == (2000, 0)


@mock_time
async def test_a_hard_cap_holds_where_no_limit_is_set(tmp_path: Path) -> None:
    """A bot that hangs is given up after a minute, whatever was left unset."""
    game = await play(
        tmp_path / "log", honest(), honest({2: silent, 3: waits(59)}), honest(), limits=Limits(), seed=SEED
    )
    assert (game.fault.kind, game.fault.limit_ms, game.fault.elapsed_ms) == ("timeout", HARD_CAP_MS, HARD_CAP_MS)
    assert {"move_ms", "bank_ms"} & set(asks(game)[0]) == set()


@mock_time
async def test_without_limits_a_bot_may_stop_for_hours(tmp_path: Path) -> None:
    """Also before its hello: it stands in a debugger."""

    async def stopped(bot: Bot) -> None:
        await bot.sleep(7200)
        await honest({2: waits(7200)})(bot)

    limits = Limits(move_ms=100, bank_ms=100, start_ms=100, enforced=False)
    game = await play(tmp_path / "log", honest(), stopped, limits=limits, seed=SEED)
    assert game.outcome.faults == []
    assert [bot["limits"]["enforced"] for bot in game.lines[0]["t"]["bots"]] == [False, False]


@mock_time
async def test_each_bot_has_its_own_limits(tmp_path: Path) -> None:
    limits = [Limits(move_ms=500, bank_ms=0), Limits(move_ms=1500, bank_ms=0), Limits(move_ms=2500, bank_ms=0)]
    game = await play(tmp_path / "log", *[honest({2: waits(1.2)})] * 3, limits=limits, seed=SEED)
    assert game.fault_kinds() == [(0, "timeout"), (0, "stale")]
    assert [asks(game, seat)[0]["move_ms"] for seat in range(3)] == [500, 1500, 2500]
    assert [bot["limits"]["move_ms"] for bot in game.lines[0]["t"]["bots"]] == [500, 1500, 2500]


@pytest.mark.parametrize(("late", "faults"), [(0.04, 0), (0.06, 1)])
@mock_time
async def test_the_margin(late: float, faults: int, tmp_path: Path) -> None:
    limits = Limits(move_ms=1000, bank_ms=0)
    game = await play(tmp_path / "log", honest(), honest({2: waits(1.0 + late)}), honest(), limits=limits, seed=SEED)
    assert [fault.kind for fault in game.outcome.faults if fault.kind != "stale"] == ["timeout"] * faults


@mock_time
async def test_chatter_does_not_move_the_deadline(tmp_path: Path) -> None:
    """Stale lines all the while, and the answer too late."""

    async def chatters(bot: Bot, ask: Line) -> None:
        for _ in range(5):
            await bot.sleep(0.25)
            await bot.say(b"\n")
        await bot.act(ask)

    limits = Limits(move_ms=1000, bank_ms=0)
    game = await play(tmp_path / "log", honest(), honest({2: chatters}), honest(), limits=limits, seed=SEED)
    timeout = next(fault for fault in game.outcome.faults if fault.kind == "timeout")
    assert timeout.elapsed_ms == 1050


@mock_time
async def test_the_referees_own_lateness_is_not_charged(tmp_path: Path) -> None:
    """An answer that lay there while the referee was busy: what it took is what the bot took."""

    class Late(MemoryChannel):
        async def receive(self, deadline: float) -> bytes | None:
            data = await super().receive(deadline)
            self.lag = max(0.0, self.read_at - self.sent_at - 0.1)
            return data

    limits = Limits(move_ms=500, bank_ms=1000)
    async with seated(honest(each=waits(0.7)), honest(), limits=limits) as hall:
        assert await hall.players[0].greet(0) is None
        connection = hall.connections[0][0]
        connection.channel.__class__ = Late
        game = await hall.play(tmp_path / "log", seed=SEED)
    assert game.outcome.faults == []
    for ask, following in pairwise(asks(game, 0)):
        assert following["bank_ms"] == ask["bank_ms"] == 1000
        assert following["used_ms"] in (99, 100)
    assert all(line["t"]["lag_ms"] == pytest.approx(600, abs=1) for line in game.decisions(0, "asked"))


@pytest.mark.parametrize(
    ("sent", "kind", "took", "lag", "charged"),
    [
        (Sent.CLOSED, "eof", 0.0, 0.0, 0),
        (Sent.CLOSED, "eof", 3.0, 3.0, 0),  # other tasks had their turn, and then nobody was there to read
        (Sent.CLOSED, "eof", 3.0, 2.75, 250),
        (Sent.STALLED, "stall", 1.5, 0.0, 1500),
        (Sent.STALLED, "stall", 9.0, 7.5, 1500),
        (Sent.STALLED, "stall", 9.0, 0.0, 1550),  # the look came late: no more than it had
    ],
)
@mock_time
async def test_an_ask_that_was_not_taken_costs_the_bots_part_of_the_time(
    tmp_path: Path, sent: Sent, kind: str, took: float, lag: float, charged: int
) -> None:
    class Unsent(MemoryChannel):
        async def send(self, data: bytes, deadline: float) -> Sent:
            if b'"ask"' not in data:
                return await super().send(data, deadline)
            await trio.sleep(took)
            self.lag = lag
            return sent

    async with seated(honest(), honest(), limits=Limits(move_ms=500, bank_ms=1000)) as hall:
        assert await hall.players[0].greet(0) is None
        hall.connections[0][0].channel.__class__ = Unsent
        game = await hall.play(tmp_path / "log", seed=SEED)
    assert (game.fault.kind, game.fault.elapsed_ms) == (kind, charged)
    for line in game.decisions(0, "fallback"):
        assert line["t"] == {
            "ms": pytest.approx(charged, abs=0.01),
            "lag_ms": pytest.approx(lag * 1000),
            "bank_ms": 1000 - max(0, charged - 550),
        }


@mock_time
async def test_a_fault_costs_the_time_until_it_was_said_and_not_until_it_was_read(tmp_path: Path) -> None:
    class Late(MemoryChannel):
        async def receive(self, deadline: float) -> bytes | None:
            data = await super().receive(deadline)
            self.lag = max(0.0, self.read_at - self.sent_at - 0.1)
            return data

    limits = Limits(move_ms=500, bank_ms=1000)
    async with seated(honest({2: waits(0.7, says(b"nonsense\n"))}), honest(), limits=limits) as hall:
        assert await hall.players[0].greet(0) is None
        hall.connections[0][0].channel.__class__ = Late
        game = await hall.play(tmp_path / "log", seed=SEED)
    assert (game.fault.kind, game.fault.elapsed_ms) in {("malformed", 99), ("malformed", 100)}
    (line,) = game.decisions(0)
    assert (line["t"]["ms"], line["t"]["lag_ms"]) == (pytest.approx(100), pytest.approx(600))


@mock_time
async def test_a_timeout_costs_what_was_left_however_late_the_look_was(tmp_path: Path) -> None:
    class Sleeps(MemoryChannel):
        async def receive(self, deadline: float) -> bytes | None:
            await trio.sleep_until(deadline + 5)
            data = await super().receive(deadline)
            self.lag = self.read_at - deadline
            return data

    async with seated(honest({2: silent}), honest(), limits=Limits(move_ms=500, bank_ms=1000)) as hall:
        assert await hall.players[0].greet(0) is None
        hall.connections[0][0].channel.__class__ = Sleeps
        game = await hall.play(tmp_path / "log", seed=SEED)
    timeout = next(fault for fault in game.outcome.faults if fault.kind == "timeout")
    assert (timeout.limit_ms, timeout.elapsed_ms) == (550, 550), (
        "the bank went with the answer that came at the deadline"
    )


DRIBBLES = """
def until(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        say(b" ")
        for _ in range(400): pass
while True:
    told = line()
    if b'"hello"' in told: say(b'{"type":"hello","protocol":1}\\n')
    if b'"ask"' in told:
        say(b'{"type":"act","id":1,'); until(0.6); say(b'"action":"draw"}\\n')
"""


async def test_bytes_that_go_on_coming_gain_no_time(tmp_path: Path) -> None:
    """Blanks inside an answer, so fast that every look finds some: whatever was begun in time is late."""
    limits = Limits(move_ms=20, margin_ms=10, strikes=1)
    keeping = Keeping(Sandbox(), (), Idle.RUN)
    players = [player_of(python(DRIBBLES), limits, keeping, seat=seat, match="d") for seat in range(2)]
    log = MatchLog(tmp_path / "log")
    try:
        outcome = await Table(players, ONE_ROUND, "d", log, match_id="d").play()
    finally:
        log.close()
        await part_all(players, "over")
    assert [fault.kind for fault in outcome.faults] == ["timeout"]
    assert outcome.faults[0].received.startswith(b'{"type":"act","id":1,')


@mock_time
async def test_an_answer_that_is_found_after_the_deadline_is_no_timeout(tmp_path: Path) -> None:
    """The referee stood still from before the answer came until long after the deadline."""

    class Stalls(MemoryChannel):
        async def receive(self, deadline: float) -> bytes | None:
            await trio.sleep_until(deadline + 5)  # the bot has answered meanwhile
            return await super().receive(deadline)

    async with seated(honest(each=waits(0.7)), honest(), limits=Limits(move_ms=1000, seat_ms=10_000_000)) as hall:
        assert await hall.players[0].greet(0) is None
        hall.connections[0][0].channel.__class__ = Stalls
        game = await hall.play(tmp_path / "log", seed=SEED)
    assert game.outcome.faults == []
