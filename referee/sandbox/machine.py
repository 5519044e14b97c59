"""What this machine can give: each level is really tried, once, and what is missing gets a name.

It knows the Debian packages and the settings of the kernel that stand in the way; it knows no bot.
"""

import os
import shutil
import sys
from functools import cache
from pathlib import Path

from lastcard.referee.sandbox.basic import basic_words
from lastcard.referee.sandbox.chain import TRUSTED, program
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.sandbox.strict import close_all, strict_words
from lastcard.referee.sandbox.trial import Outcome, look_words, try_out
from lastcard.referee.sandbox.uids import NoUid, reserve
from lastcard.referee.sandbox.visible import Needs

PACKAGES = {"setpriv": "util-linux", "prlimit": "util-linux", "env": "coreutils", "sh": "dash"}
STRICT_PACKAGES = {**PACKAGES, "bwrap": "bubblewrap"}

# Settings that forbid what an ordinary user's bubblewrap needs: file, bad value, and what to say.
SETTINGS = (
    ("kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
    ("user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"),
)


def is_root() -> bool:
    """Whether bots can be given users of their own."""
    return os.geteuid() == 0


@cache
def missing(level: Level) -> str | None:
    """Half a sentence about why this machine cannot give the level, or None. The first call takes some time."""
    if level is Level.NONE:
        return None
    if sys.platform != "linux":
        return f"the level {level} needs Linux"
    for name, package in (STRICT_PACKAGES if level is Level.STRICT else PACKAGES).items():
        if not shutil.which(program(name)):
            return f"the program {name} is missing (Debian: apt-get install {package})"
    outcome = _tried(level)
    return None if outcome.worked else _why(level, outcome)


def _tried(level: Level) -> Outcome:
    shell = Path("/bin/sh")
    look, sandbox = look_words([shell], ()), Sandbox(level=level)
    environment = {"PATH": TRUSTED}
    try:
        reservation = reserve() if is_root() else None
    except NoUid as error:
        return Outcome(False, None, str(error))
    uid = reservation.uid if reservation else None
    fds: list[int] = []
    try:
        if level is Level.STRICT:
            needs = Needs(shell, (shell,), (), (), None)
            words, fds = strict_words(needs, look, environment, sandbox, None, (), uid)
        else:
            words = basic_words(look, environment, sandbox, None, uid=uid, root=is_root())
        return try_out(words, fds)
    except OSError as error:
        return Outcome(False, None, os.strerror(error.errno) if error.errno else str(error))
    finally:
        close_all(fds)
        if reservation:
            reservation.release()


def _why(level: Level, outcome: Outcome) -> str:
    if "nknown option" in outcome.complaint:
        return f"bubblewrap is older than 0.8 ({outcome.complaint})"
    if level is Level.STRICT and not is_root():
        for file, bad, remedy in SETTINGS:
            if _setting(file) == bad:
                return f"user namespaces are switched off for ordinary users ({remedy})"
    return f"the level {level} does not work on this machine ({outcome.complaint})"


def _setting(file: str) -> str | None:
    try:
        return (Path("/proc/sys") / file).read_text().strip()
    except OSError:
        return None
