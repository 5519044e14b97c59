"""`idle = "freeze"`: when a bot may run, on a mock clock; that it stands still, with real processes; equal digests."""

import json
from pathlib import Path

import pytest

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.limits import Idle, Limits
from lastcard.referee.match_log import MatchLog
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.seating import Keeping, part_all, player_of
from lastcard.referee.table import Outcome, Table
from tests.conftest import RequireDebian
from tests.referee.children import python
from tests.referee.scripted import (
    ONE_ROUND,
    Bot,
    Exit,
    Hall,
    Line,
    Turn,
    exits,
    honest,
    mock_time,
    seated,
    silent,
    waits,
)

# ---- when it may run, by the calls


def freeze_all(hall: Hall) -> None:
    for player in hall.players:
        player.freezes = True


FEATURES = [[], ["ready"], ["events"], ["ping"]]


@pytest.mark.parametrize("features", FEATURES)
@mock_time
async def test_a_bot_runs_while_it_owes_and_stands_still_otherwise(features: list[str], tmp_path: Path) -> None:
    """At each line that it reads, and whenever the other is asked."""
    seen: list[bool] = []

    async def looks(bot: Bot, ask: Line) -> None:
        seen.append(hall.connections[1][0].frozen)
        await bot.act(ask)

    async with seated(honest(each=looks), honest(features=features)) as hall:
        freeze_all(hall)
        game = await hall.play(tmp_path / "log")
        connection = hall.connections[1][0]
        asked = len(connection.bot.told("ask"))
        assert asked > 3
        assert connection.freezes == [True, *[False, True] * asked, False], "told the match, each ask, end"
        again = await hall.play(tmp_path / "again")
    assert game.outcome.faults == again.outcome.faults == []
    assert set(seen) == {True}
    assert connection.frozen is False, "let go to leave"


@mock_time
async def test_it_is_thawed_before_its_clock_starts_and_frozen_when_its_time_is_over(tmp_path: Path) -> None:
    """A bot that says nothing is stopped at its time-out, and let go for its next ask."""
    async with seated(honest({2: silent}), honest()) as hall:
        freeze_all(hall)
        game = await hall.play(tmp_path / "log")
        freezes = hall.connections[0][0].freezes
    assert game.fault_kinds() == [(0, "timeout")]
    asked = len(hall.bot(0).told("ask"))
    assert freezes == [True, *[False, True] * asked, False]


@mock_time
async def test_a_frozen_bot_gets_no_ping_and_pays_for_none(tmp_path: Path) -> None:
    async with seated(honest(each=waits(3.0)), honest(features=["ping"]), limits=Limits(move_ms=5000)) as hall:
        freeze_all(hall)
        frozen = await hall.play(tmp_path / "frozen")
    async with seated(honest(each=waits(3.0)), honest(features=["ping"]), limits=Limits(move_ms=5000)) as hall:
        running = await hall.play(tmp_path / "running")
    assert frozen.bots[1][0].told("ping") == []
    assert running.bots[1][0].told("ping"), "else this shows nothing"
    assert frozen.outcome.faults == running.outcome.faults == []


async def crashes_when_idle(bot: Bot, ask: Line) -> None:
    await bot.act(ask)
    await bot.sleep(0.1)
    raise Exit("exit status 7")


async def closes_and_ends(bot: Bot, ask: Line) -> None:
    bot.close_output()
    await bot.sleep(0.05)
    raise Exit("exit status 5")


@pytest.mark.parametrize(
    ("turn", "kind"),
    [(crashes_when_idle, "crash"), (exits(), "crash"), (closes_and_ends, "crash")],
    ids=["between", "asked", "a while after its output"],
)
@pytest.mark.parametrize("restarts", [0, 1])
@mock_time
async def test_faults_and_restarts_are_the_same_as_without(
    turn: Turn, kind: str, restarts: int, tmp_path: Path
) -> None:
    digests: list[str] = []
    for freezes in (False, True):
        limits = Limits(move_ms=1000, bank_ms=2000, restarts=restarts)
        async with seated([honest({2: turn}), honest()], honest(), limits=limits) as hall:
            if freezes:
                freeze_all(hall)
            game = await hall.play(tmp_path / str(freezes), seed="f")
        assert game.fault_kinds() == [(0, kind)]
        assert game.outcome.forfeited == ([] if restarts else [0])
        digests.append(game.outcome.digest)
    assert digests[0] == digests[1]


@mock_time
async def test_a_bot_that_was_never_asked_to_stand_still_never_does(tmp_path: Path) -> None:
    async with seated(honest(), honest()) as hall:
        await hall.play(tmp_path / "log")
    assert [connection.freezes for started in hall.connections for connection in started] == [[], []]


# ---- real processes

PLAYS = """
import json
def act(ask):
    action = ask["legal"][0]
    action += " uno" if action.startswith("play") and len(ask["state"]["hand"]) == 2 else ""
    say(json.dumps({"type": "act", "id": ask["id"], "action": action, "note": note()}).encode() + b"\\n")
def play():
    while True:
        ask = json.loads(line())
        if ask["type"] == "hello":
            say(b'{"type":"hello","protocol":1}\\n')
        elif ask["type"] == "ask":
            act(ask)
"""

SPINNER = f"""
import threading
turns = 0
def spin():
    global turns
    while True:
        turns += 1
        time.sleep(0)
threading.Thread(target=spin, daemon=True).start()
before = 0
def note():
    return str(turns)
{PLAYS}
play()
"""

THINKER = f"""
def note():
    until = time.process_time() + 0.03
    while time.process_time() < until:
        pass
    return ""
{PLAYS}
play()
"""


async def match_of(commands: list[BotCommand], idle: Idle, sandbox: Sandbox, path: Path) -> Outcome:
    """A real match of one round."""
    limits = Limits(move_ms=20_000, bank_ms=20_000)
    keeping = Keeping(sandbox, (), idle)
    players = [player_of(command, limits, keeping, seat=seat, match=path.name) for seat, command in enumerate(commands)]
    log = MatchLog(path)
    try:
        return await Table(players, ONE_ROUND, "real", log, match_id=path.name).play()
    finally:
        log.close()
        await part_all(players, "over")


def notes(path: Path, seat: int) -> list[str]:
    lines = map(json.loads, path.read_text().splitlines())
    return [line["t"]["note"] for line in lines if line["type"] == "decision" and line["seat"] == seat and "t" in line]


@pytest.mark.parametrize("level", list(Level))
async def test_a_real_bot_that_spins_stands_still_while_another_thinks(
    level: Level, tmp_path: Path, require_debian: RequireDebian
) -> None:
    """It counts its own turns: from its answer to its next ask there are next to none."""
    if level is not Level.NONE:
        require_debian("setpriv", "util-linux")
    if level is Level.STRICT:
        require_debian("bwrap", "bubblewrap")
    commands = [python(SPINNER, name="spinner"), python(THINKER, name="thinker")]
    digests: list[str] = []
    counted: dict[Idle, int] = {}
    for idle in Idle:
        path = tmp_path / idle
        outcome = await match_of(commands, idle, Sandbox(level=level), path)
        assert [fault.detail for fault in outcome.faults] == []
        digests.append(outcome.digest)
        turns = list(map(int, notes(path, 0)))
        assert turns == sorted(turns)
        counted[idle] = turns[-1] - turns[0]
    assert digests[0] == digests[1]
    assert counted[Idle.FREEZE] < counted[Idle.RUN] / 2, counted
