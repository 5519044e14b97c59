"""The probe: a bot that tries what a hostile bot would try, and says line by line what it could do.

It is run as a program, inside a sandbox or without one; it imports nothing of ours and believes nothing that it
cannot show. One JSON line on standard input says what to do, see `main`. What was laid out for it (files,
sockets, secrets in memory) is the bait, see `bait.py`; a secret that it has got hold of is its `proof`.
"""

import errno
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

Bait = dict[str, Any]

SECRET = 32
"""The length of every secret."""
DAEMON_LIFE = 10
"""Seconds after which a process that was left behind ends by itself."""
CPU_PATIENCE = 6
CLONE_NEWUSER = 0x10000000
PTRACE_PEEKDATA, PTRACE_ATTACH, PTRACE_DETACH = 2, 16, 17
NO_ANSWER = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSYS})
"""Errors that say nothing about being allowed. (A seccomp filter may answer ENOSYS: see `new_user_namespace`.)"""


class Attempt(NamedTuple):
    """What came of one row."""

    could: "bool | None"
    """None: it could not be tried."""
    detail: str = ""
    proof: str = ""


def refused(error: OSError) -> Attempt:
    """The system's answer as the outcome."""
    return Attempt(None if error.errno in NO_ANSWER else False, error.strerror or str(error))


# ---- files


def content(path: str) -> Attempt:
    """Read a file's beginning."""
    with open(path, "rb") as file:
        data = file.read(SECRET)
    return Attempt(bool(data), "" if data else "is empty", data.decode("ascii", "replace"))


def left_file(folder: str, bait: Bait) -> Attempt:
    """Write a file and leave it for whoever looks."""
    path = os.path.join(folder, bait["mark"])
    with open(path, "w") as file:
        file.write(bait["mark"])
    return Attempt(True)


def use_tmp(bait: Bait) -> Attempt:
    """Write into /tmp and read it again."""
    path = f"/tmp/{bait['mark']}-own"
    with open(path, "w") as file:
        file.write("x" * 1000)
    size = os.path.getsize(path)
    os.unlink(path)
    return Attempt(size == 1000, f"{size} bytes")


def large_file(bait: Bait) -> Attempt:
    """One file larger than the limit."""
    return written(bait, files=1, size=(bait["file_mb"] << 20) + (1 << 16))


def full_tmp(bait: Bait) -> Attempt:
    """Files that are each within the limit, and together twice as large."""
    return written(bait, files=4, size=bait["file_mb"] << 19)


def written(bait: Bait, files: int, size: int) -> Attempt:
    """Whether so many files of that size can be written into /tmp. They are removed again."""
    block, total, reason = b"x" * (1 << 16), 0, ""
    paths = [f"/tmp/{bait['mark']}-{number}" for number in range(files)]
    try:
        for path in paths:
            with open(path, "wb", buffering=0) as file:
                for _ in range(size // len(block)):
                    total += file.write(block)
    except OSError as error:
        if error.errno not in (errno.EFBIG, errno.ENOSPC, errno.EDQUOT):
            return Attempt(None, error.strerror or str(error))
        reason = f", then {error.strerror}"
    finally:
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)
    return Attempt(total >= files * size, f"{total >> 10} KiB{reason}")


# ---- the network


def stream(family: int, address: "str | tuple[str, int]", bait: Bait) -> Attempt:
    """Connect, and say who was here."""
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(2)
        sock.connect(address)
        sock.sendall(bait["mark"].encode())
    return Attempt(True)


def datagram(bait: Bait) -> Attempt:
    """Send one packet to a socket of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(bait["mark"].encode(), ("127.0.0.1", bait["udp_port"]))
    return Attempt(True)


def route(_: Bait) -> Attempt:
    """Whether there is a way outwards, as name servers need it. Nothing is sent: it only asks for the way."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("192.0.2.1", 53))
    return Attempt(True)


# ---- other processes


def signal_referee(bait: Bait) -> Attempt:
    """SIGURG, which does nothing to whoever does not wait for it."""
    os.kill(bait["referee"]["pid"], signal.SIGURG)
    return Attempt(True)


def see_referee(bait: Bait) -> Attempt:
    """Its start time, which a process that happens to have the same number here does not have."""
    with open(f"/proc/{bait['referee']['pid']}/stat") as file:
        started = file.read().rpartition(")")[2].split()[19]
    others = sum(name.isdigit() for name in os.listdir("/proc"))
    return Attempt(True, f"{others} processes", started)


def referee_environment(bait: Bait) -> Attempt:
    """The environment with which the referee was started."""
    if see_referee(bait).proof != bait["referee"]["started"]:
        return Attempt(False, "is not visible")
    with open(f"/proc/{bait['referee']['pid']}/environ", "rb") as file:
        size = len(file.read())
    return Attempt(True, f"{size} bytes")


