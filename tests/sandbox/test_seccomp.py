"""The filter of system calls, run here instruction by instruction as the kernel would; it knows no bot."""

import errno
import re
import struct
from pathlib import Path

import pytest

from lastcard.referee.sandbox.seccomp import ALIKE, CLONE3, MACHINES, filter_program

ALLOW, KILL = "allow", "kill"
THREAD = 0x3D0F00
"""The flags with which the C library makes a thread."""


def answer(machine: str, number: int, *arguments: int, kind: int | None = None) -> str | int:
    """What the program says about one call: allow, kill, or the error."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<iIQ6Q", number, MACHINES[machine].machine if kind is None else kind, 0, *padded)
    program = list(struct.iter_unpack("<HBBI", filter_program(machine)))
    loaded, position = 0, 0
    while True:
        code, if_true, if_false, value = program[position]
        position += 1
        match code:
            case 0x20:
                loaded = struct.unpack_from("<I", data, value)[0]
            case 0x06:
                return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(value) or value & 0xFFFF
            case _:
                holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
                position += if_true if holds else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_every_refused_call_is_refused_and_no_other(machine: str) -> None:
    numbers = MACHINES[machine]
    refused = {*numbers.refused.values(), *ALIKE.values()}
    said = {number: answer(machine, number, 1) for number in range(500)}
    assert {number for number, what in said.items() if what == errno.EPERM} == refused
    assert {number for number, what in said.items() if what == errno.ENOSYS} == {CLONE3}
    assert len(refused) == len(numbers.refused) + len(ALIKE)


@pytest.mark.parametrize("machine", MACHINES)
def test_threads_and_processes_may_be_made_but_no_namespaces(machine: str) -> None:
    numbers = MACHINES[machine]
    assert answer(machine, numbers.clone, THREAD) == ALLOW
    assert answer(machine, numbers.clone, 17) == ALLOW
    assert answer(machine, numbers.unshare, 0x400) == ALLOW
    # The bit of a new time namespace is part of the signal's number in clone.
    assert answer(machine, numbers.unshare, 0x80) == errno.EPERM
    for bit in (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert answer(machine, numbers.clone, bit | 17) == errno.EPERM
        assert answer(machine, numbers.unshare, bit) == errno.EPERM
        # Registers have 64 bits; the upper half means nothing to either call.
        assert answer(machine, numbers.clone, bit | 1 << 40) == errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_sockets_of_few_families_may_be_made(machine: str) -> None:
    said = {family: answer(machine, MACHINES[machine].socket, family) for family in range(64)}
    assert {family for family, what in said.items() if what == ALLOW} == {1, 2, 10, 16}
    assert {what for what in said.values() if what != ALLOW} == {errno.EAFNOSUPPORT}


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_typed_into_terminals(machine: str) -> None:
    ioctl = MACHINES[machine].ioctl
    assert answer(machine, ioctl, 0, 0x5412) == errno.EPERM
    assert answer(machine, ioctl, 0, 0x541C) == errno.EPERM
    assert answer(machine, ioctl, 0x5412, 0x5401) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_in_the_manner_of_another_machine(machine: str) -> None:
    for kind in (0x40000003, 0x40000028, 0xC000003E, 0xC00000B7):  # i386, ARM, x86_64, AArch64
        other = kind != MACHINES[machine].machine
        assert answer(machine, 0, kind=kind) == (KILL if other else ALLOW)
    assert answer(machine, 0x40000000 | 101) == errno.ENOSYS  # x32


HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"needs {HEADERS[machine]}: apt-get install linux-libc-dev")
    text = HEADERS[machine].read_text()
    known = {name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", text)}
    numbers = MACHINES[machine]
    ours = {**numbers.refused, **ALIKE, "clone3": CLONE3}
    ours |= {name: getattr(numbers, name) for name in ("clone", "unshare", "ioctl", "socket")}
    assert {name: number for name, number in ours.items() if known.get(name, number) != number} == {}
    assert len(known) > 250
