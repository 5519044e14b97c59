"""Bytes to and from a bot: over real pipes against children that misbehave, and in memory on a mock clock."""

import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from math import inf

import pytest
import trio
from trio.testing import MockClock

from lastcard.referee import watchdog
from lastcard.referee.channel import MAX_READ, Sent
from lastcard.referee.memory_channel import MemoryBot, memory_channel
from lastcard.referee.watchdog import CoreWait, LoopClock, Watchdog, this_watchdog
from tests.referee.children import ECHO, HANG, python, receive_until, running, soon

# ---- pipes


async def test_what_is_sent_comes_back() -> None:
    async with running(python(ECHO)) as bot:
        for number in range(100):
            ask = b"%d\n" % number
            assert await bot.channel.send(ask, soon(bot)) is Sent.TAKEN
            assert await bot.channel.receive(soon(bot)) == ask


@pytest.mark.parametrize("deadline_ms", [1, 20, 60])
async def test_a_hung_bot_is_given_up_at_the_deadline_and_not_before(deadline_ms: int) -> None:
    async with running(python(HANG)) as bot:
        await receive_until(bot)
        deadline = bot.channel.clock() + deadline_ms / 1000
        assert await bot.channel.receive(deadline) is None
        assert bot.channel.read_at >= deadline
        assert bot.channel.lag == bot.channel.read_at - deadline
        assert bot.channel.lag < 1


async def test_bytes_do_not_move_the_deadline() -> None:
    script = "line()\nwhile True: say(b'.'); time.sleep(0.005)"
    async with running(python(script)) as bot:
        await bot.channel.send(b"\n", soon(bot))
        said = await bot.channel.receive(soon(bot)) or b""  # it has begun
        deadline = bot.channel.clock() + 0.08
        while (data := await bot.channel.receive(deadline)) is not None:
            said += data
        assert bot.channel.clock() - deadline < 1
        assert set(said) == set(b".")


async def test_one_byte_at_a_time_adds_up() -> None:
    script = 'line()\nfor byte in b\'{"type":"act"}\\n\': say(bytes([byte])); time.sleep(0.001)\nhang()'
    async with running(python(script)) as bot:
        await bot.channel.send(b"\n", soon(bot))
        assert await receive_until(bot) == b'{"type":"act"}\n'


async def test_a_late_answer_is_still_there_for_the_next_ask() -> None:
    script = "line(); time.sleep(0.05); say(b'late\\n'); line(); say(b'quick\\n'); hang()"
    async with running(python(script)) as bot:
        await bot.channel.send(b"1\n", soon(bot))
        assert await bot.channel.receive(bot.channel.clock() + 0.01) is None
        assert await bot.channel.wait_readable(soon(bot))
        assert bot.channel.read_now() == b"late\n"
        await bot.channel.send(b"2\n", soon(bot))
        assert await receive_until(bot) == b"quick\n"


async def test_a_timeout_stands_only_if_the_last_look_finds_nothing() -> None:
    """The referee itself stands still past the deadline, while the bot has answered in time."""
    async with running(python(ECHO)) as bot:
        await bot.channel.send(b"warm\n", soon(bot))
        await receive_until(bot)
        deadline = bot.channel.clock() + 0.01
        await bot.channel.send(b"answered\n", soon(bot))
        time.sleep(0.05)  # noqa: ASYNC251 - the stall is what is tested
        assert bot.channel.clock() > deadline
        assert await bot.channel.receive(deadline) == b"answered\n"
        used = bot.channel.read_at - bot.channel.sent_at - bot.channel.lag
        assert used < 0.01


async def test_a_stall_of_the_loop_is_lag_and_not_charged() -> None:
    """Another task holds the loop for 50 ms while an answer lies in the pipe."""
    slow_echo = "while True: said = line(); time.sleep(0.005); say(said)"  # the first look finds nothing
    async with running(python(slow_echo)) as bot, trio.open_nursery() as nursery:
        await bot.channel.send(b"warm\n", soon(bot))
        await receive_until(bot)

        async def stall() -> None:
            time.sleep(0.05)  # noqa: ASYNC251 - the stall is what is tested

        this_watchdog().yielding += 1  # somebody else has work to do, so that the loop is entered
        nursery.start_soon(stall)
        await bot.channel.send(b"answer\n", soon(bot))
        assert await bot.channel.receive(soon(bot)) == b"answer\n"
        this_watchdog().yielding -= 1
        taken = bot.channel.read_at - bot.channel.sent_at
        assert taken > 0.05
        assert taken - bot.channel.lag < 0.02