def memory_of(pid: int, address: int) -> str:
    """A secret out of another process."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
        file.seek(address)
        return file.read(SECRET).decode("ascii", "replace")


def referee_memory(bait: Bait) -> Attempt:
    """The secret that the referee holds in memory."""
    return Attempt(True, "", memory_of(bait["referee"]["pid"], bait["referee"]["address"]))


def referee_files(bait: Bait) -> Attempt:
    """A file that has no name any more, and that the referee holds open."""
    return content(f"/proc/{bait['referee']['pid']}/fd/{bait['referee']['fd']}")


def of_sibling(bait: Bait, take: "Callable[[int, int], str]") -> Attempt:
    """What each of the other bot's processes gives: all but one are its wrappers."""
    last, proofs = Attempt(None, "there is no other bot"), list[str]()
    for pid in bait["sibling"]["pids"]:
        last = tried(partial(sighted, take, pid, bait["sibling"]["address"]))
        proofs.append(last.proof)
    return Attempt(True, "", " ".join(proofs)) if any(proofs) else last


def sighted(take: "Callable[[int, int], str]", pid: int, address: int) -> Attempt:
    """What one process gives."""
    return Attempt(True, "", take(pid, address))


def traced(pid: int, address: int) -> str:
    """Attach, read, detach."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    if libc.ptrace(PTRACE_ATTACH, pid, None, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    try:
        os.waitpid(pid, 0)
        word = struct.calcsize("@l")
        places = range(address, address + SECRET, word)
        data = b"".join(struct.pack("@l", libc.ptrace(PTRACE_PEEKDATA, pid, place, None)) for place in places)
    finally:
        libc.ptrace(PTRACE_DETACH, pid, None, None)
    return data.decode("ascii", "replace")


# ---- itself


def new_user_namespace(_: Bait) -> Attempt:
    """A namespace in which it would be root: much of the kernel opens up there."""

    def unshare() -> Attempt:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWUSER) == 0:
            return Attempt(True)
        return Attempt(False, os.strerror(ctypes.get_errno()))

    return in_child(unshare)


def status_of(field: str) -> str:
    """A line of the kernel's account of this process."""
    with open("/proc/self/status") as file:
        found = [line.split()[1] for line in file if line.startswith(f"{field}:")]
    return found[0] if found else ""


def capabilities(_: Bait) -> Attempt:
    """Any of root's powers."""
    held = {field: status_of(field) for field in ("CapEff", "CapPrm", "CapInh", "CapAmb")}
    if not held["CapEff"]:
        return Attempt(None, "/proc/self/status has no such field")
    strong = [f"{field} {value}" for field, value in held.items() if int(value, 16)]
    return Attempt(bool(strong), ", ".join(strong))


def new_privileges(_: Bait) -> Attempt:
    """Whether a set-uid program would still give it another user's rights."""
    value = status_of("NoNewPrivs")
    return Attempt(value == "0" if value else None, f"no_new_privs {value or 'unknown'}")


def descriptors(_: Bait) -> Attempt:
    """Open files beyond the three that it should have."""
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    extra: list[str] = []
    for name in os.listdir(folder):
        try:
            if int(name) > 2:
                extra.append(f"{name} ({os.readlink(os.path.join(folder, name))})")
        except OSError:
            continue  # that of the listing itself
    return Attempt(bool(extra), ", ".join(extra))


def variables(bait: Bait) -> Attempt:
    """Environment variables beyond those that every bot gets."""
    extra = sorted(set(os.environ) - set(bait["allowed"]))
    return Attempt(bool(extra), ", ".join(extra))


def raise_limits(_: Bait) -> Attempt:
    """Take away a limit that was set for it."""

    def unlimited() -> Attempt:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except ValueError as error:  # so Python calls it
            return Attempt(False, str(error))
        return Attempt(True)

    return in_child(unlimited)


def leave_cage(bait: Bait) -> Attempt:
    """Move to the cgroup above its own, where no limit of its holds and nobody looks for it."""

    def leave() -> Attempt:
        last = Attempt(None, "it has no cgroup of its own")
        for folder in bait["cages"]:
            last = tried(partial(join, folder))
            if last.could:
                break
        return last

    return in_child(leave)


def join(folder: str) -> Attempt:
    """This process, which the kernel calls 0."""
    fd = os.open(os.path.join(folder, "cgroup.procs"), os.O_WRONLY)
    os.write(fd, b"0")
    return Attempt(True, folder)


def terminal(_: Bait) -> Attempt:
    """The terminal at which the referee was started."""
    os.close(os.open("/dev/tty", os.O_RDWR))
    return Attempt(True)


def too_many_processes(bait: Bait) -> Attempt:
    """Some more than the limit, all at once."""
    wanted, children, reason = bait["processes"] + 16, list[int](), ""
    waiting, release = os.pipe()
    try:
        while len(children) < wanted:
            child = os.fork()
            if child == 0:
                wait_for_release(waiting, release)
            children.append(child)
    except OSError as error:
        reason = f", then {error.strerror}"
    os.close(release)
    for child in children:
        os.waitpid(child, 0)
    os.close(waiting)
    return Attempt(len(children) > bait["processes"], f"{len(children)} processes{reason}")


def wait_for_release(waiting: int, release: int) -> None:
    """All that one of the many does."""
    try:
        os.close(release)
        os.read(waiting, 1)
    finally:
        os._exit(0)


