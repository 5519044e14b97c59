"""Bots as processes: how they start, what is known of their end, and that nothing of them is left."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.channel import Sent
from lastcard.referee.process_groups import GROUPS
from lastcard.referee.processes import StartError, close_all, exit_words, start_bot
from tests.referee.children import (
    ECHO,
    HANG,
    children,
    gone,
    open_files,
    python,
    receive_until,
    running,
    shell,
    soon,
)

# ---- starting


async def test_the_environment_holds_six_words_and_nothing_of_ours() -> None:
    os.environ["PYTHONUNBUFFERED"] = "1"
    try:
        command = BotCommand("env", ("/usr/bin/env",), env={"DEPTH": "3"})
        async with running(command, grace=5) as bot:
            assert await bot.exit_status(10) == "exit status 0"
            said = (bot.channel.read_now() or b"").decode().splitlines()
    finally:
        del os.environ["PYTHONUNBUFFERED"]
    names = sorted(line.partition("=")[0] for line in said)
    assert names == ["DEPTH", "HOME", "LANG", "LASTCARD_MATCH", "LASTCARD_SEAT", "PATH"]
    assert {"LASTCARD_MATCH=m1", "LASTCARD_SEAT=0", "DEPTH=3"} <= set(said)


async def test_the_bot_runs_in_its_folder_in_a_session_of_its_own_with_three_descriptors(
    tmp_path: Path,
) -> None:
    script = (
        "facts = os.getcwd(), os.getsid(0) == os.getpid(), sorted(os.listdir('/proc/self/fd'))\n"
        "say(repr(facts).encode() + b'\\n')"
    )
    async with running(replace(python(script), cwd=tmp_path), grace=5) as bot:
        said = await receive_until(bot)
    # The fourth is the listing's own.
    assert said.decode() == f"({str(tmp_path)!r}, True, ['0', '1', '2', '3'])\n"


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
from lastcard.referee.processes import StartError, start_bot
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


async def test_kill_now_needs_no_loop() -> None:
    async with running(python(HANG)) as bot:
        await receive_until(bot)
        bot.kill_now()
        assert await bot.exit_status(10) == "killed by SIGKILL"
    bot.kill_now()


async def test_several_are_closed_at_once() -> None:
    bots = [start_bot(python(HANG), seat=seat, match="m1") for seat in range(4)]
    for bot in bots:
        await receive_until(bot)
    begun = trio.current_time()
    await close_all(bots, 0.2)
    assert trio.current_time() - begun < 4 * 0.2
    assert {bot.exit_code for bot in bots} == {-signal.SIGKILL}


async def test_an_idle_bot_is_left_alone_and_hears_no_interrupt() -> None:
    """Ctrl-C goes to the referee's group only."""
    async with running(python(ECHO)) as bot:
        assert os.getpgid(bot.pid) == bot.pid != os.getpgid(0)


@pytest.mark.soak
async def test_a_bot_idle_for_eleven_seconds_is_alive() -> None:
    """Spawned from a worker thread with a parent-death signal it would die after exactly ten."""
    async with running(python(ECHO)) as bot:
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
        assert bot.stderr.last_lines(1) == ["last"]


async def test_the_last_words_on_stderr_are_there_when_the_exit_is() -> None:
    async with running(python("say(b'a\\xffb\\nwhy\\n', 2); os._exit(1)")) as bot:
        assert await bot.exit_status(10) == "exit status 1"
        bot.stderr.catch_up()
        assert bot.stderr.last_lines() == ["a\\xffb", "why"]


async def test_a_bot_that_says_nothing_has_no_last_lines() -> None:
    async with running(python("os._exit(0)"), grace=10) as bot:
        pass
    assert bot.stderr.last_lines() == []


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
    top = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", HARDENED], cwd=top, check=True)
