"""A bot that tries what a hostile one would try and prints what came of it; it imports nothing of ours.

Its only argument is a JSON object of targets. It prints one JSON object: for each attempt "yes" if it worked,
else why not, or a number.
"""

import contextlib
import ctypes
import json
import mmap
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

T = json.loads(sys.argv[1])
LIBC = ctypes.CDLL(None, use_errno=True)
MIB = 1024 * 1024

CLONE_NEWUSER = 0x10000000
PTRACE_TRACEME = 0
NULL = ctypes.c_void_p(None)


def checked(answer: int) -> None:
    """Raise what a C function reports by a negative number."""
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def read(path: str, size: int = 64) -> str:
    with open(path, "rb") as file:
        return "yes" if file.read(size) else "nothing in it"


def write(path: str) -> str:
    with open(path, "x") as file:
        file.write("was here")
    return "yes"


def send(family: int, address: Any) -> str:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        client.connect(address)
    return "yes"


def vsock() -> str:
    socket.socket(socket.AF_VSOCK).close()
    return "yes"


def environ() -> str:
    return read(f"/proc/{T['referee']}/environ")


def memory() -> str:
    start = int(T["address"].partition("-")[0], 16)
    with open(f"/proc/{T['referee']}/mem", "rb") as file:
        file.seek(start)
        return "yes" if file.read(16) else "nothing in it"


def signals() -> str:
    os.kill(T["referee"], 0)
    return "yes"


def processes() -> int:
    """How many there are beside this one, its own sandbox and its own children."""
    return sum(1 for name in os.listdir("/proc") if name.isdecimal() and int(name) not in {1, os.getpid()})


def in_child(act: Callable[[], None]) -> str:
    """What becomes of a process that does this."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            act()
            code = 0
        except OSError as error:
            code = (error.errno or 0) + 100
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return "yes" if status == 0 else os.strerror(status - 100) if status > 100 else f"ended by {status}"


def user_namespace() -> None:
    checked(LIBC.unshare(CLONE_NEWUSER))


def trace_me() -> None:
    checked(LIBC.ptrace(PTRACE_TRACEME, 0, NULL, NULL))


def mount() -> None:
    checked(LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None))


def call(number: int) -> Callable[[], None]:
    """A system call with arguments that make no sense: only whether it is refused as such matters."""
    return lambda: checked(LIBC.syscall(number, 0, 0, 0, 0, 0))


def descriptors() -> list[int]:
    found = []
    for fd in range(64):
        with contextlib.suppress(OSError):
            os.fstat(fd)
            found.append(fd)
    return found


def forks() -> int:
    children: list[int] = []
    try:
        while len(children) < 300:
            pid = os.fork()
            if not pid:
                signal.pause()
            children.append(pid)
    except OSError:
        pass
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)
    return len(children)


def allocate() -> str:
    """Writable memory of one's own, not touched: a limit of data refuses it, and nothing is used up."""
    mmap.mmap(-1, 2048 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    return "yes"


def fill(paths: list[str], most: int) -> int:
    """How many MiB can be written into these files, so many each."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    written = 0
    for path in paths:
        try:
            with open(path, "wb", buffering=0) as file:
                for _ in range(most):
                    written += file.write(b"x" * MIB) // MIB
        except OSError:
            pass
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return written


def burn() -> None:
    signal.alarm(60)  # for a limit that does not work
    while True:
        pass


def terminal() -> str:
    os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    return "yes"


def raise_limit() -> str:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "yes"


TMP = f"/tmp/{T['mark']}-tmp"
ATTEMPTS: dict[str, Callable[[], object]] = {
    "read its own file": lambda: read("own.txt"),
    "read a hidden file": lambda: read("hidden.log"),
    "read in a hidden folder": lambda: read("cup/seed"),
    "list a hidden folder": lambda: "yes" if os.listdir("cup") else "nothing in it",
    "read a foreign file of mode 0644": lambda: read(T["foreign"] + "/open"),
    "read a foreign file of mode 0600": lambda: read(T["foreign"] + "/closed"),
    "read what it may": lambda: read(T["granted"] + "/book"),
    "read /etc/passwd": lambda: read("/etc/passwd"),
    "write to its folder": lambda: write(T["mark"]),
    "write to /tmp": lambda: write(TMP),
    "write to /": lambda: write(f"/{T['mark']}") if T["confined"] else "not tried",
    "write to /dev": lambda: write(f"/dev/{T['mark']}") if T["confined"] else "not tried",
    "reach a TCP listener": lambda: send(socket.AF_INET, ("127.0.0.1", T["port"])),
    "reach an abstract socket": lambda: send(socket.AF_UNIX, "\0" + T["mark"]),
    "reach a socket by path": lambda: send(socket.AF_UNIX, T["foreign"] + "/socket"),
    "signal the referee": signals,
    "read the referee's environment": environ,
    "read the referee's memory": memory,
    "see other processes": processes,
    "make a user namespace": lambda: in_child(user_namespace),
    "be traced": lambda: in_child(trace_me),
    "mount": lambda: in_child(mount) if T["confined"] else "not tried",
    "call clone3": lambda: in_child(call(435)),
    "make a vsock socket": vsock,
    "call io_uring_setup": lambda: in_child(call(425)),
    "open descriptors": descriptors,
    "fork 300 processes": forks,
    "allocate 2 GiB": allocate,
    "write a file of 100 MiB": lambda: fill([TMP + "-large"], 100),
    "write four files of 12 MiB": lambda: fill([f"{TMP}-{number}" for number in range(4)], 12),
    "fill /dev/shm": lambda: fill([f"/dev/shm/{T['mark']}-{number}" for number in range(4)], 12),
    "burn CPU": lambda: in_child(burn) if T["confined"] else "not tried",
    "open the terminal": terminal,
    "raise a limit": raise_limit,
}


def main() -> None:
    results: dict[str, object] = {}
    for name, attempt in ATTEMPTS.items():
        try:
            results[name] = attempt()
        except OSError as error:
            results[name] = error.strerror
        except ValueError as error:  # so Python puts a refused limit
            results[name] = str(error)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
