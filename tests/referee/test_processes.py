"""Bots as processes: how they start, what is known of their end, and that nothing of them is left."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.cages import Cage
from lastcard.referee.channel import Sent
from lastcard.referee.exit_words import exit_words
from lastcard.referee.faults import last_lines
from lastcard.referee.process_groups import GROUPS
from lastcard.referee.processes import BotProcess, StartError, start_bot
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.startable import why_not_startable
from tests.conftest import RequireDebian
from tests.referee.children import (
    ECHO,
    HANG,
    adopting_orphans,
    children,
    gone,
    open_files,
    python,
    receive_until,
    running,
    shell,
    soon,
    without_cages,
)

TOP = Path(__file__).resolve().parents[2]

# ---- starting


@pytest.fixture(params=list(Level))
def sandbox(request: pytest.FixtureRequest, require_debian: RequireDebian) -> Sandbox:
    """Each level."""
    if request.param is Level.STRICT:
        require_debian("bwrap", "bubblewrap")
    return Sandbox(level=request.param)


async def test_the_environment_holds_six_words_and_nothing_of_ours(sandbox: Sandbox) -> None:
    os.environ["PYTHONUNBUFFERED"] = "1"
    try:
        command = BotCommand("env", ("/usr/bin/env",), env={"DEPTH": "3", "LASTCARD_SEAT": "9"})
        async with running(command, grace=5, sandbox=sandbox, match="m1") as bot:
            assert await bot.exit_status(10) == "exit status 0"
            said = (bot.channel.read_now() or b"").decode().splitlines()
    finally:
        del os.environ["PYTHONUNBUFFERED"]
    names = sorted(line.partition("=")[0] for line in said)
    assert names == ["DEPTH", "HOME", "LANG", "LASTCARD_MATCH", "LASTCARD_SEAT", "PATH"]
    assert {"LASTCARD_MATCH=m1", "LASTCARD_SEAT=0", "DEPTH=3"} <= set(said)


FACTS = """
import fcntl, json
flags = [fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK for fd in range(3)]
try:
    terminal = os.open("/dev/tty", os.O_RDWR)
except OSError:
    terminal = None
listed = os.listdir("/proc/self/fd")  # the fourth is the listing's own
say(json.dumps([listed, flags, terminal]).encode() + b"\\n")
"""


async def test_a_bot_has_three_descriptors_that_block_and_no_terminal(sandbox: Sandbox) -> None:
    inherited = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(inherited, True)
    try:
        async with running(python(FACTS), grace=5, sandbox=sandbox) as bot:
            said = json.loads(await receive_until(bot))
    finally:
        os.close(inherited)
    assert said == [["0", "1", "2", "3"], [0, 0, 0], None]


async def test_the_bot_runs_in_its_folder_in_a_session_of_its_own(tmp_path: Path) -> None:
    script = "say(repr((os.getcwd(), os.getsid(0) == os.getpid())).encode() + b'\\n')"
    async with running(replace(python(script), cwd=tmp_path), grace=5) as bot:
        said = await receive_until(bot)
    assert said.decode() == f"({str(tmp_path)!r}, True)\n"


IN_A_TERMINAL = """
import fcntl, os, sys, termios, trio
from lastcard.referee.sandbox.levels import Level, Sandbox
from tests.referee.children import receive_until, running, shell
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.close(os.open("/dev/tty", os.O_RDWR))
async def main():
    script = "(: >/dev/tty) 2>/dev/null && echo terminal || echo none"
    async with running(shell(script), grace=5, sandbox=Sandbox(level=Level(sys.argv[1]))) as bot:
        print((await receive_until(bot)).decode(), file=sys.stderr)
trio.run(main)
"""


def test_a_bot_cannot_write_to_the_terminal_of_its_referee(sandbox: Sandbox) -> None:
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", IN_A_TERMINAL, sandbox.level],
            cwd=TOP, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, start_new_session=True, check=True,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stderr.split() == [b"none"]


SIGNALS = """
import sys, trio
from lastcard.referee.sandbox.levels import Level, Sandbox
from tests.referee.children import receive_until, running, shell
async def main():
    async with running(shell("cat /proc/self/status"), grace=5, sandbox=Sandbox(level=Level(sys.argv[1]))) as bot:
        print((await receive_until(bot)).decode())
        print(await bot.exit_status(10))
