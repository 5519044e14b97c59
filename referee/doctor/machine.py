"""What this machine has that a sandbox can use: programs, kernel features, limits. It starts no bot."""

import ctypes
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from lastcard.referee.doctor.cage_powers import Powers, powers
from lastcard.referee.noise import cores
from lastcard.referee.runtimes import COMPILERS, INTERPRETERS
from lastcard.referee.sandbox.machine import STRICT_PACKAGES
from lastcard.referee.version import VERSION

PACKAGES = {name: STRICT_PACKAGES[name] for name in ("bwrap", "setpriv", "prlimit")}
"""What confines bots, and the Debian package that brings it."""
OTHER_RUNTIMES = ("java", "rustc", "go")
"""Programs that bots are often written for, beside those that lastcard itself starts files with."""
PROGRAM_PATIENCE = 2.0
PROC = Path("/proc")
PR_GET_CHILD_SUBREAPER = 37


class Machine(Struct, frozen=True, kw_only=True):
    """The facts."""

    lastcard: str
    python: str
    interpreter: str
    platform: str
    cores: int
    """That this process may use."""
    memory_mb: int | None
    uid: int
    programs: dict[str, str | None]
    """Their versions; None is not installed."""
    cage: Powers
    user_namespaces: str
    pressure: bool
    """The kernel tells how long tasks wait for a core (PSI)."""
    pidfd: bool
    subreaper: bool
    open_files: int
    clock_ns: int
    """The smallest step of the clock that was seen."""
    runtimes: dict[str, str | None]
    """Paths; None is not installed."""


def machine(proc: Path = PROC) -> Machine:
    """Looks now."""
    return Machine(
        lastcard=VERSION,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        interpreter=sys.executable,
        platform=platform.platform(terse=True) + " " + platform.machine(),
        cores=cores(),
        memory_mb=memory_mb(proc),
        uid=os.geteuid(),
        programs={name: version_of(name) for name in PACKAGES},
        cage=powers(),
        user_namespaces=user_namespaces(proc),
        pressure=(proc / "pressure" / "cpu").exists(),
        pidfd=has_pidfd(),
        subreaper=is_subreaper(),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        clock_ns=clock_step(),
        runtimes={name: shutil.which(name) for name in runtimes()},
    )


def runtimes() -> list[str]:
    """Names of interpreters and compilers, each once."""
    named = [programs[0] for programs in (*INTERPRETERS.values(), *COMPILERS.values())]
    return [*dict.fromkeys(name for name in named if name != sys.executable), *OTHER_RUNTIMES]


def memory_mb(proc: Path) -> int | None:
    """All memory; None where the system does not say."""
    for line in text_of(proc / "meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) >> 10
    return None


def version_of(program: str) -> str | None:
    """The last word of `PROGRAM --version`, which is the number."""
    path = shutil.which(program)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=PROGRAM_PATIENCE, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return "does not start"
    return (done.stdout.split() or ["unknown"])[-1]


def user_namespaces(proc: Path) -> str:
    """What the kernel's switches say; whether one can be made is tried by the probe."""
    system = proc / "sys"
    most = text_of(system / "user" / "max_user_namespaces").strip()
    if not most:
        return "not known here"
    if most == "0":
        return "off (user.max_user_namespaces is 0)"
    if text_of(system / "kernel" / "unprivileged_userns_clone").strip() == "0":
        return "for root only (kernel.unprivileged_userns_clone is 0)"
    if text_of(system / "kernel" / "apparmor_restrict_unprivileged_userns").strip() == "1":
        return "restricted by AppArmor (kernel.apparmor_restrict_unprivileged_userns is 1)"
    return "on"


def has_pidfd() -> bool:
    """Whether the end of a process can be waited for by a descriptor."""
    if not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def is_subreaper() -> bool:
    """Whether orphans of bots come to this process, as `hardening` has asked for."""
    answer = ctypes.c_int(0)
    try:
        return ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0) == 0 and answer.value == 1
    except (OSError, AttributeError):
        return False


def clock_step() -> int:
    """The smallest difference between two looks at the clock that decisions are measured with."""
    looks = [time.perf_counter_ns() for _ in range(2000)]
    return min((after - before for before, after in pairwise(looks) if after > before), default=0)


def text_of(path: Path) -> str:
    """A file of the kernel's, empty where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""
