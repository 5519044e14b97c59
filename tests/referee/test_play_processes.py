"""`lastcard play` as a program, against real bots that misbehave and users who stop it: exit codes, JSON, leftovers.

Each bot is a small program; one honest one sits at the table with every hostile one.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from lastcard.engine import Rules
from tests.referee.scripted import honest
from tests.referee.scripted import play as play_in_memory

PYTHON = [sys.executable, "-S", "-E", "-I"]

PRELUDE = """
import json, os, signal, subprocess, sys, time
def say(text):
    data = text.encode() + b"\\n"
    while data:
        data = data[os.write(1, data):]
def choice(ask):
    action = ask["legal"][0]
    return action + " uno" if action.startswith("play") and len(ask["state"]["hand"]) == 2 else action
def act(ask, **more):
    say(json.dumps({"type": "act", "id": ask["id"], "action": choice(ask), **more}))
def play(turn=act, at=1, bye=None):
    for line in sys.stdin:
        line = json.loads(line)
        if line["type"] == "hello":
            say('{"type":"hello","protocol":1}')
        elif line["type"] == "ask":
            (turn if line["id"] >= at else act)(line)
        elif line["type"] == "bye" and bye:
            bye()
def forever(do, *what):
    while True:
        do(*what)
def hang(*_):
    forever(signal.pause)
"""

HONEST = "play()"

CHILD = "subprocess.Popen(['/bin/sleep', '300'])"


@dataclass
class Hostile:
    """A program, the kinds of its faults in order, how it ended where it did, and whether it leaves."""

    name: str
    script: str
    kinds: list[str]
    exit: str | None = None
    leaves: bool = True

    def __str__(self) -> str:
        return self.name


HOSTILE = [
    Hostile("hangs", "play(hang, at=2)", ["timeout"] * 2),
    Hostile("exits", "play(lambda ask: sys.exit(3), at=2)", ["crash"], "exit status 3"),
    Hostile("aborts", "play(lambda ask: os.abort(), at=2)", ["crash"], "killed by SIGABRT"),
    Hostile("faults", "play(lambda ask: os.kill(os.getpid(), 11), at=2)", ["crash"], "killed by SIGSEGV"),
    Hostile("raises", "play(lambda ask: 1 / 0, at=2)", ["crash"], "exit status 1"),
    Hostile("closes its output", "play(lambda ask: (os.close(1), hang()), at=2)", ["eof"]),
    Hostile("closes its input", "play(lambda ask: (os.close(0), act(ask), hang()), at=2)", ["eof"]),
    Hostile("reads no more", "play(lambda ask: (act(ask), hang()), at=2)", ["timeout"] * 2),
    Hostile("floods its output", "play(lambda ask: forever(say, ''), at=2)", ["stale"] * 16 + ["flood"]),
    Hostile("floods with garbage", "play(lambda ask: forever(say, 'x' * 99))", ["malformed"] * 2),
    Hostile("floods without LF", "play(lambda ask: forever(os.write, 1, b'x' * 9999))", ["oversize"] * 2),
    Hostile("floods its errors", "play(lambda ask: (os.write(2, b'e' * 300_000), act(ask)))", [], leaves=False),
    Hostile("prints garbage", "play(lambda ask: say('Traceback (most recent call last):'))", ["malformed"] * 2),
    Hostile("answers with wrong ids", "play(lambda ask: act({**ask, 'id': ask['id'] + 1}))", ["stale", "timeout"] * 2),
    Hostile("answers twice", "play(lambda ask: (act(ask), act(ask)), at=2)", ["stale"], leaves=False),
    Hostile("says 2 MB", "play(lambda ask: say('x' * 2_000_000), at=2)", ["oversize"] * 2),
    Hostile("does not flush", "play(lambda ask: print('{}'))", ["timeout"] * 2),
    Hostile("leaves a child behind", f"{CHILD}\nplay()", [], leaves=False),
    Hostile("dies before its child", f"play(lambda ask: ({CHILD}, sys.exit(4)), at=2)", ["crash"], "exit status 4"),
    Hostile("ignores its end", "signal.signal(15, signal.SIG_IGN)\nplay(bye=hang)\nhang()", [], leaves=False),
    Hostile("stops itself", "play(lambda ask: os.kill(os.getpid(), signal.SIGSTOP), at=2)", ["timeout"] * 2),
    Hostile("never says hello", "hang()", ["startup"]),
    Hostile("exits at once", "sys.exit('no such module')", ["startup"], "exit status 1"),
    Hostile("prints for ever before hello", "forever(say, 'loading')", ["startup"]),
]  # fmt: skip


@dataclass
class Place:
    """A folder whose name is the marker in the environment of all that is started from it: HOME."""

    home: Path
    log: Path = field(init=False)
    started: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def __post_init__(self) -> None:
        self.log = self.home / "match.jsonl"

    def bot(self, name: str, script: str) -> str:
        """The word for a bot that runs this script."""
        file = self.home / f"{name.replace(' ', '_')}.py"
        file.write_text(PRELUDE + script + "\n")
        return shlex.join([*PYTHON, str(file)])

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """`lastcard` with these words."""
        process = subprocess.Popen(
            [sys.executable, "-m", "lastcard.referee", *words],
            env={**os.environ, "HOME": str(self.home)},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """`lastcard` with these words, to its end."""
        process = self.start(*words)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def play(self, *bots: str) -> list[str]:
        """The words for a short match with tight limits."""
        return [
            *("play", *bots, "--rounds", "1", "--seed", "h", "--log", str(self.log), "--json"),
            *("--move-ms", "600", "--bank-ms", "0", "--start-ms", "1000", "--strikes", "2"),
        ]

    def left(self) -> list[str]:
        """The command lines of all processes that carry the marker."""
        marker = f"HOME={self.home}".encode()
        found: list[str] = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if marker in (folder / "environ").read_bytes().split(b"\0"):
                        found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
                except OSError:
                    continue
        return found

    def nothing_left(self, seconds: float = 2.0) -> bool:
        """Whether all that carries the marker is gone, or goes in this time."""
        until = time.monotonic() + seconds
        while self.left():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True

    def verify(self) -> int:
        """The exit code of `replay --verify` of the log."""
        done = self.run("replay", str(self.log), "--verify")
        assert "Traceback" not in done.stderr
        return done.returncode


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place that nothing survives, whatever the test finds."""
    here = Place(tmp_path)
    yield here
    for process in here.started:
        process.kill()
        process.communicate()
    assert here.nothing_left(), here.left()


