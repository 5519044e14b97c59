"""The system calls that no strict bot may make, as a program for the kernel; it knows no bot and installs nothing.

Everything is allowed but what opens the way to old faults of the kernel, to other processes or to mounts. The
program is classic BPF, written here in full: each instruction is (code, jump if true, jump if false, value),
and each test of a number is followed by what happens if it fits.
"""

import os
import struct
import sys
from collections.abc import Iterable
from typing import NamedTuple

EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97

# Offsets in the kernel's struct seccomp_data; arguments have 64 bits, low half first on both machines.
NUMBER, MACHINE, FIRST, SECOND = 0, 4, 16, 24

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP | BPF_JEQ, BPF_JGE, BPF_JSET; all | BPF_K
RETURN = 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000

NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
CLONE_NEWTIME = 0x80
X32 = 0x40000000
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
"""They put words into a terminal's input."""
FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Others know no network namespace: AF_VSOCK reaches a machine's host."""


class Numbers(NamedTuple):
    """Of one machine."""

    machine: int
    clone: int
    unshare: int
    ioctl: int
    socket: int
    refused: dict[str, int]


CLONE3 = 435
"""Its flags lie in memory, where no filter can look; the C library then falls back to clone."""

# From here on all machines number alike.
ALIKE = {
    "pidfd_getfd": 438, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "open_tree_attr": 467,
}  # fmt: skip

MACHINES = {
    "x86_64": Numbers(0xC000003E, clone=56, unshare=272, ioctl=16, socket=41, refused={
        "ptrace": 101, "syslog": 103, "pivot_root": 155, "acct": 163, "mount": 165, "umount2": 166, "swapon": 167,
        "swapoff": 168, "reboot": 169, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176,
        "quotactl": 179, "chroot": 161, "settimeofday": 164, "clock_settime": 227, "adjtimex": 159,
        "clock_adjtime": 305, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
        "migrate_pages": 256, "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300,
        "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310,
        "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321,
        "userfaultfd": 323, "lookup_dcookie": 212,
    }),
    "aarch64": Numbers(0xC00000B7, clone=220, unshare=97, ioctl=29, socket=198, refused={
        "ptrace": 117, "syslog": 116, "pivot_root": 41, "acct": 89, "mount": 40, "umount2": 39, "swapon": 224,
        "swapoff": 225, "reboot": 142, "init_module": 105, "delete_module": 106,
        "quotactl": 60, "chroot": 51, "settimeofday": 170, "clock_settime": 112, "adjtimex": 171,
        "clock_adjtime": 266, "kexec_load": 104, "add_key": 217, "request_key": 218, "keyctl": 219,
        "migrate_pages": 238, "move_pages": 239, "perf_event_open": 241, "fanotify_init": 262,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "setns": 268, "process_vm_readv": 270,
        "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "kexec_file_load": 294, "bpf": 280,
        "userfaultfd": 282, "lookup_dcookie": 18,
    }),
}  # fmt: skip


def known_machine() -> str | None:
    """The kind of this machine, if its numbers are known; else a strict bot goes without a filter."""
    machine = os.uname().machine
    return machine if machine in MACHINES and sys.byteorder == "little" else None


def filter_program(machine: str) -> bytes:
    """The program for this kind of machine."""
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in _instructions(MACHINES[machine]))


Instruction = tuple[int, int, int, int]


def _instructions(numbers: Numbers) -> Iterable[Instruction]:
    # A call in the manner of another machine (32 bits on 64) has other numbers: none of them is checked.
    yield (LOAD, 0, 0, MACHINE)
    yield (JUMP_EQUAL, 1, 0, numbers.machine)
    yield (RETURN, 0, 0, KILL)
    yield (LOAD, 0, 0, NUMBER)
    yield from _if(JUMP_AT_LEAST, X32, REFUSE | ENOSYS)
    for number in sorted([*numbers.refused.values(), *ALIKE.values()]):
        yield from _if(JUMP_EQUAL, number, REFUSE | EPERM)
    yield from _if(JUMP_EQUAL, CLONE3, REFUSE | ENOSYS)
    yield from _argument(numbers.clone, FIRST, _if(JUMP_ANY_BIT, NEW_NAMESPACES, REFUSE | EPERM))
    yield from _argument(numbers.unshare, FIRST, _if(JUMP_ANY_BIT, NEW_NAMESPACES | CLONE_NEWTIME, REFUSE | EPERM))
    typing = [*_if(JUMP_EQUAL, TIOCSTI, REFUSE | EPERM), *_if(JUMP_EQUAL, TIOCLINUX, REFUSE | EPERM)]
    yield from _argument(numbers.ioctl, SECOND, typing)
    families = [one for family in FAMILIES for one in _if(JUMP_EQUAL, family, ALLOW)]
    yield from _argument(numbers.socket, FIRST, [*families, (RETURN, 0, 0, REFUSE | EAFNOSUPPORT)])
    yield (RETURN, 0, 0, ALLOW)


def _if(test: int, value: int, answer: int) -> list[Instruction]:
    return [(test, 0, 1, value), (RETURN, 0, 0, answer)]


def _argument(number: int, offset: int, tests: list[Instruction]) -> list[Instruction]:
    """For this call alone: load the low half of an argument, look at it, and allow what is left."""
    body = [(LOAD, 0, 0, offset), *tests, (RETURN, 0, 0, ALLOW)]
    return [(JUMP_EQUAL, 0, len(body), number), *body]
