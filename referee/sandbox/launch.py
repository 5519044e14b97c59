"""How one bot is started at a level: all that `Popen` needs, and what can be said against it before."""

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.sandbox.basic import basic_words, caged_words
from lastcard.referee.sandbox.cage_limits import CageLimits
from lastcard.referee.sandbox.chain import PLAIN
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.sandbox.machine import is_root, missing
from lastcard.referee.sandbox.objections import objection, way_for_uid
from lastcard.referee.sandbox.status import Status
from lastcard.referee.sandbox.strict import HOME, close_all, strict_words
from lastcard.referee.sandbox.uids import NoUid, Reservation, reserve
from lastcard.referee.sandbox.visible import Needs, needs_of
from lastcard.referee.start_error import StartError, refused


@dataclass(frozen=True, kw_only=True)
class Launch:
    """All that `Popen` needs for one start. Call `started` after it, and `release` after the bot's end."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: Path | None = None
    pass_fds: tuple[int, ...] = ()
    wrapped: bool = False
    """An exit status of 128+N means that the bot was killed by signal N."""
    description: str = "none"
    """For the log: "strict, uid 60601", "basic, own uid"."""
    uid: Reservation | None = None
    open_fds: list[int] = field(default_factory=list[int])
    status: Status | None = None
    """What bubblewrap says about itself, at the level strict."""

    def started(self) -> None:
        """Close what only the start needed, whether it succeeded or not."""
        close_all(self.open_fds)
        self.open_fds.clear()

    def release(self) -> None:
        """Give the uid back: nothing of the bot lives any more."""
        if self.uid is not None:
            self.uid.release()
        if self.status is not None:
            self.status.close()


def launch_of(
    command: BotCommand,
    sandbox: Sandbox,
    environment: Mapping[str, str],
    cage: CageLimits | None,
    hidden: Sequence[Path],
) -> Launch:
    """How to start it. Raises StartError."""
    if sandbox.level is Level.NONE and cage is None:
        return Launch(argv=command.argv, env=dict(environment), cwd=command.cwd)
    why = missing(sandbox.level)
    if why is not None:
        raise StartError(f"bot {command.name}: {why}", host=True)
    needs = _startable(command, environment, sandbox)
    try:
        if sandbox.level is Level.STRICT:
            return _strict(command, needs, sandbox, environment, cage, hidden)
        if sandbox.level is Level.BASIC:
            return _basic(command, needs, sandbox, environment, cage)
    except NoUid as error:
        raise StartError(f"bot {command.name}: {error}", host=True) from error
    except OSError as error:
        raise _start_error(command, error.errno or errno.EIO) from error
    assert cage is not None
    return Launch(argv=caged_words(command.argv, environment, cage), env=PLAIN, cwd=command.cwd)


def _startable(command: BotCommand, environment: Mapping[str, str], sandbox: Sandbox) -> Needs:
    """What the bot needs. Where other programs run in front of it, nobody else would say that it is not there."""
    needs = needs_of(command, environment, sandbox.read)
    if needs is None or not needs.program.exists():
        raise _start_error(command, errno.ENOENT)
    if not needs.program.is_file() or not os.access(needs.program, os.X_OK):
        raise _start_error(command, errno.EACCES)
    if command.cwd is not None and not command.cwd.is_dir():
        raise _start_error(command, errno.ENOENT, what=str(command.cwd))
    return needs


def _start_error(command: BotCommand, number: int, what: str = "") -> StartError:
    where = f" in {what}" if what else ""
    return refused(command.name, f"{command.argv[0]}{where}", OSError(number, os.strerror(number)))


def _strict(
    command: BotCommand,
    needs: Needs,
    sandbox: Sandbox,
    environment: Mapping[str, str],
    cage: CageLimits | None,
    hidden: Sequence[Path],
) -> Launch:
    uid = reserve() if is_root() else None
    status: Status | None = None
    inside = {**environment, "HOME": command.env.get("HOME", HOME)}
    argv = (str(needs.program), *command.argv[1:])
    try:
        status = Status()
        user = uid.uid if uid else None
        words, fds = strict_words(needs, argv, inside, sandbox, cage, hidden, user, status.writing)
    except BaseException:
        if uid:
            uid.release()
        if status:
            status.close()
            os.close(status.writing)
        raise
    fds.append(status.writing)
    return Launch(
        argv=words,
        env=PLAIN,
        cwd=Path("/"),
        pass_fds=tuple(fds),
        wrapped=True,
        description=f"strict, {_who(uid)}",
        uid=uid,
        open_fds=fds,
        status=status,
    )


def _basic(
    command: BotCommand, needs: Needs, sandbox: Sandbox, environment: Mapping[str, str], cage: CageLimits | None
) -> Launch:
    root = is_root()
    way = way_for_uid(needs, command.cwd or Path.cwd()) if root else None
    uid = reserve() if way is not None else None
    number = uid.uid if uid else None
    return Launch(
        argv=basic_words(command.argv, environment, sandbox, cage, uid=number, root=root, way=way or ()),
        env=PLAIN,
        cwd=command.cwd,
        description=f"basic, {_who(uid)}",
        uid=uid,
    )


def _who(uid: Reservation | None) -> str:
    if uid is not None:
        return f"uid {uid.uid}"
    return "own uid, no capabilities" if is_root() else "own uid"


def problem(command: BotCommand, sandbox: Sandbox, hidden: Sequence[Path]) -> str | None:
    """Half a sentence about why it cannot run at this level on this machine, or None.

    It is found out by looking from inside, with a harmless program in the bot's place.
    """
    if sandbox.level is Level.NONE:
        return None
    return missing(sandbox.level) or objection(command, sandbox, hidden)