def too_much_memory(bait: Bait) -> Attempt:
    """Half as much again as the limit, every page of it touched."""
    kept, step = list[bytearray](), 8
    wanted = bait["memory_mb"] * 3 // 2
    try:
        while len(kept) * step < wanted:
            kept.append(bytearray(b"x") * (step << 20))
    except MemoryError:
        return Attempt(False, f"{len(kept) * step} MB, then no more")
    return Attempt(True, f"{len(kept) * step} MB")


def too_much_cpu(bait: Bait) -> Attempt:
    """Compute for longer than the limit."""
    begun = time.monotonic()
    while time.process_time() < bait["cpu_s"] + 0.6:
        sum(range(20000))
        if time.monotonic() - begun > CPU_PATIENCE:
            return Attempt(None, f"the machine is too busy: {time.process_time():.1f} s in {CPU_PATIENCE} s")
    return Attempt(True, f"{time.process_time():.1f} s")


def outlive(bait: Bait) -> Attempt:
    """Leave a process behind that has nothing in common with this one but its user."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        daemon(bait, tell)
    os.close(tell)
    os.waitpid(child, 0)
    lives = os.read(ready, 1) != b""
    os.close(ready)
    return Attempt(True if lives else None, "" if lives else "no such process could be started")


def daemon(bait: Bait, tell: int) -> None:
    """Two forks and two sessions away, deaf to signals; it holds a lock, by which it is known to live."""
    try:
        os.setsid()
        if os.fork():
            return
        os.setsid()
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        lock = os.open(bait["lock"], os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(tell, b"1")
        for fd in (0, 1, 2, tell):
            os.close(fd)
        time.sleep(DAEMON_LIFE)
    finally:
        os._exit(0)


def in_child(attempt: "Callable[[], Attempt]") -> Attempt:
    """Try it in a process of its own, whose end harms nothing."""
    answer, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(tell, json.dumps(tried(attempt)).encode())
        finally:
            os._exit(0)
    os.close(tell)
    with open(answer, "rb") as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    if not said:
        return Attempt(False, f"ended with {os.waitstatus_to_exitcode(status)}")
    return Attempt(*json.loads(said))


def tried(attempt: "Callable[[], Attempt]") -> Attempt:
    """The outcome, whatever happens. A fault of this program is no outcome."""
    try:
        return attempt()
    except OSError as error:
        return refused(error)
    except Exception as error:
        return Attempt(None, f"{type(error).__name__}: {error}")


ATTEMPTS: "dict[str, Callable[[Bait], Attempt]]" = {
    "private-file": lambda bait: content(bait["private"]),
    "shared-file": lambda bait: content(bait["shared"]),
    "hidden-file": lambda bait: content(bait["hidden"]),
    "passwd": lambda _: content("/etc/passwd"),
    "own-folder": lambda bait: left_file(bait["folder"], bait),
    "tmp": use_tmp,
    "tmp-seen": lambda bait: left_file("/tmp", bait),
    "tcp": lambda bait: stream(socket.AF_INET, ("127.0.0.1", bait["tcp_port"]), bait),
    "udp": datagram,
    "route": route,
    "unix-abstract": lambda bait: stream(socket.AF_UNIX, f"\0{bait['abstract']}", bait),
    "unix-path": lambda bait: stream(socket.AF_UNIX, bait["socket"], bait),
    "signal": signal_referee,
    "see-processes": see_referee,
    "referee-environ": referee_environment,
    "referee-memory": referee_memory,
    "referee-files": referee_files,
    "bot-memory": lambda bait: of_sibling(bait, memory_of),
    "bot-trace": lambda bait: in_child(lambda: of_sibling(bait, traced)),
    "user-namespace": new_user_namespace,
    "capabilities": capabilities,
    "new-privileges": new_privileges,
    "descriptors": descriptors,
    "environment": variables,
    "terminal": terminal,
    "child": lambda _: in_child(lambda: Attempt(True)),
    "raise-limits": raise_limits,
    "leave-cage": leave_cage,
    "processes": too_many_processes,
    "large-file": large_file,
    "full-tmp": full_tmp,
    "memory": too_much_memory,
    "cpu": too_much_cpu,
    "outlive": outlive,
}


# ---- the conversation


def say(**fields: object) -> None:
    """One line."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def hold(secret: str) -> None:
    """Be the other bot: keep a secret in memory until the input ends, and say where it lies."""
    import ctypes

    kept = ctypes.create_string_buffer(secret.encode())
    say(address=ctypes.addressof(kept))
    sys.stdin.read()


def main() -> None:
    """`echo`: every line comes back. `hold`: see there. `try`: a line before and a line after each of `rows`."""
    task = json.loads(sys.stdin.readline())
    say(uid=os.getuid(), python=sys.version.split()[0])
    if task["do"] == "echo":
        for line in sys.stdin:
            sys.stdout.write(line)
            sys.stdout.flush()
    elif task["do"] == "hold":
        hold(task["secret"])
    else:
        for row in task["rows"]:
            say(trying=row)
            outcome = tried(partial(ATTEMPTS[row], task["bait"]))
            say(row=row, **outcome._asdict())
        say(done=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
