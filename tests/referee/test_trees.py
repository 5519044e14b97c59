"""Bots that hide processes in every way we know: none is left when the bot is closed, or the referee killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest
import trio

from lastcard.referee import trees
from lastcard.referee.process_groups import GROUPS, REAP_EVERY
from lastcard.referee.processes import BotProcess
from lastcard.referee.sandbox.levels import Level, Sandbox
from tests.conftest import RequireDebian
from tests.referee.children import (
    ECHO,
    adopting_orphans,
    bearing,
    cages_left,
    children,
    python,
    receive_until,
    running,
    without_cages,
)

TOP = Path(__file__).resolve().parents[2]

WAYS = [(level, caged) for level in Level for caged in (True, False)]


def way_name(way: tuple[Level, bool]) -> str:
    level, caged = way
    return f"{level} {'caged' if caged else 'uncaged'}"


@pytest.fixture
def confine(require_debian: RequireDebian) -> Iterator[Callable[[Level, bool], Sandbox]]:
    """The sandbox of a level, with cages (where this machine has them) or without."""
    with ExitStack() as stack:

        def enter(level: Level, caged: bool) -> Sandbox:
            if level is Level.STRICT:
                require_debian("bwrap", "bubblewrap")
            stack.enter_context(adopting_orphans())
            if not caged:
                stack.enter_context(without_cages())
            return Sandbox(level=level)

        yield enter


TREE = """
def fork(do):
    pid = os.fork()
    if not pid:
        try:
            do()
        finally:
            os._exit(1)
    return pid
def sleeper(**how):
    return subprocess.Popen(['/bin/sh', '-c', 'sleep 600; : ' + os.environ['WORD']], **how)
def grandchild(do):  # an orphan at once
    os.waitpid(fork(lambda: (fork(do), os._exit(0))), 0)
def daemon():
    os.setsid(); hang()
def ignore():
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)
def exit():
    os._exit(0)
def stop():
    os.kill(os.getpid(), signal.SIGSTOP)
def nameless():
    sleeper(env={'WORD': ''}, start_new_session=True)
def deep(levels):
    os.setsid()
    if levels:
        fork(lambda: deep(levels - 1))
    hang()
def threads(do):
    import threading
    for _ in range(9):
        threading.Thread(target=do, daemon=True).start()
def ready():
    time.sleep(0.02)
    say(b'ready\\n')
"""

TRICKS = {
    "child": "sleeper(); ready(); hang()",
    "own group": "sleeper(process_group=0); ready(); hang()",
    "own session": "sleeper(start_new_session=True); ready(); hang()",
    "double fork": "grandchild(hang); ready(); hang()",
    "daemon": "grandchild(daemon); ready(); hang()",
    "daemon of a bot that has left": "grandchild(daemon); ready(); os._exit(3)",
    "daemon without our variables": "grandchild(nameless); ready(); hang()",
    "daemon that closes everything": "grandchild(lambda: (os.closerange(0, 64), daemon())); ready(); hang()",
    "ignores signals": "ignore(); fork(hang); grandchild(daemon); ready(); hang()",
    "stopped": "fork(stop); ready(); stop()",
    "stopped daemon": "grandchild(lambda: (os.setsid(), stop())); ready(); hang()",
    "holds the pipes": "sleeper(start_new_session=True); say(b'ready\\n'); os._exit(3)",
    "deep": "fork(lambda: deep(15)); ready(); hang()",
    "wide": "for _ in range(20): grandchild(daemon)\nready(); hang()",
    "dead children": "for _ in range(20): grandchild(exit); fork(exit)\nready(); hang()",
    "pipeline": "subprocess.Popen('sleep 600 | cat | cat', shell=True); ready(); hang()",
    "threads": "threads(lambda: (fork(hang), hang())); ready(); hang()",
}

WORST = {"daemon", "daemon without our variables", "ignores signals", "stopped", "holds the pipes", "deep"}
"""Those that are tried in every way each time; the rest on this machine's usual way only, or when there is time."""

