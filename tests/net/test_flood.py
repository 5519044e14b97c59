"""A flood of strangers while bots play: bots come in at once, no clock moves, nothing is left over."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio

from lastcard.referee.limits import Limits
from lastcard.referee.net.crowd import MOST, RESERVED
from lastcard.referee.net.tls import client_context, server_context
from tests.net.caller import Caller, honest, play
from tests.net.conftest import Certificate
from tests.net.hall import Hall, descriptors, opened, play_at

LIMITS = Limits(move_ms=1000, bank_ms=5000, start_ms=10_000)
FLOODER = Path(__file__).with_name("flooder.py")


class Measured:
    """What was seen while the flood was on."""

    def __init__(self) -> None:
        self.logins: list[float] = []
        self.crowd = 0
        self.descriptors = 0
        self.banks: set[int] = set()
        self.matches = 0


async def flooded(hall: Hall, folder: Path, nonsense: int, idle: int) -> Measured:
    """Matches between two bots, and logins of a third, as long as a flood is on."""
    seen = Measured()
    for name in ("a", "b"):
        hall.run(name, honest)
    async with hall.table("a", "b") as table:  # all are here
        before = descriptors()
        words = [sys.executable, str(FLOODER), str(hall.port), str(nonsense), str(idle), "60"]
        flooder = await trio.lowlevel.open_process(words, stdout=subprocess.PIPE)
        assert flooder.stdout is not None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look, hall, seen)
            nursery.start_soon(log_in, hall, seen)
            while flooder.poll() is None:
                game = await play_at(table, folder / "m", 2, seed=str(seen.matches))
                assert game.faults == []
                seen.matches += 1
                decisions = [line for line in game.logged("decision") if line["how"] == "asked"]
                seen.banks |= {line["t"]["bank_ms"] for line in decisions}
            nursery.cancel_scope.cancel()
        output = await flooder.stdout.receive_some(1000)
        begun, sent, ended = output.split()
        assert begun == b"begun"
        assert int(sent) == nonsense + idle
        assert int(ended) >= 0.95 * int(sent)  # the others could not even connect
        await flooder.stdout.aclose()
        until = time.perf_counter() + 20
        while descriptors() > before + 2:
            assert time.perf_counter() < until
            await trio.sleep(0.05)
    return seen


async def look(hall: Hall, seen: Measured) -> None:
    before = descriptors()
    while True:
        seen.descriptors = max(seen.descriptors, descriptors() - before)
        await trio.sleep(0.02)


async def log_in(hall: Hall, seen: Measured) -> None:
    """An honest bot, over and over, from an address that no bot has used."""
    while True:
        place = hall.lobby.places["c"]
        logins = place.logins
        caller = hall.caller("c", source="127.0.0.200")
        begun = time.perf_counter()
        await trio.to_thread.run_sync(caller.log_in)
        while place.logins == logins:  # noqa: ASYNC110 - the place has one for the newest only
            await trio.sleep(0.005)
        seen.logins.append(time.perf_counter() - begun)
        caller.cut()
        await trio.sleep(0.2)


def prove(seen: Measured) -> None:
    assert seen.matches > 0
    assert seen.banks == {LIMITS.bank_ms}
    assert 0 < seen.descriptors <= MOST + RESERVED + 30
    # Each within a second on a machine that has two cores for them; the median bears a neighbour.
    assert sorted(seen.logins)[len(seen.logins) // 2] < 1.0, seen.logins


def last_bye(caller: Caller) -> None:
    caller.log_in()
    play(caller)


async def test_two_hundred_of_nonsense_and_many_idle(tmp_path: Path) -> None:
    """T-07, T-08."""
    async with opened("a", "b", "c", limits=LIMITS, patience=1) as hall:
        prove(await flooded(hall, tmp_path, 200, 300))


@pytest.mark.soak
@pytest.mark.parametrize("secured", [False, True], ids=["plain", "tls"])
async def test_a_thousand_idle(tmp_path: Path, certificate: Certificate, secured: bool) -> None:
    """T-07, T-08."""
    server = server_context(certificate.cert, certificate.key) if secured else None
    client = client_context(certificate.cert) if secured else None
    async with opened("a", "b", "c", limits=LIMITS, patience=1, server=server, client=client) as hall:
        prove(await flooded(hall, tmp_path, 200, 1000))
