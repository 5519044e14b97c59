"""Cages: found on any layout of hierarchies, limiting, freezing, ending; and bots that stand still between answers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from uuid import uuid4

import pytest
import trio

from lastcard.referee import cages
from lastcard.referee.cages import Cage, Hierarchy, cages_of, remove_leftovers
from lastcard.referee.cgroups import remove
from lastcard.referee.processes import BotProcess
from lastcard.referee.sandbox.levels import Level, Sandbox
from tests.conftest import RequireDebian
from tests.referee.children import (
    ECHO,
    adopting_orphans,
    bearing,
    cages_left,
    gone,
    python,
    receive_until,
    running,
    soon,
    without_cages,
)

TOP = Path(__file__).resolve().parents[2]

# ---- what the machine has

HYBRID = {
    "/proc/self/mountinfo": """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
""",
    "/proc/self/cgroup": "9:name=systemd:/x\n4:memory:/a/b\n1:cpu,cpuacct:/\n0::/c\n",
}
MODERN = {
    "/proc/self/mountinfo": "24 23 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
    "/proc/self/cgroup": "0::/user.slice/user-1000.slice/session 2.scope\n",
}
CONTAINER = {
    "/proc/self/mountinfo": """\
35 31 0:32 /docker/af /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
36 31 0:33 /docker/af /sys/fs/cgroup/my\\040pids rw - cgroup cgroup rw,pids
37 31 0:34 /elsewhere /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer
""",
    "/proc/self/cgroup": "4:memory:/docker/af\n3:pids:/docker/af/job\n2:freezer:/docker/af\n",
}


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (HYBRID, {
            "/sys/fs/cgroup/cpu,cpuacct": {"cpu", "cpuacct"},
            "/sys/fs/cgroup/memory/a/b": {"memory"},
            "/sys/fs/cgroup/unified/c": set[str](),
        }),
        (MODERN, {"/sys/fs/cgroup/user.slice/user-1000.slice/session 2.scope": set[str]()}),
        (CONTAINER, {"/sys/fs/cgroup/memory": {"memory"}, "/sys/fs/cgroup/my pids/job": {"pids"}}),
        ({}, {}),
    ],
    ids=["hybrid", "version 2", "container", "no cgroups"],
)  # fmt: skip
def test_where_we_are_in_each_hierarchy(
    files: dict[str, str], found: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cages, "read", files.get)
    assert {tree.folder: set(tree.controllers) for tree in cages.mounted()} == found


UNCAGED = """
import trio
from lastcard.referee import cages
from tests.referee.children import ECHO, python, receive_until, running
async def main():
    async with running(python(ECHO), grace=5) as bot:
        await bot.channel.send(b"x\\n", bot.channel.clock() + 10)
        print(cages.hierarchies(), await receive_until(bot))