CASES = [
    pytest.param(trick, *way, id=f"{way_name(way)}, {trick}", marks=() if often else pytest.mark.soak)
    for way in WAYS
    for trick in TRICKS
    for often in [way[0] is Level.NONE or trick in WORST]
]


@pytest.mark.parametrize(("trick", "level", "caged"), CASES)
async def test_closing_a_bot_ends_all_that_it_has_started(
    trick: str, level: Level, caged: bool, confine: Callable[[Level, bool], Sandbox]
) -> None:
    word = uuid4().hex
    before = children()
    async with running(python(TREE + TRICKS[trick], WORD=word), sandbox=confine(level, caged)) as bot:
        assert await receive_until(bot) == b"ready\n"
        # A strict bot that has left has taken its namespace with it.
        assert bearing(word) or (level is Level.STRICT and "_exit(3)" in TRICKS[trick])
        begun = trio.current_time()
        await bot.close(0.1)
        took = trio.current_time() - begun
    assert bearing(word) == []
    assert not bot.stuck
    assert took < 1.6
    assert children() - before <= keepers()
    assert cages_left() == []


def keepers() -> set[str]:
    """The keeper comes with the first bot of this process, and stays."""
    found = children()
    return {pid for pid in found if b"keeper.py" in Path(f"/proc/{pid}/cmdline").read_bytes()}


HOPS = """
def hop():
    while True:
        os.setsid()
        if os.fork():
            os._exit(0)
fork(hop); ready(); hang()
"""


@pytest.mark.parametrize("caged", [True, False], ids=["caged", "uncaged"])
async def test_a_process_that_hops_from_number_to_number_is_caught(
    caged: bool, confine: Callable[[Level, bool], Sandbox]
) -> None:
    """Each lives for a moment only and leaves a child in a new session: a group or a list comes too late."""
    word = uuid4().hex
    async with running(python(TREE + HOPS, WORD=word), sandbox=confine(Level.NONE, caged)) as bot:
        await receive_until(bot)
    assert bearing(word) == []
    assert not bot.stuck


HEADLESS = """
import ctypes, platform, threading
def headless():
    os.setsid()
    threading.Thread(target=lambda: (say(b'%d\\n' % os.getpid()), hang())).start()
    ctypes.CDLL(None).syscall(93 if platform.machine() == 'aarch64' else 60, 0)  # exit, of this thread alone
"""


async def headless_of(bot: BotProcess) -> int:
    """The number of a daemon of the bot whose first thread has left: the process table calls it a zombie."""
    pid = int(await receive_until(bot))
    with trio.fail_after(20):
        while shown_state(pid) != "Z":  # noqa: ASYNC110 - the process table has no events
            await trio.sleep(0.001)
    return pid


def shown_state(pid: int) -> str:
    """What the process table says of it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("caged", [True, False], ids=["caged", "uncaged"])
async def test_a_daemon_whose_first_thread_has_left_is_ended(
    caged: bool, confine: Callable[[Level, bool], Sandbox]
) -> None:
    script = TREE + HEADLESS + "grandchild(headless); hang()"
    async with running(python(script, WORD=""), sandbox=confine(Level.NONE, caged)) as bot:
        pid = await headless_of(bot)
    assert not bot.stuck
    assert trees.process(pid) is None
    assert cages_left() == []


async def test_a_process_whose_first_thread_has_left_is_alive_and_can_stand_still() -> None:
    async with running(python(TREE + HEADLESS + "fork(headless); hang()", WORD=""), match="headless") as bot:
        pid = await headless_of(bot)
        found = trees.process(pid)
        assert found is not None
        assert not found.dead
        assert trees.mark_of(pid) == ("0", "headless")
        assert pid in trees.stop([bot.pid])
        with trio.fail_after(20):
            while not stands_still(pid):  # noqa: ASYNC110 - the process table has no events
                await trio.sleep(0.001)


def stands_still(pid: int) -> bool:
    found = trees.process(pid)
    return found is not None and found.state in trees.STILL


# ---- what is not a bot's


async def test_other_children_of_the_referee_are_left_alone() -> None:
    with adopting_orphans(), without_cages():
        async with running(python(TREE + TRICKS["daemon"], WORD="")) as bot:
            await receive_until(bot)
            plain = sleeper(start_new_session=False)
            spared = sleeper(start_new_session=True)
            GROUPS.spare(spared.pid)
        try:
            assert plain.poll() is None
            assert spared.poll() is None
        finally:
            for child in (plain, spared):
                child.kill()
                child.wait()


def sleeper(*, start_new_session: bool) -> "subprocess.Popen[bytes]":
    """A child of this process that is no bot's."""
    return subprocess.Popen(["/bin/sleep", "600"], start_new_session=start_new_session)


