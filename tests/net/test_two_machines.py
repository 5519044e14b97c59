"""The referee on one machine, a bot on another: delay and loss change no match, and a cut line ends only its own.

Both are the real commands. `tests.net.two_machines` makes the machines.
"""

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lastcard.referee.log_reader import read_log
from lastcard.referee.net.tokens import write_token
from lastcard.referee.replay import verify
from tests.conftest import RequireDebian
from tests.net.conftest import MakeCertificate
from tests.net.two_machines import BOT, HERE, REFEREE, Machine, Program, TwoMachines, connected_machines, end, wait_for

Line = dict[str, Any]

CUP = """
[tournament]
name = "cup"
edition = "classic"
seats = 2
blocks = {blocks}
rounds = {rounds}
seed = "two-machines"

[[bot]]
name = "anna"
tcp = true
token_file = "anna.token"
{limits}

[[bot]]
name = "greedy"
command = "greedy"
"""

USUAL = "move_ms = 1000\nbank_ms = 10000"
A_LONG_MATCH = 20
"""Rounds: some minutes over this wire, so that a cut is in the middle."""


@pytest.fixture
def machines(require_debian: RequireDebian) -> Iterator[TwoMachines]:
    require_debian("ip", "iproute2")
    require_debian("nsenter", "util-linux")
    with connected_machines() as both:
        yield both


class Cup(NamedTuple):
    """A tournament that is on."""

    folder: Path
    referee: Program
    bot: Program

    def lines(self) -> list[Line]:
        """All lines of all logs so far, but the one that is being written."""
        logs = sorted(self.folder.glob("cup/logs/*.jsonl"))
        return [json.loads(line) for log in logs for line in log.read_bytes().split(b"\n")[:-1]]

    def times(self) -> list[float]:
        """Milliseconds of the decisions that anna was asked for."""
        return [line["t"]["ms"] for line in self.lines() if line["type"] == "decision" and line["how"] == "asked"]

    def faults(self) -> list[str]:
        return [line["kind"] for line in self.lines() if line["type"] == "fault"]

    def events(self, kind: str) -> list[Line]:
        return [line["event"] for line in self.lines() if line["type"] == "event" and line["event"]["type"] == kind]

    def in_the_middle(self) -> None:
        """Wait until the first match is well on its way."""
        wait_for(lambda: len(self.times()) >= 12, lambda: f"{self.referee.said}\n{self.bot.said}")

    def went_on(self) -> None:
        """Wait until the same match is well on its way after whatever has happened now."""
        before = len(self.times())
        wait_for(lambda: len(self.times()) >= before + 12, lambda: f"{self.referee.said}\n{self.bot.said}")


StartCup = Callable[..., Cup]


@pytest.fixture
def start_cup(tmp_path: Path) -> Iterator[StartCup]:
    """`start_cup(referee, bot)`: a tournament between anna on the one machine and greedy on the other."""
    with ExitStack() as running:

        def start(
            referee: Machine, bot: Machine, *options: str, limits: str = USUAL, blocks: int = 1,
            rounds: int = A_LONG_MATCH, calls: tuple[str, ...] = (),
        ) -> Cup:  # fmt: skip
            folder = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
            folder.mkdir()
            write_token(folder / "anna.token")
            (folder / "cup.toml").write_text(CUP.format(blocks=blocks, rounds=rounds, limits=limits))
            words = ["serve", "cup.toml", "--host", referee.address, "--plain", "--jobs", "1", *options]
            serve = referee.runs(words, folder, "serve")
            running.callback(end, [serve])
            address = serve.until(" with").split("listening on ")[1].split()[0]
            connect = bot.runs(
                ["connect", address, "--token-file", "anna.token", *calls, "--", "random"], folder, "connect"
            )
            running.callback(end, [connect])
            return Cup(folder, serve, connect)

        yield start


def digests(cup: Cup) -> list[str]:
    """What was played, when the run and the bot have ended well."""
    assert cup.referee.ended() == 0, cup.referee.said
    assert cup.bot.ended() == 0, cup.bot.said
    assert cup.faults() == []
    found: list[str] = []
    for path in sorted(cup.folder.glob("cup/logs/*.jsonl")):
        verdict = verify(read_log(path))
        assert verdict.difference is None
        assert not verdict.incomplete
        found.append(verdict.digest)
    return found


