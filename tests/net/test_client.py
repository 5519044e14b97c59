"""The client between a bot and a referee in memory: hellos, whole lines, lost connections, byes, and the bot's end."""

import json
import tracemalloc

import pytest
import trio
from trio.testing import MockClock

from lastcard.referee.net.client_link import LONGEST_LINE
from lastcard.referee.net.client_output import MOST_BEFORE_HELLO, BotOutput
from lastcard.referee.net.client_session import PROMPT, Ending
from lastcard.referee.net.client_waiting import WaitingLines
from lastcard.referee.net.door import REFUSED
from lastcard.referee.net.lobby import REPLACED
from lastcard.referee.processes import GRACE
from tests.net.client_rig import BOT_HELLO, REFEREE_HELLO, WITH_TOKEN, FakeBot, Far, Rig, running
from tests.net.plain_referee import TOKEN

START = b'{"type":"start","match":"m1"}\n'
RESUMED = b'{"type":"start","match":"m1","resumed":true}\n'
ASK = b'{"type":"ask","id":1,"legal":["play R1","draw"]}\n'
ACT = b'{"type":"act","id":1,"action":"draw"}\n'
BYE = b'{"type":"bye","reason":"done"}\n'
ENDED = Ending(0, "the referee says bye: done")


async def say_bye(referee: Far, bot: FakeBot) -> None:
    """The end of most tests: the bot has been let in, the run is over."""
    await referee.say(BYE)
    await bot.leave_after_bye()


# ---- hello


async def test_the_bots_hello_goes_on_with_the_token(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + ASK)
        assert await bot.far.line() + await bot.far.line() == START + ASK
        await bot.far.say(ACT)
        assert await referee.line() == ACT
        await say_bye(referee, bot)
    assert rig.ending == ENDED
    assert rig.said == ["connected to rig:1"]


BEFORE_HELLO = [
    b"Loading the model...\n",
    b"\n",
    b'{"type":"log","text":"x"}\n',
    b'{"type":"ready"}\r\n',
    b"\xff\xfe\n",
]


