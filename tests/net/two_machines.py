"""Two machines in one: two network namespaces, and a wire between them that is slow, loses packets, and can be cut.

The wire is ours and not `tc netem`, which many kernels lack: each namespace has a tun device, and a thread carries
whole IP packets from one to the other. So TCP itself meets delay and loss, as it would between two houses.
"""

import fcntl
import heapq
import os
import random
import secrets
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NoReturn

import pytest

TUN = "/dev/net/tun"
TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x0001 | 0x1000
LARGEST_PACKET = 65536
NAMESPACES = Path("/run/netns")
PREFIX = "lastcard-test"
REFEREE, BOT = "10.77.0.1", "10.77.0.2"
PATIENCE = 60.0


class Wire:
    """Carries packets between two tun devices. `delay` and `jitter` are seconds one way, `loss` a share of 1."""

    def __init__(self, ends: Sequence[int]) -> None:
        self.delay = self.jitter = self.loss = 0.0
        self.cut = False
        self.carried = self.lost = 0
        self._ends = ends
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def _carry(self) -> None:
        chance, numbers = random.Random(1), count()
        under_way: list[tuple[float, int, int, bytes]] = []
        other = dict(zip(self._ends, reversed(self._ends), strict=True))
        while not self._stopped.is_set():
            due = under_way[0][0] - time.monotonic() if under_way else 0.05
            for end in select.select(self._ends, [], [], min(0.05, max(0.0, due)))[0]:
                packet = b""
                with suppress(OSError):  # its link is down
                    packet = os.read(end, LARGEST_PACKET)
                if self.cut or packet[:1] < b"\x40" or packet[:1] >= b"\x50":  # not IPv4
                    continue
                if chance.random() < self.loss:
                    self.lost += 1
                    continue
                at = time.monotonic() + self.delay + chance.uniform(-self.jitter, self.jitter)
                heapq.heappush(under_way, (at, next(numbers), other[end], packet))
            while under_way and under_way[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(under_way)
                self.carried += 1
                with suppress(OSError):
                    os.write(end, packet)

    def stop(self) -> None:
        """Carry nothing any more."""
        self._stopped.set()
        self._thread.join()


class Program:
    """A command of ours on one of the machines; what it says goes to a file."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self.process = process
        self._output = output

    @property
    def said(self) -> str:
        """All that it has said so far."""
        return self._output.read_text(encoding="utf-8")

    def until(self, words: str) -> str:
        """Wait until it has said this."""
        wait_for(lambda: words in self.said or self.process.poll() is not None, lambda: self.said)
        assert words in self.said, self.said
        return self.said

    def ended(self, seconds: float = PATIENCE) -> int:
        """Its exit code, when it has ended by itself."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"it has not ended within {seconds:g} s:\n{self.said}")


class Machine:
    """One network namespace with one link, `wire`."""

    def __init__(self, namespace: str, address: str) -> None:
        self.namespace = namespace
        self.address = address
        self.device = ""

    def link(self, state: str) -> None:
        """Pull the plug of its network card (`down`), or put it in again (`up`)."""
        ip("-n", self.namespace, "link", "set", self.device, state)

    def runs(self, words: Sequence[str], folder: Path, name: str) -> Program:
        """Start `lastcard ...` there, in this folder."""
        output = folder / f"{name}.out"
        # Not `ip netns exec`: that mounts another /sys, where a referee would find no cgroups.
        enter = ["nsenter", f"--net={NAMESPACES / self.namespace}"] if self.namespace else []
        program = [*enter, sys.executable, "-m", "lastcard.referee", *words]
        with output.open("wb") as file:
            process = subprocess.Popen(program, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        return Program(process, output)


HERE = Machine("", "127.0.0.1")
"""This machine as it is."""


class TwoMachines:
    """The referee's machine, the bot's, and what is between them."""

    def __init__(self, referee: Machine, bot: Machine, wire: Wire) -> None:
        self.referee = referee
        self.bot = bot
        self.wire = wire


def ip(*words: str) -> None:
    """One command of iproute2."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def cannot(reason: str) -> NoReturn:
    """As `require_debian` has it: a developer sees why, and in continuous integration it is a failure."""
    if os.environ.get("LASTCARD_CI") == "1":
        pytest.fail(f"{reason} (continuous integration runs as root of a machine of its own)")
    pytest.skip(reason)


@contextmanager
def connected_machines() -> Iterator[TwoMachines]:
    """Both machines, with a perfect wire. Whatever happens, nothing of them is left."""
    if os.geteuid() != 0:
        cannot("needs root, who alone makes network namespaces")
    if not os.path.exists(TUN):
        cannot(f"needs {TUN}")
    remove_leftovers()
    with ExitStack() as made:
        machines: list[Machine] = []
        ends: list[int] = []
        for side, address in (("a", REFEREE), ("b", BOT)):
            machine = made.enter_context(machine_at(side, address))
            ends.append(plugged_in(machine, made))
            machines.append(machine)
        wire = Wire(ends)
        made.callback(wire.stop)
        referee, bot = machines
        yield TwoMachines(referee, bot, wire)


@contextmanager
def machine_at(side: str, address: str) -> Iterator[Machine]:
    """A namespace with a loopback of its own; its name holds our pid, and nobody else has it."""
    machine = Machine(f"{PREFIX}-{os.getpid()}-{secrets.token_hex(3)}-{side}", address)
    try:
        ip("netns", "add", machine.namespace)
    except OSError as error:
        cannot(f"needs network namespaces: {error}")
    try:
        ip("-n", machine.namespace, "link", "set", "lo", "up")
        yield machine
    finally:
        ip("netns", "del", machine.namespace)


def plugged_in(machine: Machine, made: ExitStack) -> int:
    """Our end of a new link of the machine; it is gone with our end."""
    end = os.open(TUN, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    made.callback(os.close, end)
    machine.device = f"lc{secrets.token_hex(4)}"
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", machine.device.encode(), IFF_TUN_NO_PI))
    ip("link", "set", machine.device, "netns", machine.namespace)
    ip("-n", machine.namespace, "address", "add", f"{machine.address}/30", "dev", machine.device)
    machine.link("up")
    return end


def remove_leftovers() -> None:
    """Take away the namespaces of test runs that were killed before they could."""
    for path in NAMESPACES.glob(f"{PREFIX}-*") if NAMESPACES.is_dir() else ():
        pid = path.name.removeprefix(PREFIX).split("-")[1]
        if not os.path.exists(f"/proc/{pid}"):
            with suppress(OSError):
                ip("netns", "del", path.name)


def wait_for(happened: Callable[[], object], told: Callable[[], str], seconds: float = PATIENCE) -> None:
    """Until this is true; `told` says what was there instead."""
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, f"waited {seconds:g} s in vain:\n{told()}"
        time.sleep(0.02)


def end(programs: Sequence[Program]) -> None:
    """Kill what still runs."""
    for program in programs:
        if program.process.poll() is None:
            program.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                program.process.wait(10)
            program.process.kill()
            program.process.wait()
