"""Fair time with real processes: what a neighbour does moves no other bot's charged time beyond its margin.

Each match is held against the same one without the neighbour's tricks, played in the same minute on the same machine.
A machine that is busy with other things spoils a pair now and then, so the best of some pairs counts: what a
neighbour really does to others, it does in all of them.
"""

import json
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

from lastcard.referee.limits import Idle, Limits
from lastcard.referee.match_log import MatchLog
from lastcard.referee.sandbox.levels import Sandbox
from lastcard.referee.seating import Keeping, part_all, player_of
from lastcard.referee.table import Outcome, Table
from tests.referee.children import python
from tests.referee.scripted import ONE_ROUND

LIMITS = Limits(move_ms=20, bank_ms=60_000)
"""Little more than the honest bot thinks: what it loses to others comes out of its bank, and never runs out."""

PAIRS = 4

PLAYS = """
import json
def play(before=lambda: None, after=lambda: None):
    while True:
        ask = json.loads(line())
        if ask["type"] == "hello":
            say(b'{"type":"hello","protocol":1}\\n')
        elif ask["type"] == "ask":
            before()
            action = ask["legal"][0]
            action += " uno" if action.startswith("play") and len(ask["state"]["hand"]) == 2 else ""
            say(json.dumps({"type": "act", "id": ask["id"], "action": action}).encode() + b"\\n")
            after()
"""

THINKS = f"""{PLAYS}
def think():
    until = time.process_time() + 0.005
    while time.process_time() < until:
        pass
play(think)
"""

SPINS = "subprocess.Popen([sys.executable, '-S', '-E', '-c', 'while True: pass'])"

NEIGHBOURS = {
    "floods its output": (f"{PLAYS}\ndef flood():\n    while True: say(b'x\\n' * 999)\nplay(after=flood)", Idle.RUN),
    "floods its errors": (
        f"{PLAYS}\nimport threading\ndef flood():\n    while True: say(b'e' * 65536, 2)\n"
        "threading.Thread(target=flood, daemon=True).start()\nplay()",
        Idle.RUN,
    ),
    "spins": (f"{PLAYS}\n{SPINS}\nplay()", Idle.RUN),
    "spins in eight processes, frozen when it owes nothing": (
        f"{PLAYS}\nfor _ in range(8): {SPINS}\nplay()",
        Idle.FREEZE,
    ),
}


class Seen(NamedTuple):
    """What the honest bot's decisions took, and what its bank paid."""

    used_ms: list[float]
    charged_ms: float


async def match_with(neighbour: str, idle: Idle, path: Path) -> Seen:
    """An honest bot that thinks for five milliseconds of CPU, the neighbour, and one more."""
    commands = [python(THINKS, name="honest"), python(neighbour, name="neighbour"), python(f"{PLAYS}\nplay()")]
    keeping = Keeping(Sandbox(), (), idle)
    players = [player_of(command, LIMITS, keeping, seat=seat, match=path.name) for seat, command in enumerate(commands)]
    log = MatchLog(path)
    try:
        outcome = await Table(players, ONE_ROUND, "neighbours", log, match_id=path.name).play()
    finally:
        log.close()
        await part_all(players, "over")
    return seen_in(outcome, path)


def seen_in(outcome: Outcome, path: Path) -> Seen:
    assert {fault.seat for fault in outcome.faults} <= {1}, "nobody else pays with a fault"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    own = [line["t"] for line in lines if line["type"] == "decision" and line["seat"] == 0 and line["how"] == "asked"]
    assert len(own) > 3
    assert LIMITS.bank_ms is not None
    return Seen([t["ms"] for t in own], LIMITS.bank_ms - own[-1]["bank_ms"])


@pytest.mark.parametrize("name", NEIGHBOURS)
async def test_a_neighbour_moves_no_charged_time_beyond_the_margin(name: str, tmp_path: Path) -> None:
    script, idle = NEIGHBOURS[name]
    pairs: list[tuple[Seen, Seen]] = []
    for number in range(PAIRS):
        alone = await match_with(f"{PLAYS}\nplay()", idle, tmp_path / f"alone-{number}")
        beside = await match_with(script, idle, tmp_path / f"beside-{number}")
        pairs.append((alone, beside))
        if beside.charged_ms <= alone.charged_ms and median(beside.used_ms) <= median(alone.used_ms) + LIMITS.margin_ms:
            break
    assert max(max(alone.used_ms) for alone, _ in pairs) >= 4, "it did think, and that was seen"
    moved = min(beside.charged_ms - alone.charged_ms for alone, beside in pairs)
    assert moved <= LIMITS.margin_ms, pairs
