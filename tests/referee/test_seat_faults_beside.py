"""More rows of the fault table of `spec.md` 4.6: before the first ask, between asks, restarted, between matches."""

from math import inf
from pathlib import Path

import pytest
import trio

from lastcard.referee.faults import Phase
from lastcard.referee.limits import Limits
from lastcard.referee.processes import StartError
from tests.referee.scripted import (
    BANK,
    LIMITS,
    MOVE,
    Bot,
    Line,
    Script,
    Turn,
    exits,
    honest,
    mock_time,
    play,
    says,
    seated,
)
from tests.referee.test_seat_faults import (
    AT,
    BAD,
    HELLO,
    LONG,
    SEED,
    check_forfeit,
    check_forfeited,
    check_leaves,
    check_others,
    closes_output,
    fills_its_input,
    raw,
    then_exits,
    thinking,
)


async def closes_its_input(bot: Bot, line: Line) -> None:
    bot.pipes.close_input()
    await bot.sleep(inf)


@pytest.mark.parametrize("features", [[], ["ready"]])
@mock_time
async def test_a_long_line_before_the_first_ask_costs_it(features: list[str], tmp_path: Path) -> None:
    """F-13, F-51."""
    start = says(LONG, {"type": "ready"})
    script = honest(features=features, on={"start": says(LONG) if not features else start})
    game = await play(tmp_path / "log", thinking(), script, thinking(), seed=SEED)
    assert [fault for fault in game.fault_kinds() if fault[1] != "stale"] == [(BAD, "oversize")]
    assert [line["fault"] for line in game.decisions(BAD)] == ["oversize"]
    assert game.outcome.forfeited == []
    check_others(game)


@mock_time
async def test_start_is_not_read(tmp_path: Path) -> None:
    """F-14: the bot has said hello and reads no more."""

    async def deaf(bot: Bot) -> None:
        await bot.read()
        bot.fill_input()
        await bot.say(HELLO)
        await bot.sleep(inf)

    game = await play(tmp_path / "log", honest(), deaf, honest(), seed=SEED)
    assert (game.fault.kind, game.fault.phase) == ("startup", Phase.START)
    assert game.fault.detail == "the start line was not read within 5000 ms"
    assert (game.fault.limit_ms, game.fault.elapsed_ms) == (5000, 5000)
    check_forfeited(game, "startup")
    check_others(game)


@mock_time
async def test_an_input_that_is_closed_between_asks(tmp_path: Path) -> None:
    """F-55: it is found closed when the next ask is written."""

    async def turn(bot: Bot, ask: Line) -> None:
        await bot.act(ask)
        await bot.sleep(0.001)
        bot.pipes.close_input()
        await bot.sleep(inf)

    game = await play(tmp_path / "log", thinking(), honest({AT: turn}), thinking(), seed=SEED)
    assert (game.fault.kind, game.fault.phase, game.fault.detail) == ("eof", Phase.ASKED, "its input is closed")
    check_leaves(game, "eof")
    check_others(game)


@mock_time
async def test_a_bot_that_does_not_read_is_found_out_when_it_is_asked(tmp_path: Path) -> None:
    """F-56: it listed events, and what it is told fits into its input no more. The others notice nothing."""

    async def turn(bot: Bot, ask: Line) -> None:
        await bot.act(ask)
        bot.fill_input()
        await bot.sleep(inf)

    script = honest({AT: turn}, features=["events"])
    game = await play(tmp_path / "log", thinking(), script, thinking(), seed=SEED)
    assert (game.fault.kind, game.fault.phase) == ("stall", Phase.ASKED)
    check_forfeit(game, "stall")
    check_others(game)


# ---- restarted


def again(second: Script | StartError, *more: Script, at: Turn | None = None) -> list[Script | StartError]:
    """A bot that dies at its third ask, and the processes that come after it."""
    return [honest({AT: at or exits()}), second, *more]


@mock_time
async def test_the_new_process_speaks_another_protocol(tmp_path: Path) -> None:
    """F-81."""
    other = raw(HELLO.replace(b"1", b"2"))
    game = await play(tmp_path / "log", honest(), again(other), honest(), limits=Limits(restarts=1), seed=SEED)
    assert game.fault_kinds() == [(BAD, "crash"), (BAD, "version")]
    assert game.bots[BAD][1].heard[-1]["type"] == "bye"
    check_forfeited(game, "version")
    check_others(game)


@pytest.mark.parametrize(("restarts", "strikes", "why"), [(1, 5, "crash"), (5, 2, "crash"), (5, 3, "crash")])
@mock_time
async def test_the_new_process_ends_too(restarts: int, strikes: int, why: str, tmp_path: Path) -> None:
    """F-82: until no restart is left, or the last strike."""
    dying = honest({1: exits()})
    limits = Limits(restarts=restarts, strikes=strikes)
    game = await play(tmp_path / "log", honest(), again(dying, *[dying] * 5), honest(), limits=limits, seed=SEED)
    last = min(restarts + 1, strikes)
    assert [(fault.kind, fault.strikes) for fault in game.outcome.faults] == [("crash", n + 1) for n in range(last)]
    assert len(game.decisions(BAD)) == last
    check_forfeited(game, why)
    check_others(game)


@mock_time
async def test_a_new_process_starts_with_what_is_left(tmp_path: Path) -> None:
    """F-83: the bank that the old one has emptied, ids from 1, and nothing of what the old one has written."""
    slow = then_exits("exit status 1", b"hm\n", b"\n" * 10)

    async def wastes(bot: Bot, ask: Line) -> None:
        await bot.sleep(MOVE + BANK)
        await bot.act(ask)
        await bot.sleep(0.001)
        await slow(bot, ask)

    limits = Limits(move_ms=1000, bank_ms=2000, restarts=1)
    async with seated(honest(), again(honest(), at=wastes), honest(), limits=[LIMITS, limits, LIMITS]) as hall:
        game = await hall.play(tmp_path / "log", seed=SEED)
    assert game.fault_kinds() == [(BAD, "malformed"), *[(BAD, "stale")] * 10, (BAD, "crash")]
    asks = game.bots[BAD][1].told("ask")
    assert [ask["id"] for ask in asks] == list(range(1, len(asks) + 1))
    assert asks[0]["bank_ms"] == 50
    assert game.outcome.forfeited == []
    check_others(game)


@mock_time
async def test_a_bot_that_does_not_read_between_matches(tmp_path: Path) -> None:
    """F-62: the next match goes on without it, the one after that has a new process."""
    async with seated([honest(on={"end": fills_its_input}), honest()], honest()) as hall:
        assert (await hall.play(tmp_path / "one")).outcome.faults == []
        await trio.sleep(1)
        second = await hall.play(tmp_path / "two")
        assert (second.fault.kind, second.fault.detail) == ("startup", "the start line was not read within 5000 ms")
        assert second.outcome.forfeited == [0]
        assert (await hall.play(tmp_path / "three")).outcome.faults == []


@pytest.mark.parametrize("closes", [closes_output, closes_its_input], ids=["output", "input"])
@mock_time
async def test_a_pipe_that_is_closed_before_bye(closes: Turn, tmp_path: Path) -> None:
    """F-73: the match is over, and no other follows."""
    async with seated(honest(on={"end": closes}), honest()) as hall:
        game = await hall.play(tmp_path / "log")
        await trio.sleep(1)
        for player in hall.players:
            await player.part("the run is over")
    assert game.outcome.faults == []
