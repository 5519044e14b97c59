"""A referee whose loop stands still for 20 ms now and then takes no answer for late that was given in time.

The bots are real, and note when each of their answers was in the pipe, by the clock that the referee goes by too:
what a bot is late for by itself, on a busy machine, is no false time-out.
"""

import json
import sys
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
import trio

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.fd_channel import FdChannel
from lastcard.referee.limits import Limits
from lastcard.referee.player import Player
from lastcard.referee.processes import start_bot
from lastcard.referee.seat import Seat
from tests.protocol.pairs import LEGAL, START, VIEW

STALL = 0.02
BUDGET = 0.005
LIMITS = Limits(move_ms=5, margin_ms=0, start_ms=20_000)
AT_MOST = 0.001
"""Of all asks so many may be false time-outs."""

MATCH = 50
"""Asks a match: the late answers of one must not grow into a flood."""

BOT = """
import json, os, random, sys, time
chance, times, rest = random.Random(sys.argv[1]), {}, b""
while data := os.read(0, 65536):
    *lines, rest = (rest + data).split(b"\\n")
    for line in lines:
        if line.startswith(b'{"type":"hello"'):
            os.write(1, b'{"type":"hello","protocol":1}\\n')
        elif line.startswith(b'{"type":"ask"'):
            number = int(line[19:line.index(b",", 19)])
            until = time.perf_counter() + chance.choice([0, 0.0001, chance.uniform(0, 0.001)])
            while time.perf_counter() < until:
                pass
            os.write(1, b'{"type":"act","id":%d,"action":"draw"}\\n' % number)
            times[number] = time.perf_counter()
json.dump(times, open(sys.argv[2], "w"))
"""
"""It thinks for up to a millisecond, and writes down when its answers were written."""


class Asked(NamedTuple):
    """How one ask ended."""

    number: int
    sent_at: float
    late: bool
    charged: float
    lag: float


async def stand_still(chance: Random) -> None:
    """Now and then the whole loop does something else."""
    while True:
        await trio.sleep(chance.uniform(0, 0.012))
        time.sleep(STALL)  # noqa: ASYNC251 - it is the point


async def asks(player: Player, seat_number: int, count: int) -> list[Asked]:
    """So many asks of one bot, in matches of some."""
    asked: list[Asked] = []
    while len(asked) < count:
        seat = Seat(player, seat_number)
        fault = await seat.start(START)
        assert fault is None, fault
        for _ in range(MATCH):
            answer = await seat.ask("turn", tuple(LEGAL), VIEW)  # type: ignore[arg-type]  # as much of a view as is sent
            kinds = [answer.fault.kind] if answer.fault else []
            assert kinds in ([], ["timeout"]), answer.fault
            number, sent_at = player.conversation.last_id, player.channel.sent_at
            asked.append(Asked(number, sent_at, bool(kinds), answer.ms / 1000, answer.lag_ms / 1000))
            if answer.fault is not None:
                seat.tell_fault(answer.fault)
            await trio.lowlevel.checkpoint()  # as a table does now and then
        seat.tell_end("m", [1, 2, 3], [0, 0, 0])
    return asked


async def stalled_referee(folder: Path, *, bots: int, count: int) -> list[tuple[Asked, float]]:
    """All asks, each with the moment at which its answer was in the pipe."""
    found: list[tuple[Asked, float]] = []

    async def one(number: int) -> None:
        path = folder / f"times{number}"
        argv = (sys.executable, "-S", "-E", "-I", "-c", BOT, str(number), str(path))
        command = BotCommand(f"bot{number}", argv)
        player = Player(command.name, argv, LIMITS, lambda: start_bot(command, seat=number, match=str(folder)))
        try:
            asked = await asks(player, number, count)
        finally:
            with trio.CancelScope(shield=True):
                await player.part("the test is over")
        times = json.loads(path.read_text())
        found.extend((ask, times.get(str(ask.number), float("inf"))) for ask in asked)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stand_still, Random(1))
        async with trio.open_nursery() as players:
            for number in range(bots):
                players.start_soon(one, number)
        nursery.cancel_scope.cancel()
    return found


def false_timeouts(found: list[tuple[Asked, float]]) -> list[tuple[Asked, float]]:
    """Asks that were closed as too late though their answer was in the pipe in time."""
    return [(ask, answered) for ask, answered in found if ask.late and answered <= ask.sent_at + BUDGET]


async def test_an_answer_in_time_is_no_timeout_however_late_the_referee_looks(tmp_path: Path) -> None:
    found = await stalled_referee(tmp_path, bots=3, count=1000)
    assert len(found) >= 3000
    stalled = [ask for ask, _ in found if ask.lag > STALL / 2]
    assert len(stalled) > 50, "the referee was hardly ever late: this test proves nothing"
    wrong = false_timeouts(found)
    assert len(wrong) <= AT_MOST * len(found), f"{len(wrong)} of {len(found)}: {wrong[:5]}"
    billed = [ask for ask, answered in found if not ask.late and ask.charged > answered - ask.sent_at + STALL / 2]
    assert len(billed) <= 0.01 * len(found), f"the referee's own time is on the bill: {billed[:5]}"


@pytest.mark.soak
async def test_many_answers_in_time_are_no_timeouts(tmp_path: Path) -> None:
    found = await stalled_referee(tmp_path, bots=4, count=8000)
    wrong = false_timeouts(found)
    assert len(wrong) <= AT_MOST * len(found), f"{len(wrong)} of {len(found)}: {wrong[:5]}"


async def test_a_referee_that_does_not_look_again_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that goes by the time at which it wakes, as most do."""
    right = FdChannel.receive

    async def receive(channel: FdChannel, deadline: float) -> bytes | None:
        data = await right(channel, deadline)
        return None if channel.read_at > deadline else data

    monkeypatch.setattr(FdChannel, "receive", receive)
    found = await stalled_referee(tmp_path, bots=3, count=300)
    assert len(false_timeouts(found)) > 10 * AT_MOST * len(found)
