"""The parts of `make bench` run and print figures. Nothing is timed here: that is their own business."""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from bench import referee, sandbox
from bench.__main__ import printed
from bench.harness import Row, Sample, Spread, interleaved, ratios
from bench.kept import Kept
from lastcard.engine import Rules
from lastcard.referee.sandbox.levels import Level
from tests.conftest import RequireDebian

ROOT = Path(__file__).parents[2]

FIGURES = {
    "engine": [r"classic, 2 seats, against RLCard UNO", r"classic, 4 seats, clone\(\) against deepcopy +\d"],
    "referee": [
        r"free +\d",
        r"sixteen matches at once +\d",
        r"free: referee CPU +\d",
        r"sixteen matches at once, strict: referee CPU +\d",
        r"free, freezing by signals +\d",
    ],
    "sandbox": [
        r"C bot, free, strict: speed +\d",
        r"Python bot, free, basic: speed +\d",
        r"C bot, strict: start +\d",
        r"C bot, freeze and thaw by signals +\d",
    ],
    "tcp": [r"over TCP, free +\d", r"64 remote bots at 32 tables: answered +100\.00", r"p99 lag +\d"],
    "memory": [r"engine: after 8 matches over after 4 +-?\d", r"referee: after 8 matches over after 4 +-?\d"],
}


@pytest.mark.parametrize("part", FIGURES)
def test_a_tiny_run_of_each_part_prints_its_figures(part: str, require_debian: RequireDebian) -> None:
    if part in {"referee", "sandbox"}:
        require_debian("setpriv", "util-linux")
        require_debian("bwrap", "bubblewrap")
    if part == "sandbox":
        require_debian("cc", "gcc")
    command = [sys.executable, "-m", "bench", "--tiny", "--rounds", "1", part]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert shown.returncode == 0, shown.stderr
    for figure in FIGURES[part]:
        assert re.search(figure, shown.stdout), shown.stdout


def test_an_unknown_part_is_named_in_one_line() -> None:
    command = [sys.executable, "-m", "bench", "engines"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert shown.returncode == 2
    assert "no part is called 'engines': expected any of engine, referee, sandbox, tcp, memory" in shown.stderr


@pytest.mark.parametrize(
    ("value", "target", "at_most", "verdict"),
    [
        (5.0, 5.0, False, "pass"),
        (4.9, 5.0, False, "SHORT"),
        (1.9, 2.0, True, "pass"),
        (2.1, 2.0, True, "SHORT"),
        (4.9, None, False, ""),
    ],
)
def test_the_verdict_compares_the_median_with_the_target(
    value: float, target: float | None, at_most: bool, verdict: str
) -> None:
    row = Row("what", "unit", Spread(value, 0.0, 9.0), target, at_most=at_most)
    assert row.verdict == verdict


def test_a_level_that_the_machine_cannot_give_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(level: Level) -> str | None:
        return "the program bwrap is missing" if level is Level.STRICT else None

    monkeypatch.setattr("bench.kept.missing", missing)
    game = referee.Refereed(Rules.of("classic", {}), 1, referee.FREE, Kept(Level.STRICT), 45.0)
    (played,) = referee.rows("classic", game, {})
    for row in (played, sandbox.speed_row("C bot, free", Level.STRICT, {})):
        assert row.verdict == "left out"
        assert "strict" in row.what
        assert "not available: the program bwrap is missing" in printed(row)


def test_ratios_are_taken_round_by_round() -> None:
    ours = [Sample(10, 1.0), Sample(20, 1.0), Sample(60, 1.0)]
    yardstick = [Sample(10, 1.0), Sample(10, 1.0), Sample(20, 1.0)]
    assert ratios(ours, yardstick) == Spread(2.0, 1.0, 3.0)


def test_every_contender_is_sampled_once_a_round() -> None:
    taken: list[str] = []

    def sampled(name: str, number: int) -> Sample:
        taken.append(f"{name}{number}")
        return Sample(1, 1.0)

    samples = interleaved({name: partial(sampled, name) for name in "ab"}, 4)
    assert {name: len(of) for name, of in samples.items()} == {"a": 4, "b": 4}
    assert all(sorted(taken[2 * number :][:2]) == [f"a{number}", f"b{number}"] for number in range(4))


def test_the_instant_bot_answers_hello_and_ask_and_nothing_else() -> None:
    lines = [
        {"type": "hello", "protocol": 1, "referee": "lastcard 0.1.0", "start_ms": 30000, "max_line": 65536},
        {"type": "start", "match": "6f0c"},
        {"type": "ask", "id": 7, "kind": "turn", "legal": ["play R7", "draw"], "state": {"hand": ["R7", "B2"]}},
        {"type": "bye", "reason": "over"},
    ]
    told = "".join(json.dumps(line) + "\n" for line in lines)
    command = [sys.executable, str(ROOT / "bench" / "instant_bot.py")]
    shown = subprocess.run(command, input=told, capture_output=True, text=True, timeout=60)
    replies = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [reply["type"] for reply in replies] == ["hello", "act"]
    assert (replies[1]["id"], replies[1]["action"]) == (7, "play R7 uno")