trio.run(main)
"""


def test_who_may_write_nowhere_has_no_cages_and_plays_all_the_same(require_debian: RequireDebian) -> None:
    """As in most containers."""
    bwrap = require_debian("bwrap", "bubblewrap")
    read_only = ["--dev-bind", "/", "/", "--ro-bind-try", "/sys/fs/cgroup", "/sys/fs/cgroup"]
    command = [bwrap, *read_only, sys.executable, "-c", UNCAGED]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True)
    assert done.stdout == "() b'x\\n'\n"


@pytest.fixture(params=["version 2", "version 1"])
def trees(request: pytest.FixtureRequest) -> Iterator[tuple[Hierarchy, ...]]:
    """The hierarchies of one version, if this machine lets us write there."""
    unified = request.param == "version 2"
    useful = cages.usable([tree for tree in cages.mounted() if tree.unified is unified])
    if not useful:
        pytest.skip(f"this machine lets us make no cgroup of {request.param}")
    real = cages.hierarchies
    cages.hierarchies = lambda: useful  # type: ignore[assignment]  # in place of the cached function
    try:
        yield useful
    finally:
        cages.hierarchies = real
        for cage in MADE:  # also those of a test that has failed
            cage.kill()
            within(cage.remove)
        MADE.clear()


MADE: list[Cage] = []


def made(*, memory_mb: int | None = None, processes: int | None = None) -> Cage:
    cage = Cage.make(f"lastcard-{os.getpid()}-{next(NUMBERS)}", memory_mb=memory_mb, processes=processes)
    assert cage is not None
    MADE.append(cage)
    return cage


NUMBERS = iter(range(10**6, 10**7))


def member(cage: Cage, script: str) -> "subprocess.Popen[bytes]":
    """A shell in the cage."""
    join = "".join(f"echo $$ >{file}; " for file in cage.joins)
    return subprocess.Popen(["/bin/sh", "-c", join + "echo in; " + script], stdout=subprocess.PIPE)


def within(condition: Callable[[], bool], seconds: float = 10) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


def hear(child: "subprocess.Popen[bytes]") -> bytes:
    assert child.stdout is not None
    return child.stdout.readline()


def test_a_cage_ends_its_members_wherever_they_went(trees: tuple[Hierarchy, ...]) -> None:
    cage = made()
    with member(cage, "(setsid sleep 600 >/dev/null & sleep 600 >/dev/null &); kill -STOP $$") as child:
        assert hear(child) == b"in\n"
        within(lambda: len(cage.members()) == 3)
        assert cages_of(child.pid) == {cage.name}
        assert cage.kill()
        assert child.wait() == -signal.SIGKILL
    within(lambda: not cage.members())
    assert cage.remove()
    assert not any(Path(folder).exists() for folder in cage.folders)


def test_a_cage_limits_processes_or_says_that_it_does_not(trees: tuple[Hierarchy, ...]) -> None:
    cage = made(processes=4)
    with member(cage, "for i in 1 2 3 4 5 6; do sleep 600 >/dev/null & done 2>/dev/null; echo; wait") as child:
        hear(child)
        if cage.limits_processes:
            child.wait()  # dash gives up at the first fork that fails
            assert len(cage.members()) == 3
        else:
            hear(child)
            assert len(cage.members()) == 7
        cage.kill()
    within(cage.remove)


def test_cgroups_that_a_bot_has_made_in_its_own_are_ended_and_removed_too(trees: tuple[Hierarchy, ...]) -> None:
    cage = made()
    inner = f"{cage.folders[0]}/inner"
    with member(
        cage, f"mkdir -p {inner}/most; sleep 600 >/dev/null & echo $! >{inner}/most/cgroup.procs; echo; wait"
    ) as child:
        hear(child)
        hear(child)
        assert len(cage.members()) == 2
        assert not cage.remove()
        assert cage.kill()
    within(cage.remove)
    assert not Path(cage.folders[0]).exists()


def test_removing_a_cage_waits_for_who_is_just_leaving(trees: tuple[Hierarchy, ...]) -> None:
    """The killed are listed no more a fraction of a millisecond before they are gone."""
    cage = made()
    with member(cage, "sleep 0.2") as child:
        assert hear(child) == b"in\n"
        assert not any(remove(folder) for folder in cage.folders)
        assert all(remove(folder, 20.0) for folder in cage.folders)
        assert cage.members() == []


def test_empty_cages_of_dead_referees_are_removed(trees: tuple[Hierarchy, ...]) -> None:
    with subprocess.Popen(["/bin/true"]) as dead:
        pass
    for tree in trees:
        old, ours = (
            Path(tree.folder, f"lastcard-{dead.pid}-1"),
            Path(tree.folder, f"lastcard-{os.getpid()}-{uuid4().int}"),
        )
        full, other = Path(tree.folder, f"lastcard-{dead.pid}-2"), Path(tree.folder, f"lastcard-{dead.pid}")
        for folder in (old, ours, full, other):
            folder.mkdir()
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as child:
            (full / "cgroup.procs").write_text(str(child.pid))
            remove_leftovers(tree.folder)
            assert [folder.exists() for folder in (old, ours, full, other)] == [False, True, True, True]
        for folder in (ours, full, other):
            folder.rmdir()


DAEMON = """
if not os.fork():
    os.setsid()
    if not os.fork():
        say(b'ready\\n'); hang()
    os._exit(0)