async def test_what_other_tasks_take_before_a_write_is_lag_and_moves_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def others_run(_: Watchdog) -> None:
        await trio.sleep(0.08)

    monkeypatch.setattr(Watchdog, "step_back", others_run)
    async with running(python(HANG)) as bot:
        await receive_until(bot)
        channel = bot.channel
        channel.write_now(b"x" * 200_000 + b"\n")  # from here on nothing fits
        begun = channel.clock()
        this_watchdog().yielded_at = begun - 1  # it has worked for so long, and has to step back
        assert await channel.send(b"ask\n", begun + 0.04) is Sent.STALLED
        assert channel.lag >= 0.08
        assert channel.clock() - begun - channel.lag >= 0.04


async def test_a_look_that_came_late_makes_no_false_timeouts() -> None:
    """The referee stands still for twice the time that the bot has, again and again."""
    late = 0
    used: list[float] = []
    async with running(python(ECHO)) as bot:
        for _ in range(60):
            assert await bot.channel.send(b"ask\n", soon(bot)) is Sent.TAKEN
            deadline = bot.channel.sent_at + 0.01
            time.sleep(0.02)  # noqa: ASYNC251 - the stall is what is tested
            if await bot.channel.receive(deadline) is None:
                late += 1
                assert await bot.channel.receive(soon(bot)) == b"ask\n"
            else:
                used.append(bot.channel.read_at - bot.channel.sent_at - bot.channel.lag)
    assert late <= 3, "on a busy machine the bot itself may have no core for 20 ms"
    assert max(used) < 0.01


async def test_a_bot_that_never_reads_stalls() -> None:
    async with running(python(HANG)) as bot:
        await receive_until(bot)
        big = b"x" * 200_000 + b"\n"
        deadline = bot.channel.clock() + 0.03
        assert await bot.channel.send(big, deadline) is Sent.STALLED
        assert bot.channel.clock() >= deadline


async def test_what_a_slow_reader_left_over_goes_first() -> None:
    script = "line(); time.sleep(0.05)\nwhile True: say(os.read(0, 65536))"
    async with running(python(script)) as bot:
        first, second = b"a" * 150_000 + b"\n", b"b" * 10 + b"\n"
        assert not bot.channel.write_now(b"go\n" + first)
        assert await bot.channel.send(second, soon(bot)) is Sent.TAKEN
        said = b""
        while len(said) < len(first) + len(second):
            said += await bot.channel.receive(soon(bot)) or b""
        assert said == first + second


async def test_a_flood_blocks_the_bot_and_is_read_in_bounded_pieces() -> None:
    script = "say(b'ready\\n')\nwhile True: say(b'flood\\n' * 10000)"
    async with running(python(script)) as bot:
        await bot.channel.wait_readable(soon(bot))
        for _ in range(20):
            data = await bot.channel.receive(soon(bot))
            assert data
            assert len(data) <= MAX_READ


async def test_what_is_printed_before_the_ask_can_be_told_apart() -> None:
    async with running(python("say(b'banner\\n'); say(line()); hang()")) as bot:
        await bot.channel.wait_readable(soon(bot))
        assert bot.channel.read_now() == b"banner\n"
        assert bot.channel.read_now() is None
        await bot.channel.send(b"ask\n", soon(bot))
        assert await receive_until(bot) == b"ask\n"


async def test_the_end_of_the_output_is_seen() -> None:
    async with running(python("line(); os.close(1); hang()")) as bot:
        await bot.channel.send(b"\n", soon(bot))
        assert await bot.channel.receive(soon(bot)) == b""
        assert bot.exit_code is None


async def test_last_words_before_an_exit_are_heard() -> None:
    async with running(python("say(line()); os._exit(3)")) as bot:
        await bot.channel.send(b"ask\n", soon(bot))
        assert await bot.exit_status(10) == "exit status 3"
        assert await bot.channel.receive(soon(bot)) == b"ask\n"
        assert await bot.channel.receive(soon(bot)) == b""


