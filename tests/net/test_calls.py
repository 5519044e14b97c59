"""When a client calls again, under the mock clock: growing pauses, and an end of its patience."""

from itertools import pairwise

import pytest
import trio
from trio.testing import MockClock

from lastcard.referee.net.client_call import CallFailed
from lastcard.referee.net.client_calls import FIRST_PAUSE, JITTER, LONGEST_PAUSE
from tests.net.client_rig import Rig, running

REFUSES = CallFailed("rig:1 refuses")
WAITS = "calling again, for up to 300 s"


def pauses(rig: Rig) -> list[float]:
    return [later - earlier for earlier, later in pairwise(rig.calls)]


async def test_pauses_double_up_to_ten_seconds(autojump_clock: MockClock) -> None:
    rig = Rig()
    rig.failures.extend([REFUSES] * 1000)
    ending = await rig.run()
    assert ending == (3, "no connection for 300 s: rig:1 refuses", False)
    assert rig.said == [f"rig:1 refuses; {WAITS}"]
    assert rig.calls[-1] - rig.calls[0] == pytest.approx(300)
    due = FIRST_PAUSE
    for pause in pauses(rig)[:-1]:  # the last is shortened to the end of the patience
        assert due * (1 - JITTER) <= pause <= due * (1 + JITTER)
        due = min(LONGEST_PAUSE, 2 * due)
    assert due == LONGEST_PAUSE
    assert len({round(pause, 6) for pause in pauses(rig)}) == len(pauses(rig))
    assert rig.bots[0].closed_at is not None


async def test_without_patience_it_calls_once(autojump_clock: MockClock) -> None:
    rig = Rig(patience=0)
    rig.failures.append(REFUSES)
    assert (await rig.run()).code == 3
    assert len(rig.calls) == 1


async def test_what_waiting_will_not_mend_is_not_waited_for(autojump_clock: MockClock) -> None:
    rig = Rig()
    rig.failures.append(CallFailed("there is no host 'rig'", hopeless=True))
    assert await rig.run() == (1, "there is no host 'rig'", False)
    assert (rig.said, len(rig.calls)) == ([], 1)


async def test_each_reason_is_said_once(autojump_clock: MockClock) -> None:
    rig = Rig(patience=60)
    closes = CallFailed("rig:1 closed the connection")
    rig.failures.extend([REFUSES, REFUSES, closes, REFUSES, closes, *[REFUSES] * 100])
    await rig.run()
    assert rig.said == ["rig:1 refuses; calling again, for up to 60 s", "rig:1 closed the connection"]


async def test_a_referee_that_starts_later_is_found(autojump_clock: MockClock) -> None:
    rig = Rig()
    rig.failures.extend([REFUSES] * 5)
    async with running(rig):
        referee, bot = await rig.logged_in()
        await referee.say(b'{"type":"start"}\n{"type":"bye","reason":"done"}\n')
        await bot.leave_after_bye()
    assert rig.ending is not None
    assert rig.ending.code == 0
    assert rig.said == [f"rig:1 refuses; {WAITS}", "connected to rig:1"]


async def test_a_good_connection_makes_pauses_and_patience_new(autojump_clock: MockClock) -> None:
    rig = Rig()
    rig.failures.extend([REFUSES] * 25)  # more than 200 s of the first patience
    async with running(rig):
        referee, bot = await rig.logged_in()
        assert trio.current_time() - rig.calls[0] > 150
        await referee.say(b'{"type":"events","events":[]}\n')
        await bot.far.line()
        rig.failures.extend([REFUSES, CallFailed("the certificate has expired", hopeless=True), *[REFUSES] * 23])
        lost = len(rig.calls)
        await referee.hang_up()
        again = await rig.referee()
        assert rig.calls[lost] - rig.calls[lost - 1] <= FIRST_PAUSE * (1 + JITTER)
        await again.say(b'{"type":"events","events":[]}\n{"type":"bye","reason":"done"}\n')
        await bot.leave_after_bye()
    assert rig.ending is not None
    assert rig.ending.code == 0


async def test_an_idle_connection_of_an_hour_was_good(autojump_clock: MockClock) -> None:
    rig = Rig(patience=60)
    async with running(rig):
        referee, bot = await rig.logged_in()
        await trio.sleep(3600)
        await referee.hang_up()
        again = await rig.referee()
        await again.say(b'{"type":"events","events":[]}\n{"type":"bye","reason":"done"}\n')
        await bot.leave_after_bye()
    assert rig.ending is not None
    assert rig.ending.code == 0


async def test_a_referee_that_hangs_up_after_each_hello_is_given_up(autojump_clock: MockClock) -> None:
    rig = Rig()

    async def hang_up_always() -> None:
        while True:
            await (await rig.referee()).hang_up()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hang_up_always)
        async with running(rig):
            bot = await rig.bot()
            await bot.far.say(b'{"type":"hello","protocol":1}\n')
        nursery.cancel_scope.cancel()
    assert rig.ending is not None
    assert rig.ending.code == 3
    assert rig.ending.words.startswith("no connection for 300 s: the connection is lost (")
    assert 30 < len(rig.calls) < 60
