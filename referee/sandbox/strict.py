"""A strict bot: bubblewrap around everything; it builds the command line and starts nothing.

Root mounts with its own eyes and gives the bot a user number; inside, new user namespaces are refused by the
filter of system calls. Anybody else has a user namespace made, in which no further one is allowed.
"""

import fcntl
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lastcard.referee.sandbox import seccomp
from lastcard.referee.sandbox.cage_limits import CageLimits
from lastcard.referee.sandbox.chain import (
    FIRST_FREE_FD,
    MIB,
    back_words,
    environment_words,
    join_words,
    limit_words,
    privilege_words,
    program,
)
from lastcard.referee.sandbox.levels import Sandbox
from lastcard.referee.sandbox.mounts import file_words
from lastcard.referee.sandbox.visible import SYSTEM, Needs, is_below

HOME = "/tmp"

ALONE = (
    *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--new-session", "--hostname", "bot", "--cap-drop", "ALL"),
)
BY_ROOT = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
BY_OTHERS = ("--unshare-user", "--disable-userns")

COUNTS_BY_NAMESPACE = (5, 14)
"""Since this Linux RLIMIT_NPROC counts the processes of one user namespace, not all that the user runs."""


def strict_words(
    needs: Needs,
    argv: Sequence[str],
    environment: Mapping[str, str],
    sandbox: Sandbox,
    cage: CageLimits | None,
    hidden: Sequence[Path],
    uid: int | None,
    status: int | None = None,
) -> tuple[tuple[str, ...], list[int]]:
    """The command line, and the descriptors that it reads from.

    To the descriptor `status` bubblewrap writes how it fares; nothing inside the sandbox has it.
    """
    options = [*ALONE, *(BY_OTHERS if uid is None else BY_ROOT)]
    options += file_words(needs.shown, hidden, sandbox.file_mb * MIB)
    options += ["--chdir", str(needs.folder or HOME)]
    if status is not None:
        options += ["--json-status-fd", str(status)]
    fds: list[int] = []
    try:
        machine = seccomp.known_machine()
        if machine is not None:
            fds.append(_readable(seccomp.filter_program(machine)))
            options += ["--seccomp", str(fds[-1])]
        fds.append(_readable(os.fsencode("\0".join(options) + "\0")))
    except OSError:
        close_all(fds)
        raise
    memory = not (cage and cage.limits_memory)
    # An ordinary user's bot may write into the memory of the bubblewrap that is the first process of its namespace,
    # being the same user: so that one has no more than the bot.
    before = limit_words(sandbox, memory=memory, processes=False) if uid is None else ()
    words = (
        *join_words(cage.joins if cage else (), aside=True),
        *before,
        *(program("bwrap"), "--args", str(fds[-1]), "--"),
        *back_words(),
        *privilege_words(uid),
        *limit_words(
            sandbox,
            memory=memory,
            processes=not (cage and cage.limits_processes) and (uid is not None or counts_by_namespace()),
        ),
        *environment_words(inner_environment(environment, needs), argv),
    )
    return words, fds


def close_all(fds: Sequence[int]) -> None:
    """Close descriptors of ours, whatever has become of them."""
    for fd in fds:
        with suppress(OSError):
            os.close(fd)


def inner_environment(environment: Mapping[str, str], needs: Needs) -> dict[str, str]:
    """The bot's, with only those folders in PATH that exist inside."""
    places = [*map(Path, SYSTEM), *needs.shown]
    folders = environment.get("PATH", os.defpath).split(":")
    kept = [folder for folder in folders if folder.startswith("/") and is_below(Path(folder), places)]
    return {**environment, "PATH": ":".join(kept) or "/usr/bin:/bin"}


def counts_by_namespace() -> bool:
    """Whether a limit of processes counts the bot's alone, though it has its user's number."""
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return found is not None and (int(found[1]), int(found[2])) >= COUNTS_BY_NAMESPACE


def _readable(data: bytes) -> int:
    """A descriptor to read this from, with a number that no shell uses."""
    fd = os.memfd_create("lastcard")
    try:
        os.write(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD)
    finally:
        os.close(fd)