@pytest.mark.parametrize("hostile", HOSTILE, ids=str)
def test_hostile_programs(hostile: Hostile, place: Place) -> None:
    done = place.run(*place.play(place.bot("honest", HONEST), place.bot(hostile.name, hostile.script)))
    assert place.left() == []
    assert done.stderr == ""
    assert done.returncode == 0
    result: dict[str, Any] = json.loads(done.stdout)
    kinds = [fault["kind"] for fault in result["faults"]]
    if hostile.kinds == ["stale"]:
        assert set(kinds) == {"stale"}
    else:
        assert kinds == hostile.kinds
    assert {fault["seat"] for fault in result["faults"]} <= {1}
    assert result["forfeited"] == ([1] if hostile.leaves else [])
    assert all(fault.get("exit") == hostile.exit for fault in result["faults"])
    if hostile.leaves:
        assert result["places"] == [1, 2]
    assert place.verify() == 0


def test_stderr_is_kept(place: Place) -> None:
    done = place.run(*place.play(place.bot("honest", HONEST), place.bot("raises", "play(lambda ask: 1 / 0)")))
    (fault,) = json.loads(done.stdout)["faults"]
    assert fault["stderr"].endswith("ZeroDivisionError: division by zero")
    assert fault["repeat"].endswith("/raises.py")


def test_strict_makes_a_fault_an_exit_code(place: Place) -> None:
    words = place.play(place.bot("honest", HONEST), place.bot("garbage", "play(lambda ask: say('x'))"))
    assert place.run(*words, "--strict").returncode == 1
    assert place.run(*place.play(*[place.bot("honest", HONEST)] * 2), "--strict").returncode == 0


def test_restarts(place: Place) -> None:
    """The process that comes after the dead one plays to the end."""
    mark = str(place.home / "died")
    script = (
        f"def die(ask):\n    open({mark!r}, 'w')\n    sys.exit(1)\nplay(act if os.path.exists({mark!r}) else die, at=3)"
    )
    done = place.run(*place.play(place.bot("honest", HONEST), place.bot("dies once", script)), "--restarts", "1")
    result = json.loads(done.stdout)
    assert [(fault["kind"], fault["applied"] is not None) for fault in result["faults"]] == [("crash", True)]
    assert result["forfeited"] == []
    assert place.verify() == 0