async def test_what_comes_before_the_hello_is_dropped_and_said(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.referee(), await rig.bot()
        await bot.far.say(b"".join(BEFORE_HELLO) + BOT_HELLO[:20])
        await bot.far.say(BOT_HELLO[20:] + b'{"type":"ready"}\n')
        assert await referee.line() == WITH_TOKEN
        assert await referee.line() == b'{"type":"ready"}\n'
        await referee.say(START)
        await say_bye(referee, bot)
    dropped = [words for words in rig.said if words.startswith("dropped what the bot said before its hello: ")]
    assert len(dropped) == len(BEFORE_HELLO)
    assert dropped[0].endswith("'Loading the model...'")
    assert dropped[4].endswith(r"'\\xff\\xfe'")


@pytest.mark.parametrize("feed", [b"\n", b"\r\n"])
async def test_so_many_lines_may_come_before_it_and_no_more(feed: bytes, autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        bot = await rig.bot()
        await bot.far.say((b"x" + feed) * MOST_BEFORE_HELLO + BOT_HELLO.replace(b"\n", feed))
        referee = await rig.referee()
        assert await referee.line() == WITH_TOKEN
        await referee.say(START)
        await say_bye(referee, bot)
    rig = Rig()
    async with running(rig):
        await (await rig.bot()).far.say((b"x" + feed) * (MOST_BEFORE_HELLO + 1) + BOT_HELLO)
    assert rig.ending is not None
    assert (rig.ending.code, rig.ending.words[:41]) == (1, "the bot said 17 lines and none was its he")


async def test_endless_text_without_a_line_feed_is_no_hello_and_takes_no_room(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.referee(), await rig.bot()
        for _ in range(64):
            await bot.far.say(b"x" * 65536)
        await bot.far.say(b"\n" + BOT_HELLO)
        assert await referee.line() == WITH_TOKEN
        await referee.say(START)
        await say_bye(referee, bot)
    assert [words[:7] for words in rig.said] == ["dropped", "connect"]


async def test_a_line_that_never_ends_is_not_kept() -> None:
    chunks = iter([b"x" * 65536] * 1000)

    async def receive() -> bytes:
        await trio.lowlevel.checkpoint()
        return next(chunks, b"")

    tracemalloc.start()
    try:
        assert await BotOutput(receive, lambda: None, print).hello() is None
        assert tracemalloc.get_traced_memory()[1] < 4 * 65536 + 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("hello", "words"),
    [
        ('{"type":"hello","protocol":2}', "this end speaks protocol 1, the other end speaks protocol 2"),
        ('{"type":"hello"}', "$.protocol: required, but there is no such field"),
        ('{"type":"hello","protocol":"1"}', "$.protocol: expected int, got str"),
        ('{"type":"hello","protocol":1,"name":"%s"}' % ("x" * 65), "$.name: "),
        ('{"type":"hello","protocol":1', "not one JSON object: "),
    ],
)
async def test_a_hello_that_is_not_valid_ends_it(hello: str, words: str, autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.referee(), await rig.bot()
        await bot.far.say(hello.encode() + b"\n")
        assert await referee.some() == b""
    assert rig.ending is not None
    assert rig.ending.code == 1
    assert rig.ending.words.startswith(f"the bot's hello is not valid: {words}")
    assert bot.closed_at is not None


async def test_a_bot_that_is_slow_to_start_is_logged_in_by_the_next_connection(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        first, bot = await rig.referee(), await rig.bot()
        await trio.sleep(PROMPT + 1)
        await bot.far.say(BOT_HELLO)
        assert await first.some() == b""
        referee = await rig.referee()
        assert await referee.line() == WITH_TOKEN
        await referee.say(START)
        assert await bot.far.line() + await bot.far.line() == REFEREE_HELLO + b"\n" + START
        await bot.far.say(ACT)
        assert await referee.line() == ACT
        await say_bye(referee, bot)
    assert rig.ending == ENDED
    assert rig.said == ["connected to rig:1"]


async def test_a_bot_without_a_hello_is_not_waited_for_for_ever(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        await rig.bot()
    assert rig.ending == Ending(1, "the bot said no hello within 20 s")


# ---- lost connections


async def lose(rig: Rig, referee: Far) -> Far:
    """The connection is cut; the next one after its hellos."""
    await referee.hang_up()
    referee = await rig.referee()
    assert await referee.line() == WITH_TOKEN
    return referee


async def test_the_bot_says_hello_once_and_finds_its_ask_again(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + ASK)
        for _ in range(3):
            referee = await lose(rig, referee)
            await referee.say(RESUMED + ASK)
        assert [await bot.far.line() for _ in range(8)] == [START, ASK] + 3 * [RESUMED, ASK]
        await bot.far.say(ACT)
        assert await referee.line() == ACT
        await say_bye(referee, bot)
    assert rig.said.count("connected to rig:1 again") == 3
    lost = "the connection is lost (closed by the other end); calling again, for up to 300 s"
    assert rig.said[:3] == ["connected to rig:1", lost, "connected to rig:1 again"]


async def test_the_bot_never_sees_half_a_line(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + ASK[:20])
        assert await bot.far.line() == START
        assert await bot.far.nothing()
        referee = await lose(rig, referee)
        await referee.say(RESUMED[:9])
        await referee.say(RESUMED[9:] + ASK[:-1] + b"\r\n")
        assert await bot.far.line() + await bot.far.line() == RESUMED + ASK
        await say_bye(referee, bot)


async def test_the_referee_sees_half_a_line_at_once(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + ASK)
        for size in range(len(ACT)):
            await bot.far.say(ACT[size : size + 1])
            assert await referee.some() == ACT[size : size + 1]
        await say_bye(referee, bot)


async def test_what_is_said_to_nobody_is_dropped_up_to_its_end(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + ASK)
        await bot.far.say(b'{"type":"ac')
        assert await referee.some() == b'{"type":"ac'
        referee = await lose(rig, referee)
        await bot.far.say(b't","id":1,"action":"draw"}\n{"type":"act","id":1,"note":"nobody')
        await trio.sleep(1)
        await referee.say(RESUMED + ASK)
        assert [await bot.far.line() for _ in range(4)] == [START, ASK, RESUMED, ASK]
        await trio.sleep(1)
        await bot.far.say(b' hears this"}\n' + ACT)
        assert await referee.line() == ACT
        await say_bye(referee, bot)


async def test_a_line_that_begins_on_one_connection_ends_on_no_other(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + ASK)
        await bot.far.say(ACT[:10])
        assert await referee.some() == ACT[:10]
        referee = await lose(rig, referee)
        await referee.say(RESUMED + ASK)
        assert [await bot.far.line() for _ in range(4)] == [START, ASK, RESUMED, ASK]
        await trio.sleep(1)
        await bot.far.say(ACT[10:20])
        assert await referee.nothing()
        await bot.far.say(ACT[20:] + ACT)
        assert await referee.line() == ACT
        await say_bye(referee, bot)


async def test_a_line_of_the_referee_has_an_end(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(b"x" * (LONGEST_LINE + 1))
        await trio.sleep(1)
        referee = await rig.referee()
        assert await referee.line() == WITH_TOKEN
        await referee.say(START)
        await say_bye(referee, bot)
    assert "the connection is lost (a line of more than 8 MiB)" in rig.said[1]


async def test_lines_wait_for_the_bot_in_bounded_memory(autojump_clock: MockClock) -> None:
    waiting = WaitingLines[int](most=100)
    puts: list[float] = []

    async def put() -> None:
        for number in range(30):
            await waiting.put(number, b"0123456789")
            puts.append(trio.current_time())
        waiting.end()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(put)
        await trio.sleep(1)
        assert len(puts) == 10
        taken = []
        while (item := await waiting.take()) is not None:
            taken.append(item)
            await trio.sleep(1)
    assert taken == [(number, b"0123456789") for number in range(30)]
    assert puts == pytest.approx([0] * 10 + [float(second) for second in range(1, 21)])


# ---- bye


@pytest.mark.parametrize("let_in", [True, False])
@pytest.mark.parametrize(
    ("reason", "check"),
    [
        (REFUSED, "check that the token is the one that this referee's organiser has from you"),
        (REPLACED, "does the same bot run elsewhere too?"),
        ("the moon is full", "check the token, the address, and that no other connection uses the same token"),
        ("x" * 1000, "check the token, the address, and that no other connection uses the same token"),
    ],
    ids=["refused", "replaced", "other", "long"],
)
async def test_bye(let_in: bool, reason: str, check: str, autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START if let_in else b"")
        await referee.say(json.dumps({"reason": reason, "type": "bye"}).encode() + b"\nno line after it\n")
        lines = await bot.leave_after_bye()
    assert len(lines) == 1 + let_in
    shown = reason[:300]
    words = f"the referee says bye: {shown}" if let_in else f"not let in: {shown}; {check}"
    assert rig.ending == Ending(0 if let_in else 1, words)
    assert len(rig.calls) == len(rig.bots) == 1


async def test_a_bye_is_heard_though_nothing_can_be_said_any_more(autojump_clock: MockClock) -> None:
    """Else a client that was replaced would come back and replace in its turn."""
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + ASK)
        referee.stop_reading()
        await bot.far.say(ACT + ACT)
        await trio.sleep(1)
        await say_bye(referee, bot)
    assert rig.ending == ENDED
    assert len(rig.calls) == 1


async def test_bye_again_starts_the_bot_anew(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        for match in range(3):
            referee, bot = await rig.logged_in()
            await referee.say(START)
            if match < 2:
                await referee.say(b'{"type":"bye","reason":"forfeited","again":true}\n')
                await bot.leave_after_bye()
        await say_bye(referee, bot)
    assert rig.ending == ENDED
    assert len(rig.bots) == 3
    assert all(bot.closed_at is not None for bot in rig.bots)
    anew = "the referee says bye: forfeited; the bot is started anew; calling again, for up to 300 s"
    assert rig.said == 2 * ["connected to rig:1", anew] + ["connected to rig:1"]


@pytest.mark.parametrize("again", ["", ',"again":true'])
async def test_a_bot_that_ignores_the_end_is_killed(again: str, autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + b'{"type":"bye","reason":"done"%s}\n' % again.encode())
        said = trio.current_time()
        if again:
            referee, second = await rig.logged_in()
            await referee.say(START)
            await say_bye(referee, second)
    assert bot.killed
    assert bot.closed_at == pytest.approx(said + GRACE)
    assert rig.ending == ENDED


# ---- the end of the bot, and of the user's patience


async def test_a_bot_that_ends_by_itself(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        await referee.say(START + ASK)
        await bot.far.say(ACT)
        await bot.leave("exit status 3")
        assert await referee.line() == ACT  # its last words arrive
        assert await referee.some() == b""
    assert rig.ending == Ending(1, "the bot ended (exit status 3)")


async def test_a_bot_that_ends_before_anything(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        await (await rig.bot()).leave("killed by SIGSEGV")
    assert rig.ending == Ending(1, "the bot ended before its hello (killed by SIGSEGV)")


async def test_a_bot_that_closes_its_output_has_ended(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        _, bot = await rig.logged_in()
        await bot.far.hang_up()
    assert rig.ending is not None
    assert rig.ending.code == 1
    assert rig.ending.words in ("the bot has closed its output", "the bot has closed its input")
    assert bot.killed


@pytest.mark.parametrize("times", [1, 2])
async def test_who_stops_it_waits_for_the_bot_unless_he_asks_twice(times: int, autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        for _ in range(times):
            await trio.sleep(0.1)
            rig.client.stop("SIGINT")
        stopped = trio.current_time()
        assert await referee.some() == b""
    assert rig.ending == Ending(3, "stopped by SIGINT; the same command goes on")
    assert bot.closed_at == pytest.approx(stopped + (GRACE if times == 1 else 0))


async def test_the_token_is_in_no_word_of_its_own(autojump_clock: MockClock) -> None:
    async with running(Rig()) as rig:
        referee, bot = await rig.logged_in()
        referee = await lose(rig, referee)
        await referee.say(START)
        await say_bye(referee, bot)
    assert TOKEN not in repr((rig.said, rig.ending))
