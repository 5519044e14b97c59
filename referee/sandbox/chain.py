"""The words in front of a bot's own command that make it what a level promises; it knows no level and no path.

A chain is one command line in which every program ends by becoming the next: `sh` joins the cage, `setpriv`
takes privileges away, `prlimit` sets limits, `env` puts the bot's environment on, and then the bot itself
runs under the number of the first. The environment comes last because a bot's file may declare a variable
like LD_PRELOAD, which must mean nothing to the programs that still have privileges.
"""

import resource
import shutil
from collections.abc import Mapping, Sequence

from lastcard.referee.sandbox.levels import Sandbox

TRUSTED = "/usr/bin:/bin:/usr/sbin:/sbin"

PLAIN = {"PATH": TRUSTED, "LC_ALL": "C"}
"""The environment of every program of a chain but the bot."""

MIB = 1024 * 1024
OPEN_FILES = 256

JOIN = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1" || exit 125; shift; n=$((n - 1)); done; '
GO = 'exec "$@"'
ASIDE = " 3<&0 4>&1 </dev/null >/dev/null"
BACK = " <&3 >&4 3<&- 4>&-"

FIRST_FREE_FD = 20
"""For what a program further on reads or writes: the shell in front of it uses those with one digit."""


def program(name: str) -> str:
    """Where a program of the chain is: where Debian puts it, not where somebody's PATH has another."""
    return shutil.which(name, path=TRUSTED) or shutil.which(name) or name


def join_words(joins: Sequence[str], *, aside: bool = False) -> tuple[str, ...]:
    """Join these cgroups first; `aside` moves stdin and stdout to the descriptors 3 and 4.

    bubblewrap keeps a process of its own beside the bot, which would hold 0 and 1 open: the referee could
    not notice that the bot has closed its own.
    """
    if not joins and not aside:
        return ()
    return (program("sh"), "-c", JOIN + GO + (ASIDE if aside else ""), "sh", str(len(joins)), *joins)


def back_words() -> tuple[str, ...]:
    """The counterpart of `aside`."""
    return (program("sh"), "-c", GO + BACK, "sh")


def privilege_words(uid: int | None) -> tuple[str, ...]:
    """No program may give privileges again; with a uid (for root) the present ones go too."""
    if uid is None:
        return (program("setpriv"), "--no-new-privs")
    return (program("setpriv"), "--reuid", str(uid), "--regid", str(uid), "--clear-groups", *_powerless())


def powerless_words() -> tuple[str, ...]:
    """Root, but without any of its capabilities."""
    return (program("setpriv"), *_powerless())


def _powerless() -> tuple[str, ...]:
    return ("--bounding-set", "-all", "--inh-caps", "-all", "--ambient-caps", "-all", "--no-new-privs")


def limit_words(sandbox: Sandbox, *, memory: bool, processes: bool) -> tuple[str, ...]:
    """The limits of a process; memory and number of processes only where no cage has them.

    RLIMIT_AS would be the stricter limit of memory, but node reserves more than a gigabyte of addresses and
    java more than four just to start.
    """
    limits = [
        _limit("core", resource.RLIMIT_CORE, 0),
        _limit("nofile", resource.RLIMIT_NOFILE, OPEN_FILES),
        _limit("fsize", resource.RLIMIT_FSIZE, sandbox.file_mb * MIB),
        # SIGXCPU says which limit it was; a second later SIGKILL ends whoever ignores it.
        _limit("cpu", resource.RLIMIT_CPU, sandbox.cpu_s, sandbox.cpu_s + 1),
    ]
    if memory:
        limits.append(_limit("data", resource.RLIMIT_DATA, sandbox.memory_mb * MIB))
    if processes:
        limits.append(_limit("nproc", resource.RLIMIT_NPROC, sandbox.processes))
    return (program("prlimit"), *limits)


def _limit(name: str, number: int, soft: int, hard: int | None = None) -> str:
    # Asking for more than we have is an error, also of limits that somebody has set for us.
    ours = resource.getrlimit(number)[1]
    hard = soft if hard is None else hard
    if ours != resource.RLIM_INFINITY:
        soft, hard = min(soft, ours), min(hard, ours)
    return f"--{name}={soft}:{hard}"


def environment_words(environment: Mapping[str, str], argv: Sequence[str]) -> tuple[str, ...]:
    """This environment and no other, then the bot's command."""
    words = (program("env"), "-i", "--", *(f"{name}={value}" for name, value in environment.items()))
    # `env` takes a path with "=" for one more variable.
    dash = (program("sh"), "-c", 'exec "$0" "$@"') if "=" in argv[0] else ()
    return (*words, *dash, *argv)