def test_no_limits_marks_the_log(place: Place) -> None:
    slow = "play(lambda ask: (time.sleep(0.9), act(ask)) if ask['id'] == 1 else act(ask))"
    done = place.run(*place.play(place.bot("honest", HONEST), place.bot("slow", slow)), "--no-limits")
    assert json.loads(done.stdout)["faults"] == []
    header = json.loads(place.log.read_text().splitlines()[0])
    assert [bot["limits"]["enforced"] for bot in header["t"]["bots"]] == [False, False]


def test_the_digest_does_not_depend_on_the_transport(place: Place) -> None:
    """The same bots in memory and as processes."""
    done = place.run(*place.play(*[place.bot("honest", HONEST)] * 3))
    memory = partial(
        play_in_memory, place.home / "memory", *[honest()] * 3, seed="h", rules=Rules.of("mario-kart", {"rounds": 1})
    )
    game = trio.run(memory, clock=MockClock(autojump_threshold=0))
    assert json.loads(done.stdout)["digest"] == game.outcome.digest


POSITION = {
    "id": "puzzle",
    "edition": "mario-kart",
    "options": {"rounds": 1},
    "setup": {"hands": [["R1", "B4"], ["B2", "R3"]], "discard_pile": ["R5"], "draw_pile": ["Y7", "Y8", "Y9", "G1"]},
}


def test_a_position_is_played_logged_and_proved(place: Place) -> None:
    file = place.home / "position.json"
    file.write_text(json.dumps(POSITION))
    bots = [place.bot("honest", HONEST)] * 2
    done = place.run("play", *bots, "--position", str(file), "--log", str(place.log), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert place.verify() == 0


def test_a_packed_log(place: Place) -> None:
    place.log = place.home / "match.jsonl.gz"
    assert place.run(*place.play(*[place.bot("honest", HONEST)] * 2)).returncode == 0
    assert place.log.read_bytes().startswith(b"\x1f\x8b\x08\x00\0\0\0\0")
    assert place.verify() == 0


# ---- stopped from outside

THINKS = "play(lambda ask: (time.sleep(0.03), act(ask)))"
STUCK = (
    f"signal.signal(15, signal.SIG_IGN)\nsignal.signal(2, signal.SIG_IGN)\n{CHILD}\nplay(hang, at=4, bye=hang)\nhang()"
)


def decisions(log: Path) -> int:
    return log.read_bytes().count(b'{"type":"decision"') if log.exists() else -1


EARLY = ("as it starts", "as the log is there")
"""Perhaps before the referee listens to signals, but then before it has started a bot too."""
MOMENTS: dict[str, Callable[[Place], bool]] = {
    "as it starts": lambda place: len(place.left()) >= 2,
    "as the log is there": lambda place: decisions(place.log) >= 0,
    "in the first turns": lambda place: decisions(place.log) >= 2,
    "while a bot hangs": lambda place: decisions(place.log) >= 7,
}


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        *((name, moment) for name in ("SIGINT", "SIGKILL") for moment in MOMENTS),
        ("SIGTERM", "while a bot hangs"),
        ("SIGHUP", "in the first turns"),
    ],
)
def test_stopped(name: str, moment: str, place: Place) -> None:
    """No traceback, nothing left after two seconds, and a log that is incomplete and right so far."""
    process = start_until(place, moment)
    process.send_signal(signal.Signals[name])
    out, err = process.communicate(timeout=10)
    assert place.nothing_left(2.0), place.left()
    assert "Traceback" not in err
    assert out == ""
    if name == "SIGKILL":
        assert process.returncode == -signal.SIGKILL
    elif moment not in EARLY:
        assert process.returncode == 3
        assert f"stopped by {name}" in err
        assert "--seed h" in err
    if place.log.exists():
        assert place.verify() == 3


def start_until(place: Place, moment: str) -> "subprocess.Popen[str]":
    """A match that is in this moment. In the last one a bot and its child ignore whatever they are told."""
    other = STUCK if moment == "while a bot hangs" else THINKS
    words = place.play(place.bot("thinks", THINKS), place.bot("other", other))
    words[words.index("600")] = "60000"
    process = place.start(*words)
    until = time.monotonic() + 20
    while not MOMENTS[moment](place):
        assert time.monotonic() < until
        time.sleep(0.002)
    return process


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_stopped_again_while_it_waits_for_bots_to_leave(name: str, place: Place) -> None:
    process = start_until(place, "while a bot hangs")
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.Signals[name])
    _, err = process.communicate(timeout=10)
    assert "Traceback" not in err
    assert place.nothing_left(2.0), place.left()
    assert process.returncode != 0
    assert place.verify() == 3