async def test_a_bots_daemon_outlives_the_end_of_another_bot() -> None:
    word = uuid4().hex
    with adopting_orphans(), without_cages():
        async with running(python(TREE + TRICKS["daemon"], WORD=word)) as bot:
            await receive_until(bot)
            with_daemon = len(bearing(word))
            async with running(python(ECHO)):
                pass
            assert len(bearing(word)) == with_daemon
        assert bearing(word) == []


async def test_dead_orphans_are_reaped_while_their_bot_plays_on() -> None:
    """Soon, whatever is closed: they count as processes of the bot, which may have so many, and of the machine."""
    async with running(python(ECHO)):
        before = children()  # the keeper; and what tests before this one have left to be buried
    with adopting_orphans(), without_cages():
        orphans = "for _ in range(200): grandchild(exit)\nready(); hang()"
        async with running(python(TREE + orphans, WORD="")) as bot:
            await receive_until(bot)
            with trio.fail_after(4 * REAP_EVERY):
                while children() - before != {str(bot.pid)}:  # noqa: ASYNC110 - the process table has no events
                    await trio.sleep(0.1)


# ---- the referee is killed

REFEREE = """
import sys, trio
from lastcard.referee import cages
from lastcard.referee.hardening import harden
from lastcard.referee.process_groups import GROUPS
from lastcard.referee.processes import start_bot
from lastcard.referee.sandbox.levels import Level, Sandbox
from tests.referee.children import python, receive_until
level, caged, label, word, script = sys.argv[1:]
if caged == "False":
    cages.hierarchies = lambda: ()
async def main():
    harden()
    sandbox = Sandbox(level=Level(level))
    bots = [start_bot(python(script, WORD=word), seat=seat, match=label, sandbox=sandbox) for seat in range(2)]
    print(GROUPS.keeper, flush=True)
    for bot in bots:
        await receive_until(bot)
    print("ready", flush=True)
    while True:
        await trio.sleep(0.1)
        print(GROUPS.keeper, flush=True)
trio.run(main)
"""

BUSY = """
say(b'ready\n')
for number in range(40):
    grandchild([daemon, hang, lambda: sleeper(start_new_session=True)][number % 3])
    time.sleep(0.005)
hang()
"""


