"""What a referee holds stays the same, however many bots do whatever they do; and one that waits does nothing at all.

The matches are played by a referee of its own (`flat.py`), so that nothing of other tests is counted. It also holds
each match against the fault that was due in it.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from lastcard.referee.limits import Idle, Limits
from lastcard.referee.match_log import MatchLog
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.seating import Keeping, part_all, player_of
from lastcard.referee.table import Table
from tests.conftest import RequireDebian
from tests.referee.children import python, without_cages
from tests.referee.flat import MISDEEDS, PLAYS, RULES, Look

TOP = Path(__file__).resolve().parents[2]

MOST_GROWTH_KB = 2048

PHASES = 5
SOAKS = {Level.NONE: 2000, Level.STRICT: 200}
"""Matches of a phase, with a fault in each tenth."""


class Referee:
    """A run of `flat.py`, and what it has said so far."""

    def __init__(self, level: Level, phases: int, matches: int, faults: int, *words: str) -> None:
        numbers = map(str, (phases, matches, faults))
        command = [sys.executable, "-m", "tests.referee.flat", level, *numbers, *words]
        self.process = subprocess.Popen(command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.looks: list[Look] = []

    def look(self, phase: int) -> Look:
        """What it held after this phase, the first being 1."""
        assert self.process.stdout is not None
        while len(self.looks) < phase:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            self.looks.append(Look(**json.loads(line)))
        return self.looks[phase - 1]

    def end(self) -> tuple[int, str]:
        """Its exit status, and its complaints."""
        complaints = self.process.communicate()[1]
        return self.process.returncode, complaints


def require(level: Level, require_debian: RequireDebian) -> None:
    if level is not Level.NONE:
        require_debian("setpriv", "util-linux")
    if level is Level.STRICT:
        require_debian("bwrap", "bubblewrap")


def counted(look: Look) -> Look:
    """Without memory, which has no exact size."""
    return look._replace(matches=0, rss_kb=0, keeper_kb=0)


def nothing_left(look: Look) -> bool:
    return (look.children, look.cages, look.left, look.known) == (0, 0, 0, 0)


@pytest.mark.parametrize("words", ["none", "none uncaged", "basic", "strict"])
def test_after_each_kind_of_fault_all_is_as_it_was_before(words: str, require_debian: RequireDebian) -> None:
    level, *uncaged = words.split()
    require(Level(level), require_debian)
    faults = len(MISDEEDS)
    referee = Referee(Level(level), 2, 3 * faults, 3, *uncaged)
    first, second = referee.look(1), referee.look(2)
    assert referee.end() == (0, "")
    assert (first.matches, second.matches) == (3 * faults, 6 * faults)
    assert nothing_left(first), first
    assert counted(second) == counted(first)


@pytest.fixture(scope="module", params=SOAKS)
def soaking(request: pytest.FixtureRequest, require_debian: RequireDebian) -> Iterator[Referee]:
    """One process for all phases, which are tests of their own because each takes about a minute."""
    level: Level = request.param
    require(level, require_debian)
    referee = Referee(level, PHASES, SOAKS[level], 10)
    yield referee
    referee.process.kill()
    referee.end()


@pytest.mark.soak
@pytest.mark.parametrize("phase", range(1, PHASES + 1))
def test_thousands_of_matches_leave_no_trace_in_the_referee(phase: int, soaking: Referee) -> None:
    first, last = soaking.look(1), soaking.look(phase)
    assert last.matches == phase * first.matches
    assert nothing_left(last), last
    assert counted(last) == counted(first)
    assert last.rss_kb <= first.rss_kb + MOST_GROWTH_KB, (first, last)
    assert last.keeper_kb <= first.keeper_kb + MOST_GROWTH_KB, (first, last)
    if phase == PHASES:
        assert soaking.end() == (0, "")


# ---- waiting

MOST_WAKEUPS = 20 / 3
"""A second. The watchdog looks five times a second whether the referee was stopped; the keeper, where no cage shows it
what a bot has started, three times."""

WATCHER = f"""
from pathlib import Path
def wakeups(pid):
    status = Path("/proc", pid, "status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("voluntary_ctxt_switches"))
def keeper():
    children = Path(f"/proc/{{os.getppid()}}/task/{{os.getppid()}}/children").read_text().split()
    return next(pid for pid in children if "keeper.py" in Path("/proc", pid, "cmdline").read_text())
def watch():
    global watch
    watch = lambda: None
    watched = [str(os.getppid()), keeper()]
    time.sleep(0.2)
    before, begun = list(map(wakeups, watched)), time.monotonic()
    time.sleep(3)
    after, seconds = list(map(wakeups, watched)), time.monotonic() - begun
    return [(late - early) / seconds for early, late in zip(before, after)]
{PLAYS.replace('"action": action', '"action": action, "note": json.dumps(watch())')}
play()
"""


@pytest.mark.parametrize("idle", Idle)
@pytest.mark.parametrize("caged", [True, False], ids=["caged", "uncaged"])
async def test_a_referee_sleeps_while_a_bot_thinks(caged: bool, idle: Idle, tmp_path: Path) -> None:
    """A bot looks at the kernel's count of how often its referee, and its keeper, have slept and woken."""
    limits = Limits(move_ms=60_000)
    keeping = Keeping(Sandbox(), (), idle)
    path = tmp_path / "log"
    with ExitStack() as stack:
        if not caged:
            stack.enter_context(without_cages())
        commands = [python(WATCHER, name="watcher"), python(f"{PLAYS}\nplay()", name="other")]
        players = [player_of(bot, limits, keeping, seat=seat, match=path.name) for seat, bot in enumerate(commands)]
        log = MatchLog(path)
        try:
            outcome = await Table(players, RULES, "sleeps", log, match_id="sleeps").play()
        finally:
            log.close()
            await part_all(players, "over")
    assert outcome.faults == []
    lines = map(json.loads, path.read_text().splitlines())
    notes = [line["t"]["note"] for line in lines if line["type"] == "decision" and "note" in line.get("t", {})]
    referee, keeper = json.loads(notes[0])
    assert referee < MOST_WAKEUPS
    assert keeper < MOST_WAKEUPS