trio.run(main)
"""

LIBRARYS = 1 << 31 | 1 << 32
"""Signals 32 and 33 are the C library's own: no program can set them, and what `make` starts has the first ignored."""

WITH_SIGNALS_ASIDE = """
import os, signal, sys
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD, signal.SIGTSTP):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
os.execv(sys.executable, sys.argv[1:])
"""


def test_a_bot_ignores_and_blocks_no_signal_that_its_referee_was_started_to(sandbox: Sandbox) -> None:
    """`nohup`, a shell's background job, or a service that ignores the end of its children."""
    command = [sys.executable, "-c", WITH_SIGNALS_ASIDE, sys.executable, "-c", SIGNALS, sandbox.level]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True)
    status = dict(line.split(":\t", 1) for line in done.stdout.splitlines() if ":\t" in line)
    assert int(status["SigIgn"], 16) & ~LIBRARYS == 0
    assert int(status["SigBlk"], 16) & ~LIBRARYS == 0
    assert done.stdout.splitlines()[-1] == "exit status 0"


def test_a_hangup_that_the_referee_ignores_does_not_end_it() -> None:
    script = "import os, signal; from lastcard.referee.hardening import harden; harden()\n"
    script += "os.kill(os.getpid(), signal.SIGHUP); print('alive')"
    command = [sys.executable, "-c", WITH_SIGNALS_ASIDE, sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"alive\n"


def test_a_named_pipe_is_no_program(tmp_path: Path) -> None:
    """To open it would take until somebody writes to it."""
    os.mkfifo(tmp_path / "bot", 0o755)
    assert why_not_startable([str(tmp_path / "bot")]) == f"{str(tmp_path / 'bot')!r} is not a regular file"


async def test_a_program_that_has_become_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bot", 0o755)
    with pytest.raises(StartError, match="cannot start") as caught:
        start_bot(BotCommand("bot", (str(tmp_path / "bot"),)), seat=0, match="m1")
    assert not caught.value.host


@pytest.mark.parametrize(
    ("argv", "what"),
    [
        (("/no/such/bot",), "No such file or directory"),
        (("no-such-program-anywhere",), "No such file or directory"),
        (("/etc/passwd",), "Permission denied"),
    ],
)
async def test_what_cannot_be_started_is_one_sentence(argv: tuple[str, ...], what: str) -> None:
    before = open_files()
    with pytest.raises(StartError) as caught:
        start_bot(BotCommand("lost", argv), seat=0, match="m1")
    assert str(caught.value) == f"bot lost: cannot start {argv[0]}: {what}"
    assert not caught.value.host
    assert open_files() == before


NO_FILES_LEFT = """
import resource, trio
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.exit_words import exit_words
from lastcard.referee.faults import last_lines
from lastcard.referee.processes import BotProcess, StartError, start_bot
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.startable import why_not_startable
from tests.conftest import RequireDebian
async def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
    bots = []
    try:
        while True:
            bots.append(start_bot(BotCommand("cat", ("/bin/cat",)), seat=0, match="m"))
    except StartError as error:
        print(error.host, error)
    for bot in bots:
        await bot.close(0)
trio.run(main)
"""


def test_a_machine_without_free_descriptors_is_not_the_bots_fault() -> None:
    done = subprocess.run([sys.executable, "-c", NO_FILES_LEFT], capture_output=True, text=True, check=True)
    assert done.stdout == "True bot cat: cannot start /bin/cat: Too many open files\n"


# ---- ends


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("os._exit(0)", "exit status 0"),
        ("os._exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
    ],
)
async def test_how_it_ended_is_said_in_words(script: str, words: str) -> None:
    async with running(python(script)) as bot:
        assert await bot.channel.receive(soon(bot)) == b""
        assert await bot.exit_status(10) == words


def test_a_signal_without_a_name_has_its_number() -> None:
    assert exit_words(-60) == "killed by signal 60"


async def test_a_bot_that_closes_its_output_and_lives_has_no_exit_status() -> None:
    async with running(python("os.close(1); hang()")) as bot:
        assert await bot.channel.receive(soon(bot)) == b""
        assert await bot.exit_status(0.02) is None


async def test_an_exit_while_asked_is_noticed_though_a_child_holds_the_pipes() -> None:
    async with running(python("line(); subprocess.Popen(['sleep', '600']); os._exit(4)")) as bot:
        assert await bot.channel.send(b"ask\n", soon(bot)) is Sent.TAKEN
        assert await bot.channel.receive(soon(bot)) == b""
        assert await bot.exit_status() == "exit status 4"