class Referee:
    """A referee in a process of its own, with two bots."""

    def __init__(self, level: Level, caged: bool, *, script: str = BUSY, label: str = "m1") -> None:
        self.word = uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-c", REFEREE, level, str(caged), label, self.word, TREE + script],
            cwd=TOP,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hears(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        assert line, "the referee has ended"
        return line

    def kill(self) -> None:
        """SIGKILL to it alone."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def left(self) -> list[str]:
        """Bots, keeper and cages that are still there some seconds later."""
        until = time.monotonic() + 8
        while True:
            keepers = [line for line in bearing("keeper.py") if line.split()[-2] == str(self.process.pid)]
            left = bearing(self.word) + keepers + cages_left(self.process.pid)
            if not left or time.monotonic() > until:
                return left
            time.sleep(0.02)


@pytest.mark.parametrize(("level", "caged"), WAYS, ids=[way_name(way) for way in WAYS])
@pytest.mark.parametrize("trick", ["daemon", "ignores signals"])
def test_nothing_outlives_a_killed_referee(
    trick: str, level: Level, caged: bool, require_debian: RequireDebian
) -> None:
    if level is Level.STRICT:
        require_debian("bwrap", "bubblewrap")
    referee = Referee(level, caged, script=TRICKS[trick])
    try:
        while referee.hears() != "ready":
            pass
        assert bearing(referee.word)
    finally:
        referee.kill()
    assert referee.left() == []


def test_a_daemon_that_hides_its_origin_dies_with_a_killed_referee() -> None:
    """No cage, no mark, no group: only who has been seen as a descendant is known."""
    referee = Referee(Level.NONE, caged=False, script=TRICKS["daemon without our variables"])
    try:
        while referee.hears() != "ready":
            pass
        time.sleep(1)
        assert any("sleep 600" in line for line in bearing(referee.word))
    finally:
        referee.kill()
    assert referee.left() == []


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 33))])
def test_a_referee_that_is_killed_at_any_moment_leaves_nothing(seed: int) -> None:
    chance = random.Random(seed)
    level, caged = chance.choice(WAYS[:4])
    referee = Referee(level, caged)
    try:
        if seed % 3:
            referee.hears()  # else it may not even have started a bot
        time.sleep(chance.uniform(0, 0.5))
    finally:
        referee.kill()
    assert referee.left() == []


KILLED_IN_A_START = """
import os, sys, time, trio
from lastcard.referee import cages, processes
from lastcard.referee.sandbox.levels import Level, Sandbox
from tests.referee.children import HANG, python
level, caged, word, bots = sys.argv[1:]
if caged == "False":
    cages.hierarchies = lambda: ()
spawn = processes._spawn
def spawn_and_die(*how):
    spawn(*how)
    time.sleep(0.05)
    os.kill(os.getpid(), 9)
async def main():
    for seat in range(int(bots)):
        if seat + 1 == int(bots):
            processes._spawn = spawn_and_die
        processes.start_bot(python(HANG, WORD=word), seat=seat, match="m1", sandbox=Sandbox(level=Level(level)))
trio.run(main)
"""


@pytest.mark.parametrize("bots", ["1", "2"], ids=["first", "second"])
@pytest.mark.parametrize(("level", "caged"), WAYS, ids=[way_name(way) for way in WAYS])
def test_nothing_outlives_a_referee_that_is_killed_while_it_starts_a_bot(
    bots: str, level: Level, caged: bool, require_debian: RequireDebian
) -> None:
    """The bot runs already, and nobody has said so."""
    if level is Level.STRICT:
        require_debian("bwrap", "bubblewrap")
    word = uuid4().hex
    with subprocess.Popen([sys.executable, "-c", KILLED_IN_A_START, level, str(caged), word, bots], cwd=TOP) as referee:
        assert referee.wait() == -signal.SIGKILL
    until = time.monotonic() + 8
    while (left := bearing(word) + cages_left(referee.pid)) and time.monotonic() < until:
        time.sleep(0.02)
    assert left == []


@pytest.mark.parametrize("caged", [True, False], ids=["caged", "uncaged"])
def test_a_killed_keeper_has_a_successor(caged: bool) -> None:
    referee = Referee(Level.NONE, caged, script=TRICKS["daemon"])
    try:
        keeper = int(referee.hears())
        while referee.hears() != "ready":
            pass
        os.kill(keeper, signal.SIGKILL)
        while int(referee.hears()) == keeper:
            pass
        assert bearing(referee.word)
    finally:
        referee.kill()
    assert referee.left() == []


@pytest.mark.parametrize("caged", [True, False], ids=["caged", "uncaged"])
def test_the_bots_of_another_referee_with_the_same_labels_live_on(caged: bool) -> None:
    first = Referee(Level.NONE, caged, script=TRICKS["daemon"])
    second = Referee(Level.NONE, caged, script=TRICKS["daemon"])
    try:
        for referee in (first, second):
            while referee.hears() != "ready":
                pass
        alive = bearing(second.word)
        first.kill()
        assert first.left() == []
        assert bearing(second.word) == alive
    finally:
        first.kill()
        second.kill()
    assert second.left() == []
