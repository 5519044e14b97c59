"""Bots that do anything at any time, from seeds: the match comes to its end, and the log proves itself.

Whatever a bot does, nothing is raised, every fault is at its own seat, and who is honest loses nothing by it.
"""

import json
from functools import partial
from math import inf
from pathlib import Path
from random import Random

import pytest
import trio
from trio.testing import MockClock

from lastcard.engine import EDITIONS, Rules
from lastcard.referee.faults import COST, GONE, FaultKind
from lastcard.referee.limits import Limits
from tests.referee.scripted import Bot, Exit, Game, Line, Script, choice, honest, seated

FEATURES = ["events", "ready", "ping", "telepathy"]
HONEST = Limits(move_ms=60_000, start_ms=600_000)
"""An honest bot may have to wait for nothing but itself, so it needs no more."""


class Hostile:
    """A bot that is honest for most of the time, and then is not."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.evil = chance.choice([0.02, 0.1, 0.4])

    async def __call__(self, bot: Bot) -> None:
        """The script, for each process anew."""
        await self.perhaps(bot, {})
        while True:
            line = await bot.read()
            if self.chance.random() < self.evil:
                await self.perhaps(bot, line)
            match line["type"]:
                case "hello":
                    features = [feature for feature in FEATURES if self.chance.random() < 0.5]
                    await bot.say({"type": "hello", "protocol": 1, "features": features})
                case "start":
                    await bot.say({"type": "ready"})
                case "ask":
                    await bot.say({"type": "act", "id": line["id"], "action": self.chosen(line)})
                case "ping":
                    await bot.say({"type": "pong"})
                case _:
                    pass

    def chosen(self, ask: Line) -> str:
        return choice(ask) if self.chance.random() < 0.7 else self.chance.choice(ask["legal"])

    async def perhaps(self, bot: Bot, line: Line) -> None:
        """One thing that a good bot would not do; before its first line mostly none."""
        deed = self.chance.randrange(20 if line else 50)
        if deed < 4:
            await self.lets_go(bot, deed)
        elif deed < 7:
            await bot.sleep(self.chance.choice([0.01, 0.9, 2.0, 20.0]))
        elif deed < 13:
            await bot.say(self.noise(deed))
        elif deed < 20:
            await self.almost(bot, line)

    async def lets_go(self, bot: Bot, deed: int) -> None:
        """Ends, or one of its pipes does."""
        if deed == 0:
            raise Exit(self.chance.choice(["exit status 0", "exit status 1", "killed by SIGKILL"]))
        if deed == 1:
            bot.close_output()
        elif deed == 2:
            bot.pipes.close_input()
        else:
            bot.fill_input()
            await bot.sleep(self.chance.choice([0.5, inf]))

    def noise(self, deed: int) -> bytes:
        """What is no message."""
        chance = self.chance
        match deed:
            case 7 | 8:
                return chance.randbytes(chance.randrange(200))
            case 9:
                return b"\n" * chance.randrange(1, 20)
            case 10:
                return bytes(chance.choices(b'{}[]":,\\ \nact', k=chance.randrange(60)))
            case 11:
                return b"x" * chance.choice([60_000, 70_000, 1_100_000])
            case _:
                return b"[" * chance.choice([100, 600, 30_000]) + b"\n"

    async def almost(self, bot: Bot, line: Line) -> None:
        """An answer with something wrong about it."""
        chance = self.chance
        legal = line.get("legal", ["draw"])
        act: Line = {"type": "act", "id": line.get("id", chance.randrange(5)), "action": chance.choice(legal)}
        wrong: list[object] = [None, 0, -1, 1.5, True, "", "draw", [], {}, 10**20, "play R7 uno", "\u0000", "é" * 600]
        if chance.random() < 0.3:
            act["action"] += chance.choice(["", " ", "x", " uno", "\u202e"])
        else:
            act[chance.choice(["type", "id", "action", "note", "x"])] = chance.choice(wrong)
        text = json.dumps(act).encode() + b"\n"
        place = chance.randrange(len(text))
        if chance.random() < 0.3:
            text = text[:place] + chance.randbytes(1) + text[place + chance.randrange(2) :]
        await bot.say(text * chance.choice([1, 1, 1, 2]))


def limits(chance: Random) -> Limits:
    """Some limits that a user could set."""
    return Limits(
        move_ms=chance.choice([None, 1, 1000]),
        bank_ms=chance.choice([None, 0, 3000]),
        start_ms=chance.choice([100, 5000]),
        strikes=chance.choice([1, 3, 8]),
        margin_ms=chance.choice([0, 50]),
        seat_ms=chance.choice([1500, 600_000]),
        restarts=chance.choice([0, 1, 5]),
    )


def rules(chance: Random) -> Rules:
    """Some match that a user could play."""
    edition = chance.choice(sorted(EDITIONS))
    options: dict[str, object] = {"rounds": chance.choice([1, 2]), "turn_cap": 120, "void_limit": 1}
    if chance.random() < 0.5:
        house = {
            "stacking": chance.choice(["off", "same", "cross"]),
            "seven_zero": chance.choice(["off", "on"]),
            "draw_until_playable": chance.choice(["off", "on"]),
            "catch": chance.choice(["asked", "auto"]),
            "wd4_guilty": chance.choice(["keep", "take_back"]),
        }
        options |= {name: value for name, value in house.items() if name in Rules.of(edition, {}).options}
    return Rules.of(edition, options)


async def hostile_hall(seed: int, folder: Path) -> None:
    """Up to three matches between bots of which some are hostile."""
    chance = Random(seed)
    seats = chance.choice([2, 3, 3, 4])
    bad = {seat for seat in range(seats) if chance.random() < 0.6}
    scripts: list[Script] = []
    for seat in range(seats):
        own = Random(chance.random())
        scripts.append(Hostile(own) if seat in bad else honest(features=[f for f in FEATURES if own.random() < 0.5]))
    all_limits = [limits(chance) if seat in bad else HONEST for seat in range(seats)]
    for seat in set(range(seats)) - bad:  # `ready` has to be answered by who lists it
        scripts[seat] = honest(features=["ping", "events"][: chance.randrange(3)])
    async with seated(*scripts, limits=all_limits) as hall:
        for number in range(chance.choice([1, 1, 2, 3])):
            game = await hall.play(folder / str(number), rules=rules(chance), seed=f"{seed}-{number}")
            check(game, bad, all_limits)
            await trio.sleep(chance.choice([0, 1]))
    for seat in set(range(seats)) - bad:
        (bot,) = (connection.bot for connection in hall.connections[seat])
        assert len(bot.told("end")) == number + 1
        assert not bot.told("fault")
        assert [ask["id"] for ask in bot.told("ask")] == list(range(1, len(bot.told("ask")) + 1))


def check(game: Game, bad: set[int], limits: list[Limits]) -> None:
    """What holds for every match."""
    outcome = game.outcome
    assert {fault.seat for fault in outcome.faults} <= bad
    assert len(game.logged("result")) == len(game.logged("end")) == 1
    assert [line["n"] for line in game.logged("decision")] == list(range(1, len(game.logged("decision")) + 1))
    for seat, limit in enumerate(limits):
        faults = [fault for fault in outcome.faults if fault.seat == seat]
        strikes = sum(fault.costs_strike for fault in faults)
        assert strikes <= limit.strikes
        assert [fault.strikes for fault in faults if fault.costs_strike] == list(range(1, strikes + 1))
        assert sum(fault.kind is FaultKind.STALE for fault in faults) <= 16
        fallbacks = game.decisions(seat)
        assert len(fallbacks) == sum(fault.applied is not None for fault in faults)
        assert all(line["action"] == line["legal"][-1] for line in fallbacks)
        if seat in outcome.forfeited:
            last = [fault for fault in faults if fault.kind is not FaultKind.STALE][-1]
            assert last.forfeits or COST[last.kind].ends or strikes == limit.strikes
            assert outcome.places[seat] > len(limits) - len(outcome.forfeited) or len(outcome.forfeited) == len(limits)
        else:
            assert sum(fault.kind in GONE for fault in faults) <= limit.restarts or outcome.reason
    events = [line["event"] for line in game.logged("event") if line["event"]["type"] == "forfeit"]
    forfeited = [event["seat"] for event in events]
    assert forfeited == outcome.forfeited[: len(forfeited)]
    assert len(forfeited) == len(outcome.forfeited) or len(outcome.forfeited) == len(limits)


def run(seed: int, folder: Path) -> None:
    trio.run(partial(hostile_hall, seed, folder), clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize("block", range(8))
def test_hostile_bots(block: int, tmp_path: Path) -> None:
    for seed in range(block * 30, block * 30 + 30):
        run(seed, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("block", range(60))
def test_many_hostile_bots(block: int, tmp_path: Path) -> None:
    for seed in range(1000 + block * 100, 1000 + block * 100 + 100):
        run(seed, tmp_path)