def test_delay_and_loss_change_no_match(
    machines: TwoMachines, start_cup: StartCup, make_certificate: MakeCertificate
) -> None:
    """20 ms one way, 5 % of the packets lost, without TLS and with it: the matches of a perfect line to the digest."""
    played = digests(start_cup(HERE, HERE, rounds=1))
    assert len(played) == 2
    machines.wire.delay, machines.wire.jitter, machines.wire.loss = 0.02, 0.008, 0.05

    slow = start_cup(machines.referee, machines.bot, "--insecure", rounds=1)
    assert digests(slow) == played
    assert f"anna has come in from {BOT}" in slow.referee.said
    assert machines.wire.lost > 0
    assert min(slow.times()) < 1.0, "greedy is on the referee's machine"
    assert sum(ms > 20.0 for ms in slow.times()) > 5, "anna's answers took the wire's time"

    made = make_certificate(f"IP:{REFEREE}")
    secure = ("--cert", str(made.cert), "--key", str(made.key))
    assert (
        digests(start_cup(machines.referee, machines.bot, *secure, rounds=1, calls=("--ca", str(made.cert)))) == played
    )


@pytest.mark.parametrize("where", ["in the wall", "at the bot's machine", "at the referee's machine"])
def test_a_cable_that_is_out_for_a_second(machines: TwoMachines, start_cup: StartCup, where: str) -> None:
    """TCP sends again what was lost: nobody has to connect anew, and the match goes on."""
    cup = start_cup(machines.referee, machines.bot, "--insecure", limits="move_ms = 20000\nbank_ms = 0")
    plug = {"at the bot's machine": machines.bot, "at the referee's machine": machines.referee}.get(where)
    cup.in_the_middle()
    if plug is None:
        machines.wire.cut = True
        time.sleep(1.0)
        machines.wire.cut = False
    else:
        plug.link("down")
        time.sleep(1.0)
        plug.link("up")
    cup.went_on()
    assert max(cup.times()) > 900, "the cut was not felt"
    assert cup.faults() == []
    assert cup.bot.said.count("connected to") == 1
    assert "lost" not in cup.bot.said


def test_a_cable_that_is_out_for_good(machines: TwoMachines, start_cup: StartCup) -> None:
    """Its time runs, its strikes are used up, it is not there for the other matches, and the run ends by itself."""
    limits = "move_ms = 1000\nbank_ms = 0\nstart_ms = 1500\nstrikes = 3"
    cup = start_cup(machines.referee, machines.bot, "--insecure", limits=limits, blocks=2)
    cup.in_the_middle()
    machines.wire.cut = True
    assert cup.referee.ended() == 0, cup.referee.said
    assert cup.faults() == ["timeout"] * 3 + ["startup"] * 3
    assert [event["why"] for event in cup.events("forfeit")] == ["timeout"] + ["startup"] * 3
    assert "4 of 4 matches" in cup.referee.said
    assert cup.bot.process.poll() is None, "it cannot know yet"
    cup.bot.process.send_signal(signal.SIGTERM)
    assert cup.bot.ended() == 3
    assert "stopped by SIGTERM" in cup.bot.said


@pytest.mark.soak
def test_both_ends_notice_a_dead_line(machines: TwoMachines, start_cup: StartCup) -> None:
    """Long before its time is over, neither of them having been told: the referee waits for another connection."""
    limits = "move_ms = 30000\nbank_ms = 0\nstart_ms = 1000\nstrikes = 1"
    cup = start_cup(machines.referee, machines.bot, "--insecure", limits=limits, calls=("--patience", "20"))
    cup.in_the_middle()
    machines.wire.cut = True
    assert cup.referee.ended(120) == 0, cup.referee.said
    assert cup.faults()[0] == "eof", "a line that was still open would have been a timeout"
    assert cup.bot.ended(120) == 3
    assert "the connection is lost" in cup.bot.said
    assert "no connection for 20 s" in cup.bot.said


@pytest.mark.soak
def test_a_line_that_is_mended_after_it_was_given_up(machines: TwoMachines, start_cup: StartCup) -> None:
    """The bot connects anew, is asked again, and plays on."""
    cup = start_cup(machines.referee, machines.bot, "--insecure", limits="move_ms = 120000\nbank_ms = 0")
    cup.in_the_middle()
    machines.wire.cut = True
    cup.bot.until("the connection is lost")
    machines.wire.cut = False
    cup.bot.until("again")
    cup.went_on()
    assert max(cup.times()) > 10_000
    assert cup.faults() == []


@pytest.mark.soak
def test_a_poor_line(machines: TwoMachines, start_cup: StartCup) -> None:
    """A quarter of all packets lost, and 100 ms each way: slow, but to the same digest."""
    limits = "move_ms = 60000\nbank_ms = 0"
    played = digests(start_cup(HERE, HERE, rounds=1, limits=limits))
    machines.wire.delay, machines.wire.jitter, machines.wire.loss = 0.1, 0.05, 0.25
    cup = start_cup(machines.referee, machines.bot, "--insecure", rounds=1, limits=limits)
    assert cup.referee.ended(300) == 0, cup.referee.said
    assert digests(cup) == played