async def test_sending_to_a_bot_that_has_closed_its_input_is_closed_not_stalled() -> None:
    async with running(python("os.close(0); say(b'ready\\n'); hang()")) as bot:
        await receive_until(bot)
        assert await bot.channel.send(b"ask\n", soon(bot)) is Sent.CLOSED
        assert not bot.channel.write_now(b"ask\n")


async def test_the_bot_gets_blocking_pipes() -> None:
    script = "say(bytes(48 + os.get_blocking(fd) for fd in (0, 1, 2)) + b'\\n'); hang()"
    async with running(python(script)) as bot:
        assert await receive_until(bot) == b"111\n"


async def test_close_wakes_a_waiting_reader_and_writer() -> None:
    async with running(python(HANG)) as bot, trio.open_nursery() as nursery:
        await receive_until(bot)
        outcomes: list[object] = []

        async def note(call: Callable[[], Awaitable[object]]) -> None:
            outcomes.append(await call())

        nursery.start_soon(note, lambda: bot.channel.send(b"x" * 200_000, soon(bot)))
        nursery.start_soon(note, lambda: bot.channel.receive(soon(bot)))
        await trio.testing.wait_all_tasks_blocked(0.02)
        bot.channel.close()
        bot.channel.close()
    assert sorted(map(str, outcomes)) == sorted(map(str, [Sent.CLOSED, b""]))


async def test_cancellation_reaches_a_waiting_reader() -> None:
    async with running(python(HANG)) as bot:
        await receive_until(bot)
        with trio.move_on_after(0.02) as scope:
            await bot.channel.receive(inf)
        assert scope.cancelled_caught


async def test_a_silent_bot_times_out_beside_busy_ones() -> None:
    """Busy channels share one budget of work without yielding: the silent one's time-out is hardly late."""

    async def busy(stop: trio.Event) -> None:
        async with running(python(ECHO)) as bot:
            while not stop.is_set():
                await bot.channel.send(b"x\n", soon(bot))
                assert await bot.channel.receive(soon(bot)) == b"x\n"

    async with running(python(HANG)) as silent, trio.open_nursery() as nursery:
        await receive_until(silent)
        stop = trio.Event()
        for _ in range(4):
            nursery.start_soon(busy, stop)
        lags: list[float] = []
        for _ in range(10):
            assert await silent.channel.receive(silent.channel.clock() + 0.02) is None
            lags.append(silent.channel.lag)
        stop.set()
    assert sorted(lags)[5] < 0.05


async def test_a_waiting_referee_sleeps() -> None:
    """Waiting for a bot with a far deadline enters the loop a few times, not every few milliseconds."""
    async with running(python("line(); time.sleep(0.3); say(b'x\\n'); hang()")) as bot:
        await bot.channel.send(b"\n", soon(bot))
        passes = PassCounter()
        trio.lowlevel.add_instrument(passes)
        try:
            await receive_until(bot)
        finally:
            trio.lowlevel.remove_instrument(passes)
        assert passes.count < 10


# ---- how late the loop is


class Times:
    """A clock, and a count of waiting for a core, that a test sets."""

    def __init__(self) -> None:
        self.now = self.waited = 0.0

    def perf_counter(self) -> float:
        return self.now

    def seconds(self) -> float:
        return self.waited


@pytest.mark.parametrize(
    ("worked", "slept", "waited", "timeout", "fresh_for"),
    [
        (0.001, 0.5, 0.0, 1.0, 0.0),  # asleep until the event came
        (0.001, 0.5, 0.3, 1.0, 0.3),  # the event came, and then there was no core
        (0.001, 0.5, 0.9, 1.0, 0.5),  # never longer than the whole sleep
        (0.5, 0.001, 0.0, 1.0, 0.501),  # busy: the event may have come right after the last look
        (0.0001, 0.001, 0.0009, 1.0, 0.0),  # too short to be worth asking
        (0.0001, 0.0005, 0.0, 0.0, 0.0),
    ],
)
def test_who_is_woken_and_has_no_core_is_late(
    monkeypatch: pytest.MonkeyPatch, worked: float, slept: float, waited: float, timeout: float, fresh_for: float
) -> None:
    """How long at the most the events of this pass have been there."""
    times, clock = Times(), LoopClock()
    clock.core_wait.close()
    monkeypatch.setattr(watchdog, "time", times)
    monkeypatch.setattr(clock, "core_wait", times)
    clock.after_io_wait(0)
    times.now, times.waited = worked, 7.0
    clock.before_io_wait(timeout)
    times.now, times.waited = worked + slept, 7.0 + waited
    clock.after_io_wait(timeout)
    assert times.now - clock.idle_until == pytest.approx(fresh_for)