async def test_an_exit_while_a_long_ask_is_sent_is_noticed_though_a_child_holds_the_pipes() -> None:
    async with running(python("subprocess.Popen(['sleep', '600']); line(); os._exit(4)")) as bot:
        assert await bot.channel.send(b"\n" + b"x" * 200_000, soon(bot)) is Sent.CLOSED


async def test_a_bot_that_leaves_at_the_end_of_its_input_is_not_killed() -> None:
    async with running(python(ECHO), grace=10) as bot:
        await bot.channel.send(b"x\n", soon(bot))
        await receive_until(bot)
    assert bot.exit_code == 0


async def test_a_bot_that_ignores_sigterm_and_the_end_of_its_input_is_killed_after_the_grace() -> None:
    async with running(python("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + HANG)) as bot:
        await receive_until(bot)
        begun = trio.current_time()
        await bot.close(0.05)
        assert trio.current_time() - begun >= 0.05
    assert bot.exit_code == -signal.SIGKILL
    assert not bot.stuck


async def test_a_stopped_bot_is_killed() -> None:
    async with running(python("say(b'ready\\n'); os.kill(os.getpid(), signal.SIGSTOP)")) as bot:
        await receive_until(bot)
    assert bot.exit_code == -signal.SIGKILL


@pytest.mark.parametrize(
    "script",
    [
        "child = subprocess.Popen(['sleep', '600']); say(b'%d\\n' % child.pid); hang()",
        "child = subprocess.Popen(['sleep', '600']); say(b'%d\\n' % child.pid); os._exit(0)",
        "child = subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; sleep 600 & echo $!; wait']); hang()",
    ],
    ids=["leader hangs", "leader has exited", "grandchild of a shell that ignores signals"],
)
async def test_the_whole_group_dies(script: str) -> None:
    async with running(python(script)) as bot:
        pid = int(await receive_until(bot))
    assert await gone(pid)


async def test_both_ends_of_a_shell_pipeline_die() -> None:
    async with running(shell("sleep 600 | cat & echo $!; wait")) as bot:
        pid = int(await receive_until(bot))
    assert await gone(pid)


async def test_close_does_not_wait_for_an_output_that_somebody_holds_open() -> None:
    """The child is in a session of its own, out of the group's reach, and keeps stdout open."""
    script = "child = subprocess.Popen(['sleep', '600'], start_new_session=True)\nsay(b'%d\\n' % child.pid); hang()"
    async with running(python(script)) as bot:
        pid = int(await receive_until(bot))
        with trio.fail_after(5):
            await bot.close(0)
    os.kill(pid, signal.SIGKILL)
    assert await gone(pid)


async def test_cancelled_close_kills_at_once() -> None:
    async with running(python(HANG)) as bot:
        await receive_until(bot)
        with trio.move_on_after(0.01) as scope:
            await bot.close(600)
        assert scope.cancelled_caught
        assert bot.exit_code == -signal.SIGKILL


async def close_all(bots: Sequence[BotProcess], grace: float) -> None:
    async with trio.open_nursery() as nursery:
        for bot in bots:
            nursery.start_soon(bot.close, grace)


async def test_several_are_closed_at_once() -> None:
    bots = [start_bot(python(HANG), seat=seat, match="m1") for seat in range(4)]
    for bot in bots:
        await receive_until(bot)
    begun = trio.current_time()
    await close_all(bots, 0.5)
    assert trio.current_time() - begun < 4 * 0.5
    assert {bot.exit_code for bot in bots} == {-signal.SIGKILL}


async def test_an_idle_bot_is_left_alone_and_hears_no_interrupt() -> None:
    """Ctrl-C goes to the referee's group only."""
    async with running(python(ECHO)) as bot:
        assert os.getpgid(bot.pid) == bot.pid != os.getpgid(0)


@pytest.mark.soak
async def test_a_bot_idle_for_eleven_seconds_is_alive(sandbox: Sandbox) -> None:
    """Spawned from a worker thread with a parent-death signal it would die after exactly ten."""
    async with running(python(ECHO), sandbox=sandbox) as bot:
        await trio.sleep(11)
        await bot.channel.send(b"x\n", soon(bot))
        assert await receive_until(bot) == b"x\n"


async def test_a_hundred_starts_leave_no_descriptor_and_no_process() -> None:
    async with running(BotCommand("true", ("/bin/cat",))):
        pass  # the keeper and the watchdog have come
    files, processes = open_files(), children()
    for _ in range(25):
        bots = [start_bot(BotCommand("cat", ("/bin/cat",)), seat=seat, match="m1") for seat in range(4)]
        for bot in bots:
            await bot.channel.send(b"x\n", soon(bot))
            await receive_until(bot)
        await close_all(bots, 5)
    assert open_files() == files
    assert children() == processes
    assert len(GROUPS) == 0


# ---- its limits in words


EATS = "data = b''\nwhile True: data += os.urandom(1 << 20)"
SPINS = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass"
WRITES = "os.chdir('/tmp'); signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
WRITES += "file = open(str(os.getpid()), 'wb')\nos.unlink(file.name)\nwhile True: file.write(bytes(1 << 20))"


@pytest.mark.parametrize("level", [Level.BASIC, Level.STRICT])
async def test_a_bot_that_runs_out_of_memory_is_said_to(level: Level, require_debian: RequireDebian) -> None:
    require_debian("bwrap", "bubblewrap")
    probe = Cage.make(f"lastcard-{os.getpid()}-999999", memory_mb=60, processes=None)
    limited = probe is not None and probe.limits_memory and probe.remove()
    # Without a cage that limits it, the allocation fails instead, and Python says so itself.
    words = "killed by SIGKILL, out of memory: its limit is 60 MB" if limited else "exit status 1"
    async with running(python(EATS), sandbox=Sandbox(level=level, memory_mb=60)) as bot:
        assert await bot.exit_status(20) == words
        await bot.close()
        assert await bot.exit_status() == words


@pytest.mark.parametrize("level", [Level.BASIC, Level.STRICT])
async def test_without_a_cage_memory_is_limited_too(level: Level, require_debian: RequireDebian) -> None:
    require_debian("bwrap", "bubblewrap")
    with adopting_orphans(), without_cages():
        async with running(python(EATS), sandbox=Sandbox(level=level, memory_mb=60)) as bot:
            assert await bot.exit_status(20) == "exit status 1"
            bot.stderr.catch_up()
            assert b"MemoryError" in bot.stderr.kept


@pytest.mark.parametrize(("script", "words"), [
    (SPINS, "killed by SIGXCPU, its CPU limit of 3600 s"),
    (WRITES, "killed by SIGXFSZ, its file limit of 2 MB"),
], ids=["cpu", "file"])  # fmt: skip
@pytest.mark.parametrize("level", [Level.BASIC, Level.STRICT])
async def test_a_limit_that_a_bot_has_reached_is_named(
    level: Level, script: str, words: str, require_debian: RequireDebian
) -> None:
    require_debian("bwrap", "bubblewrap")
    async with running(python(script), sandbox=Sandbox(level=level, file_mb=2)) as bot:
        assert await bot.exit_status(20) == words


async def test_without_a_sandbox_no_limit_is_named() -> None:
    async with running(python(SPINS)) as bot:
        assert await bot.exit_status(20) == "killed by SIGXCPU"


async def test_a_strict_bots_signal_and_status_are_its_own(require_debian: RequireDebian) -> None:
    require_debian("bwrap", "bubblewrap")
    strict = Sandbox(level=Level.STRICT)
    async with running(python("os.kill(os.getpid(), signal.SIGSEGV)"), sandbox=strict) as bot:
        assert await bot.exit_status(10) == "killed by SIGSEGV"
        assert bot.exit_code == -signal.SIGSEGV
    async with running(python("os._exit(3)"), sandbox=strict) as bot:
        assert await bot.exit_status(10) == "exit status 3"


# ---- standard error


async def test_two_megabytes_of_stderr_neither_block_nor_stay() -> None:
    script = "say(b'first\\n', 2); say(b'.' * 2_000_000, 2); say(b'\\nlast\\n', 2); say(b'done\\n'); hang()"
    async with running(python(script)) as bot:
        assert await receive_until(bot) == b"done\n"
        bot.stderr.catch_up()
        assert bot.stderr.count == 2_000_012
        kept = bot.stderr.kept
        assert kept.startswith(b"first\n...")
        assert kept.endswith(b"\nlast\n")
        assert b"\n[1930380 bytes left out]\n" in kept
        assert len(kept) < 70_000
        assert last_lines(bot.stderr.kept).endswith("\nlast")


async def test_the_last_words_on_stderr_are_there_when_the_exit_is() -> None:
    async with running(python("say(b'a\\xffb\\nwhy\\n', 2); os._exit(1)")) as bot:
        assert await bot.exit_status(10) == "exit status 1"
        bot.stderr.catch_up()
        assert last_lines(bot.stderr.kept) == "a\\xffb\nwhy"


async def test_a_bot_that_says_nothing_has_no_last_lines() -> None:
    async with running(python("os._exit(0)"), grace=10) as bot:
        pass
    assert last_lines(bot.stderr.kept) == ""


async def test_each_match_has_its_own_standard_error() -> None:
    script = "say(b'starting up\\n', 2)\nwhile True:\n    data = line()\n    say(data, 2); say(data)"
    async with running(python(script)) as bot:
        for word in (b"one\n", b"two\n"):
            await bot.channel.send(word, soon(bot))
            await receive_until(bot)
        bot.stderr.catch_up()
        assert bot.stderr.kept == b"starting up\none\ntwo\n"
        bot.stderr.new_match()
        for _ in range(2):  # two matches in which it says nothing
            assert last_lines(bot.stderr.kept).splitlines()[-2:] == ["two", "[all this was said before the match]"]
            bot.stderr.new_match()
        await bot.channel.send(b"three\n", soon(bot))
        await receive_until(bot)
        bot.stderr.catch_up()
        assert bot.stderr.kept == b"three\n"


async def test_an_endless_flood_of_stderr_leaves_the_loop_to_others() -> None:
    async with running(python("while True: say(b'x' * 65536, 2)")), running(python(ECHO)) as bot:
        for _ in range(200):
            await bot.channel.send(b"x\n", soon(bot))
            assert await bot.channel.receive(soon(bot)) == b"x\n"
            await trio.lowlevel.checkpoint()


# ---- the referee's own end

REFEREE = """
import os, sys, time, trio
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.processes import start_bot
async def main():
    bots = [start_bot(BotCommand("b", ("/bin/sh", "-c", "sleep 600 & echo $!; wait")), seat=s, match="m")
            for s in range(2)]
    for bot in bots:
        said = await bot.channel.receive(bot.channel.clock() + 10)
        print(bot.pid, said.decode(), flush=True)
    ENDING
trio.run(main)
"""


@pytest.mark.parametrize(
    ("ending", "signal_number"),
    [
        ("raise RuntimeError('ours')", None),
        ("sys.exit(3)", None),
        ("os._exit(3)", None),
        ("await trio.sleep_forever()", signal.SIGINT),
        ("await trio.sleep_forever()", signal.SIGTERM),
        ("await trio.sleep_forever()", signal.SIGHUP),
        ("await trio.sleep_forever()", signal.SIGKILL),
        ("time.sleep(600)", signal.SIGTERM),
    ],
)
async def test_no_bot_outlives_the_referee(ending: str, signal_number: signal.Signals | None) -> None:
    script = REFEREE.replace("ENDING", ending)
    referee = await trio.lowlevel.open_process(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert referee.stdout is not None
    said = b""
    while len(said.split()) < 4:
        said += await referee.stdout.receive_some()
    if signal_number is not None:
        referee.send_signal(signal_number)
    await referee.wait()
    await referee.stdout.aclose()
    for pid in said.split():
        assert await gone(int(pid))


LIMITS = """
import ctypes, resource
from lastcard.referee.hardening import harden
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
harden()
print(ctypes.CDLL(None).prctl(3), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_hardened_memory_is_closed_and_files_are_many() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITS], capture_output=True, text=True, check=True)
    dumpable, files = map(int, done.stdout.split())
    assert dumpable == 0
    assert files > 256


HARDENED = """
import trio
from lastcard.referee.hardening import harden
from tests.referee.children import children, python, receive_until, running
async def main():
    harden()
    async with running(python("os._exit(0)")) as bot:
        await bot.exit_status(10)
    keeper = children()
    script = "child = subprocess.Popen(['sh', '-c', 'sleep 600 & sleep 600']); say(line()); hang()"
    async with running(python(script)) as bot:
        await bot.channel.send(b"\\n", bot.channel.clock() + 10)
        await receive_until(bot)
    assert children() == keeper, children()
trio.run(main)
"""


def test_orphans_of_a_killed_group_are_reaped_by_a_hardened_referee() -> None:
    subprocess.run([sys.executable, "-c", HARDENED], cwd=TOP, check=True)
