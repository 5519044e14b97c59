"""How the tests run something in a sandbox: as who they are, or as an ordinary user; it knows no attempt."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.sandbox import machine
from lastcard.referee.sandbox.cage_limits import CageLimits
from lastcard.referee.sandbox.launch import Launch, launch_of
from lastcard.referee.sandbox.levels import Level, Sandbox

PYTHON = "/usr/bin/python3"
"""Not ours: that may lie where an ordinary user cannot go."""
FAST = (PYTHON, "-S", "-E", "-I")

NOBODY = 65534
AS_NOBODY = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")

NONE, BASIC, STRICT = Level.NONE, Level.BASIC, Level.STRICT

ENVIRONMENT = {
    "PATH": "/no/such/folder:/usr/local/bin:/usr/bin:/bin",
    "HOME": "/no/home",
    "LANG": "C.UTF-8",
    "LASTCARD_SEAT": "1",
    "LASTCARD_MATCH": "m1",
}


class FakeCage(NamedTuple):
    """A cage whose files are the test's own."""

    joins: tuple[str, ...]
    limits_memory: bool = False
    limits_processes: bool = False


class Done(NamedTuple):
    """What came of a bot."""

    code: int
    out: str
    err: str
    launch: Launch


class Run(NamedTuple):
    """One bot while it runs."""

    child: "subprocess.Popen[bytes]"
    launch: Launch


@contextmanager
def ordinary(patch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    """Inside, command lines are made for an ordinary user; the words make whoever we are one."""
    with patch.context() as patched:
        patched.setattr(machine, "is_root", lambda: False)
        patched.setattr("lastcard.referee.sandbox.launch.is_root", lambda: False)
        patched.setattr("lastcard.referee.sandbox.objections.is_root", lambda: False)
        machine.missing.cache_clear()
        yield AS_NOBODY if os.geteuid() == 0 else ()
    machine.missing.cache_clear()


@contextmanager
def running(
    argv: Sequence[str],
    sandbox: Sandbox,
    *,
    cwd: Path | None = None,
    hidden: Sequence[Path] = (),
    cage: CageLimits | None = None,
    environment: Mapping[str, str] = ENVIRONMENT,
    front: Sequence[str] = (),
) -> Iterator[Run]:
    """The bot with three pipes; in the end it is killed and all is given back."""
    launch = launch_of(BotCommand("bot", tuple(argv), cwd=cwd), sandbox, environment, cage, hidden)
    try:
        child = subprocess.Popen(
            (*front, *launch.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=launch.env,
            cwd=launch.cwd,
            pass_fds=launch.pass_fds,
            start_new_session=True,
            bufsize=0,
        )
        launch.started()
        try:
            yield Run(child, launch)
        finally:
            child.kill()
            child.communicate(timeout=30)
    finally:
        launch.started()
        launch.release()


def done(
    argv: Sequence[str],
    sandbox: Sandbox,
    *,
    stdin: bytes = b"",
    cwd: Path | None = None,
    hidden: Sequence[Path] = (),
    cage: CageLimits | None = None,
    environment: Mapping[str, str] = ENVIRONMENT,
    front: Sequence[str] = (),
) -> Done:
    """Run it to its end."""
    with running(argv, sandbox, cwd=cwd, hidden=hidden, cage=cage, environment=environment, front=front) as run:
        out, err = run.child.communicate(stdin, timeout=120)
        return Done(run.child.returncode, out.decode(), err.decode(), run.launch)
