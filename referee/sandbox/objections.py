"""Whether a bot's files can be used at a level, asked from inside and before anything is started."""

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.sandbox.chain import privilege_words, program
from lastcard.referee.sandbox.clearing import clearing_words
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.sandbox.machine import is_root
from lastcard.referee.sandbox.strict import close_all, strict_words
from lastcard.referee.sandbox.trial import Outcome, look_words, try_out
from lastcard.referee.sandbox.uids import NoUid, reserve
from lastcard.referee.sandbox.visible import NEVER, SHARED, Needs, holds_home, is_below, is_wide, is_within, needs_of


def objection(command: BotCommand, sandbox: Sandbox, hidden: Sequence[Path]) -> str | None:
    """Half a sentence about the first thing that is wrong, or None."""
    environment = _searched(command)
    needs = needs_of(command, environment, sandbox.read)
    if needs is None or not needs.program.exists():
        return f"there is no program {command.argv[0]!r}"
    if sandbox.level is not Level.STRICT:
        return None
    return (
        _unsuitable_folder(command)
        or _unsuitable_read(command, sandbox)
        or _hidden_need(needs, hidden)
        or _seen_from_inside(needs, sandbox, environment, hidden)
    )


def _searched(command: BotCommand) -> Mapping[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), **command.env}


def _unsuitable_folder(command: BotCommand) -> str | None:
    cwd = command.cwd
    if cwd is None:
        return None
    if not cwd.is_dir():
        return f"there is no folder {str(cwd)!r}"
    if holds_home(cwd):
        what = "your home folder" if cwd.resolve() == Path.home().resolve() else f"{str(cwd)!r}, which holds your home"
        return f"the bot lies in {what}, which a strict bot may not see: put it into a folder of its own"
    if is_wide(cwd) and cwd.resolve() not in SHARED:
        return f"the bot lies in {str(cwd)!r}, which a strict bot may not see: put it into a folder of its own"
    return None


def _unsuitable_read(command: BotCommand, sandbox: Sandbox) -> str | None:
    for word in sandbox.read:
        path = (command.cwd or Path.cwd()) / word
        if not path.exists():
            return f"it may read {word!r}, but there is nothing of that name"
        if holds_home(path) or path.resolve() in (*SHARED, Path("/")) or is_below(path.resolve(), NEVER):
            return f"it may read {word!r}, which is too much: name what is needed in it"
    return None


def _hidden_need(needs: Needs, hidden: Sequence[Path]) -> str | None:
    for path in (*needs.runs, *needs.reads):
        for place in hidden:
            if is_within(path, place):
                return f"it needs {str(path)!r}, but {str(place)!r} is hidden from all bots"
    return None


def _seen_from_inside(
    needs: Needs, sandbox: Sandbox, environment: Mapping[str, str], hidden: Sequence[Path]
) -> str | None:
    look = look_words(needs.runs, [path for path in needs.reads if path != needs.folder], _entered(needs))
    with ExitStack() as stack:
        try:
            reservation = reserve() if is_root() else None
            if reservation:
                stack.callback(reservation.release)
            uid = reservation.uid if reservation else None
            words, fds = strict_words(needs, look, environment, sandbox, None, hidden, uid)
        except NoUid as error:
            return str(error)
        except OSError as error:
            return os.strerror(error.errno) if error.errno else str(error)
        stack.callback(close_all, fds)
        return _explained(try_out(words, fds))


def _entered(needs: Needs) -> tuple[Path, ...]:
    return (needs.folder,) if needs.folder else ()


def _explained(outcome: Outcome) -> str | None:
    if outcome.worked:
        return None
    if outcome.missed is None:
        return f"the sandbox does not start with its files ({outcome.complaint})"
    remedy = "name it in read = [...]"
    if outcome.missed.is_symlink():
        remedy = "name what this link leads to in read = [...]"
    elif is_root():
        remedy = "bots run as users of their own: chmod -R o+rX"
    return f"a strict bot may not use {str(outcome.missed)!r}{_mode(outcome.missed)}; {remedy}"


def _mode(path: Path) -> str:
    try:
        return f" (mode {stat.S_IMODE(path.stat().st_mode):04o})"
    except OSError:
        return ""


@lru_cache(maxsize=256)
def way_for_uid(needs: Needs, folder: Path) -> tuple[str, ...] | None:
    """The words by which a user number of its own gets to the bot's files; None if there is no way.

    Tried as such a user: first just so, then with a clearing.
    """
    try:
        reservation = reserve()
    except NoUid:
        return ()  # the start itself will say so
    try:
        look = look_words(needs.runs, needs.reads, _entered(needs))
        seen = (*privilege_words(reservation.uid), program("env"), "-i", *look)
        ways = [(), clearing_words(needs.shown, folder)]
        return next((way for way in ways if try_out((*way, *seen)).worked), None)
    finally:
        reservation.release()