hang()
"""


async def test_a_bot_is_ended_by_a_cage_of_either_version(trees: tuple[Hierarchy, ...]) -> None:
    word = uuid4().hex
    async with running(python(DAEMON, WORD=word)) as bot:
        await receive_until(bot)
        bot.freeze()
    assert bearing(word) == []
    assert cages_left() == []


# ---- standing still

CHATTER = """
if not os.fork():
    os.setsid()
    os.fork()  # an orphan as soon as its parent has left
elif not os.fork():
    os.setpgid(0, 0)
while True:
    say(b'x'); time.sleep(0.0005)
"""


@pytest.fixture(params=["cage", "version 1", "signals"])
def means(request: pytest.FixtureRequest) -> Iterator[None]:
    """By what bots are stopped."""
    if request.param == "version 1":
        old = cages.usable([tree for tree in cages.mounted() if "freezer" in tree.controllers])
        if not old:
            pytest.skip("this machine lets us make no freezer cgroup")
        real, cages.hierarchies = cages.hierarchies, lambda: old  # type: ignore[assignment]  # in place of the cached function
        try:
            yield
        finally:
            cages.hierarchies = real
    else:
        with adopting_orphans(), without_cages() if request.param == "signals" else nullcontext():
            yield


async def drained(bot: BotProcess) -> None:
    """Take all that it has said by the time that it stands still."""
    await trio.sleep(0.05)
    while bot.channel.read_now():
        pass


@pytest.mark.parametrize("level", [Level.NONE, Level.STRICT])
async def test_a_frozen_bot_stands_still_with_all_its_tree(
    level: Level, means: None, require_debian: RequireDebian
) -> None:
    require_debian("bwrap", "bubblewrap")
    async with running(python(CHATTER), sandbox=Sandbox(level=level)) as bot:
        for _ in range(3):
            assert await bot.channel.receive(soon(bot))
            bot.freeze()
            bot.freeze()
            await drained(bot)
            await trio.sleep(0.05)
            assert bot.channel.read_now() is None
            bot.thaw()
            bot.thaw()
    bot.freeze()
    bot.thaw()


async def test_a_bot_that_is_thawed_answers(means: None) -> None:
    async with running(python(ECHO)) as bot:
        for _ in range(50):
            bot.thaw()
            await bot.channel.send(b"x\n", soon(bot))
            assert await receive_until(bot) == b"x\n"
            bot.freeze()


@pytest.mark.parametrize("level", [Level.NONE, Level.STRICT])
async def test_a_frozen_bot_can_read_its_bye_and_leave(
    level: Level, means: None, require_debian: RequireDebian
) -> None:
    require_debian("bwrap", "bubblewrap")
    async with running(
        python("say(b'ready\\n'); assert line() == b'bye\\n'; os._exit(7)"), sandbox=Sandbox(level=level)
    ) as bot:
        await receive_until(bot)
        bot.freeze()
        bot.channel.write_now(b"bye\n")
        await bot.close(10)
        assert bot.exit_code == 7


@pytest.mark.parametrize("level", [Level.NONE, Level.STRICT])
async def test_a_frozen_bot_can_be_killed(level: Level, means: None, require_debian: RequireDebian) -> None:
    require_debian("bwrap", "bubblewrap")
    word = uuid4().hex
    async with running(python(CHATTER, WORD=word), sandbox=Sandbox(level=level)) as bot:
        await bot.channel.receive(soon(bot))
        bot.freeze()
        with trio.fail_after(5):
            await bot.close(0)
    assert bearing(word) == []
    assert not bot.stuck


async def test_a_frozen_bot_dies_with_a_killed_referee(means: None) -> None:
    del means
    script = """
import sys, trio
from tests.referee.children import python, running, receive_until
async def main():
    async with running(python(sys.argv[1])) as bot:
        await bot.channel.receive(bot.channel.clock() + 10)
        bot.freeze()
        print(bot.pid, flush=True)
        await trio.sleep_forever()
trio.run(main)
"""
    with run(script, CHATTER) as referee:
        pid = int(hear(referee))
        referee.kill()
    assert await gone(pid)


def run(script: str, *words: str) -> "subprocess.Popen[bytes]":
    """A program of ours in a process of its own."""
    return subprocess.Popen([sys.executable, "-c", script, *words], cwd=TOP, stdout=subprocess.PIPE)