def test_the_kernel_counts_how_long_we_had_no_core() -> None:
    """Two processes that spin on one core: each waits for the other."""
    counter, core = CoreWait(), min(os.sched_getaffinity(0))
    before, allowed = counter.seconds(), os.sched_getaffinity(0)
    spinner = subprocess.Popen(
        [sys.executable, "-S", "-c", f"import os; os.sched_setaffinity(0, [{core}])\nwhile 1: 1"]
    )
    try:
        os.sched_setaffinity(0, [core])
        until = time.perf_counter() + 0.5
        while time.perf_counter() < until:
            pass
    finally:
        os.sched_setaffinity(0, allowed)
        spinner.kill()
        spinner.wait()
    assert counter.seconds() - before > 0.05
    counter.close()
    assert counter.seconds() == 0, "where nobody counts"


class PassCounter(trio.abc.Instrument):
    """Counts the passes of trio's loop."""

    def __init__(self) -> None:
        self.count = 0

    def before_io_wait(self, timeout: float) -> None:
        self.count += 1


# ---- memory


async def test_memory_an_answer_takes_exactly_its_time(autojump_clock: MockClock) -> None:
    channel, bot = memory_channel()

    async def script() -> None:
        async for line in bot.lines():
            await trio.sleep(5)
            await bot.write(line + b"!\n")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(script)
        assert await channel.send(b"ask\n", inf) is Sent.TAKEN
        assert await channel.receive(channel.sent_at + 60) == b"ask!\n"
        assert channel.read_at - channel.sent_at == pytest.approx(5)
        channel.close()


@pytest.mark.parametrize(("thinks", "heard"), [(0.999, True), (1.001, False)])
async def test_memory_deadlines_are_exact(autojump_clock: MockClock, thinks: float, *, heard: bool) -> None:
    channel, bot = memory_channel()

    async def script() -> None:
        await bot.read_line()
        await trio.sleep(thinks)
        await bot.write(b"x\n")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(script)
        await channel.send(b"ask\n", inf)
        assert (await channel.receive(channel.sent_at + 1) == b"x\n") is heard


async def test_memory_a_bot_that_does_not_read_stalls(autojump_clock: MockClock) -> None:
    channel, bot = memory_channel()
    begun = channel.clock()
    assert await channel.send(b"x" * 200_000 + b"\n", begun + 5) is Sent.STALLED
    assert channel.clock() == pytest.approx(begun + 5)
    async with trio.open_nursery() as nursery:
        lines: list[bytes | None] = []

        async def read() -> None:
            lines.extend([await bot.read_line(), await bot.read_line(), await bot.read_line()])

        nursery.start_soon(read)
        assert await channel.send(b"next\n", inf) is Sent.TAKEN
        channel.close_write()
    assert lines == [b"x" * 200_000, b"next", None]


async def test_memory_a_flood_blocks_the_bot(autojump_clock: MockClock) -> None:
    channel, bot = memory_channel()
    with trio.move_on_after(1) as scope:
        await bot.write(b"x" * 100_000)
    assert scope.cancelled_caught
    assert channel.read_now() == b"x" * 65536
    assert channel.read_now() is None


Ending = Callable[[MemoryBot], None]


@pytest.mark.parametrize(
    ("end", "sent", "received"),
    [(MemoryBot.close, Sent.CLOSED, b""), (MemoryBot.close_input, Sent.CLOSED, None)],
)
async def test_memory_a_bot_that_leaves(
    autojump_clock: MockClock, end: Ending, sent: Sent, received: bytes | None
) -> None:
    channel, bot = memory_channel()
    end(bot)
    assert await channel.send(b"ask\n", inf) is sent
    assert await channel.receive(channel.clock() + 1) == received
