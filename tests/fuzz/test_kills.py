"""Real bots that a third process kills, stops or cuts off at random moments: each match ends, and nobody else pays.

The moments come from a seed, what they meet does not: so a seed that fails may hold the next time.
"""

import shlex
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
import trio

from lastcard.engine import Rules
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.limits import Limits
from lastcard.referee.log_reader import read_log
from lastcard.referee.player import Connection, Player
from lastcard.referee.processes import start_bot
from lastcard.referee.replay import verify
from lastcard.referee.seating import SeatedTable, part_all
from lastcard.referee.tournament import MatchCall, MatchRecord
from tests.checker.course import audit
from tests.referee.children import bearing

PYTHON = (sys.executable, "-S", "-E", "-I", "-c")

BOT = """
import json, sys, time
for line in sys.stdin:
    line = json.loads(line)
    if line["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif line["type"] == "ask":
        time.sleep(THINK)
        print(json.dumps({"type": "act", "id": line["id"], "action": line["legal"][0]}), flush=True)
"""

KILLER = """
import os, signal, sys, time
delay, name, leader, part = float(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
time.sleep(delay)
try:
    parts = [leader, *map(int, open(f"/proc/{leader}/task/{leader}/children").read().split())]
    os.kill(parts[part % len(parts)], getattr(signal, name))
except (OSError, ProcessLookupError):
    pass
"""
"""Waits, and sends a signal to a process or to one of its children; perhaps there is none any more."""

PATIENT = Limits(move_ms=20_000, start_ms=20_000)
HURRIED = Limits(move_ms=150, bank_ms=0, start_ms=4000, strikes=2)
GONE = {"crash", "eof"}


class Accident(NamedTuple):
    """What is done to a bot, and the faults that may come of it."""

    signal: str
    part: int
    """0 for the bot itself, n for its n-th child; a pipeline has three: what feeds it, the bot, what it feeds."""
    limits: Limits
    kinds: set[str]


ACCIDENTS = {
    "killed": Accident("SIGKILL", 0, PATIENT, GONE),
    "killed, restarted": Accident("SIGKILL", 0, Limits(move_ms=20_000, start_ms=20_000, restarts=2), GONE),
    "terminated": Accident("SIGTERM", 0, PATIENT, GONE),
    "stopped": Accident("SIGSTOP", 0, HURRIED, {"timeout", "stall"}),
    "input cut off": Accident("SIGKILL", 1, HURRIED, {*GONE, "timeout"}),
    "heart of a pipeline": Accident("SIGKILL", 2, HURRIED, {*GONE, "timeout"}),
    "output cut off": Accident("SIGKILL", 3, HURRIED, {*GONE, "timeout"}),  # the shell may hold its end open
    "pipeline stopped": Accident("SIGSTOP", 3, HURRIED, {"timeout", "stall"}),
}


def command(label: str, accident: Accident) -> BotCommand:
    """A bot that thinks for some milliseconds; alone, or in the middle of a pipeline."""
    argv: tuple[str, ...] = (*PYTHON, BOT.replace("THINK", "0.004"))
    if accident.part:
        argv = ("/bin/sh", "-c", f"cat | {shlex.join(argv)} | cat; true")
    return BotCommand(label, argv, env={"LASTCARD_KILLS": label})


def victim(label: str, accident: Accident, chance: Random, killers: "list[subprocess.Popen[bytes]]") -> Player:
    """A player whose processes are met by an accident some time after their start."""
    bot = command("victim", accident)

    def launch() -> Connection:
        process = start_bot(bot, seat=0, match=label)
        delay = chance.choice([chance.uniform(0, 0.15), chance.uniform(0, 0.9)])
        words = (str(delay), accident.signal, str(process.pid), str(accident.part))
        killers.append(subprocess.Popen((*PYTHON, KILLER, *words)))
        return process

    return Player("victim", bot.argv, accident.limits, launch)


def bystander(label: str, seat: int) -> Player:
    """A player to whom nothing happens."""
    bot = command(f"bystander{seat}", ACCIDENTS["killed"])
    return Player(bot.name, bot.argv, PATIENT, lambda: start_bot(bot, seat=seat, match=label))


async def match_with_accident(name: str, seed: int, folder: Path) -> MatchRecord:
    """One match; its log is proved, and the only one with faults is the victim, in seat 1."""
    accident, label = ACCIDENTS[name], f"kills-{folder.name}-{seed:05d}"
    killers: list[subprocess.Popen[bytes]] = []
    players = [bystander(label, 2), victim(label, accident, Random(seed), killers), bystander(label, 3)]
    rules = Rules.of("mario-kart", {"rounds": 2, "turn_cap": 120, "max_rounds": 2})
    call = MatchCall(match_id=label, rules=rules, seed=f"k{seed}", bots=(0, 1, 2), log_path=folder / f"{seed}.jsonl")
    try:
        with trio.fail_after(120):
            record = await SeatedTable(players).play(call)
    finally:
        with trio.CancelScope(shield=True):
            await part_all(players, "the test is over")
        for killer in killers:
            killer.kill()
            killer.wait()
    check(record, call, accident, f"{name}, seed {seed}")
    assert bearing(label) == [], f"{name}, seed {seed}: processes are left"
    return record


def check(record: MatchRecord, call: MatchCall, accident: Accident, name: str) -> None:
    """Whatever the moment was, the log is whole, and faults are the victim's and of the right kinds."""
    assert not record.void, f"{name}: {record.void_reason}"
    faults = [(fault.seat, fault.kind) for fault in record.faults]
    assert {seat for seat, _ in faults} <= {1}, f"{name}: {faults}"
    kinds = {str(kind) for _, kind in faults}
    early = {"startup"} if "startup" in kinds else set[str]()
    assert kinds <= accident.kinds | early, f"{name}: {faults}"
    expected = [1] if left(faults, accident.limits) else []
    assert list(record.forfeited) == expected, f"{name}: {faults}, forfeited {record.forfeited}"
    verdict = verify(read_log(call.log_path))
    assert (verdict.difference, verdict.incomplete, verdict.digest) == (None, "", record.digest), f"{name}: {verdict}"
    audit(call.log_path.read_bytes())


def left(faults: list[tuple[int, str]], limits: Limits) -> bool:
    """Whether these faults end the match of a seat."""
    gone = sum(kind in GONE for _, kind in faults)
    forfeits = any(kind in ("startup", "stall") for _, kind in faults)
    return forfeits or gone > limits.restarts or len(faults) >= limits.strikes


async def play_several(names: list[str], seeds: range, folder: Path) -> list[MatchRecord]:
    """Several matches at a time."""
    records: list[MatchRecord] = []

    async def one(name: str, seed: int) -> None:
        records.append(await match_with_accident(name, seed, folder))

    async with trio.open_nursery() as nursery:
        for place, seed in enumerate(seeds):
            nursery.start_soon(one, names[place % len(names)], seed)
    return records


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the killer finds children in /proc")
async def test_accidents_at_random_moments(tmp_path: Path) -> None:
    records = await play_several(list(ACCIDENTS), range(12), tmp_path)
    assert sum(bool(record.faults) for record in records) >= 4, "hardly any accident met its match"


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1000, 1160, 8))
async def test_many_accidents_at_random_moments(first: int, tmp_path: Path) -> None:
    await play_several(list(ACCIDENTS), range(first, first + len(ACCIDENTS)), tmp_path)
