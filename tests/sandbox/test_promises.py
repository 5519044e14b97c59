"""What a bot can do at each level, tried by a real program: one row an attempt, one column a level and user.

The column `none` is there to show that an attempt works where nothing stops it.
"""

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lastcard.referee.sandbox.levels import Level, Sandbox
from tests.sandbox.inside import BASIC, FAST, NOBODY, NONE, PYTHON, STRICT, done, ordinary

PROBE = Path(__file__).with_name("probe.py")
ROOT = os.geteuid() == 0

YES, NO, ANY = "yes", "no", "any"
# Columns: no sandbox; basic by root, by an ordinary user; strict by root, by an ordinary user.
# NO is everything but "yes"; ANY is said by no level; a number is the most that may come out; a list has exactly that.
ROWS: dict[str, tuple[object, object, object, object, object]] = {
    "read its own file": (YES, YES, YES, YES, YES),
    "read a hidden file": (YES, ANY, ANY, NO, NO),
    "read in a hidden folder": (YES, ANY, ANY, NO, NO),
    "list a hidden folder": (YES, ANY, ANY, NO, NO),
    "read a foreign file of mode 0644": (YES, YES, YES, NO, NO),
    "read a foreign file of mode 0600": (YES, NO, YES, NO, NO),
    "read what it may": (YES, YES, YES, YES, YES),
    "read /etc/passwd": (YES, YES, YES, NO, NO),
    "write to its folder": (YES, NO, YES, NO, NO),
    "write to /tmp": (YES, YES, YES, YES, YES),
    "leave a file in /tmp": (YES, YES, YES, NO, NO),
    "write to /": (ANY, NO, NO, NO, NO),
    "write to /dev": (ANY, NO, NO, NO, NO),
    "reach a TCP listener": (YES, YES, YES, NO, NO),
    "reach an abstract socket": (YES, YES, YES, NO, NO),
    "reach a socket by path": (YES, YES, YES, NO, NO),
    "signal the referee": (YES, NO, YES, NO, NO),
    "read the referee's environment": (YES, NO, ANY, NO, NO),
    "read the referee's memory": (YES, NO, ANY, NO, NO),
    # bubblewrap's own process is number 1.
    "see other processes": (ANY, ANY, ANY, 0, 0),
    "make a user namespace": (ANY, ANY, ANY, NO, NO),
    "be traced": (YES, YES, YES, NO, NO),
    "mount": (ANY, NO, NO, NO, NO),
    "call clone3": (ANY, ANY, ANY, [os.strerror(38)], [os.strerror(38)]),
    "make a vsock socket": (ANY, ANY, ANY, [os.strerror(97)], [os.strerror(97)]),
    "call io_uring_setup": (ANY, ANY, ANY, [os.strerror(1)], [os.strerror(1)]),
    "open descriptors": ([0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]),
    "fork 300 processes": (ANY, 64, ANY, 64, 64),
    "allocate 2 GiB": (YES, NO, NO, NO, NO),
    "write a file of 100 MiB": ([100], 16, 16, 16, 16),
    "write four files of 12 MiB": ([48], [48], [48], 16, 16),
    "fill /dev/shm": (ANY, ANY, ANY, 16, 16),
    "burn CPU": (ANY, ["ended by -24"], ["ended by -24"], ["ended by -24"], ["ended by -24"]),
    "open the terminal": (NO, NO, NO, NO, NO),
    "raise a limit": (ANY, NO, NO, NO, NO),
}
COLUMNS = [("none", NONE), ("root", BASIC), ("user", BASIC), ("root", STRICT), ("user", STRICT)]


class Stage(NamedTuple):
    """What is laid out for the probe."""

    top: Path
    bot: Path
    targets: dict[str, Any]


def lay_out(top: Path, *, owner: int | None) -> Stage:
    """A bot's folder with things to hide in it, and files of others around it."""
    top.chmod(0o755)
    bot, foreign, granted = top / "bot", top / "foreign", top / "granted"
    for path, text, mode in [
        (bot / "own.txt", "own", 0o644),
        (bot / "probe.py", PROBE.read_text(), 0o644),
        (bot / "hidden.log", "cards", 0o644),
        (bot / "cup" / "seed", "secret", 0o644),
        (foreign / "open", "open", 0o644),
        (foreign / "closed", "closed", 0o600),
        (granted / "book", "openings", 0o644),
    ]:
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        path.chmod(mode)
    if owner is not None:
        for path in [top, *top.rglob("*")]:
            os.chown(path, owner, owner)
    return Stage(top, bot, {"foreign": str(foreign), "granted": str(granted)})


def listener(family: int, address: Any, stack: ExitStack) -> socket.socket:
    listening = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    listening.bind(address)
    listening.listen(16)
    return listening


def stand_in(front: tuple[str, ...], stack: ExitStack) -> dict[str, Any]:
    """A process of the referee's user in the place of the referee, which hides its own memory."""
    child = subprocess.Popen([*front, "sleep", "300"])
    stack.callback(child.wait)
    stack.callback(child.kill)
    while Path(f"/proc/{child.pid}/comm").read_text() != "sleep\n":
        pass
    address = next(line for line in Path(f"/proc/{child.pid}/maps").read_text().splitlines() if " r" in line)
    return {"referee": child.pid, "address": address.split()[0]}


def try_all(level: Level, front: tuple[str, ...]) -> dict[str, object]:
    """Everything that the probe found out at one level."""
    with ExitStack() as stack:
        top = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lastcard-")))
        stage = lay_out(top, owner=NOBODY if front else None)
        mark = top.name
        tcp = listener(socket.AF_INET, ("127.0.0.1", 0), stack)
        listener(socket.AF_UNIX, "\0" + mark, stack)
        path = top / "foreign" / "socket"
        listener(socket.AF_UNIX, str(path), stack)
        path.chmod(0o777)
        targets = stage.targets | stand_in(front, stack)
        targets |= {"mark": mark, "port": tcp.getsockname()[1], "confined": level is not NONE}
        sandbox = Sandbox(level=level, cpu_s=1, read=(str(top / "granted"),))
        hidden = [stage.bot / "hidden.log", stage.bot / "cup"]
        argv = [*FAST, "probe.py", json.dumps(targets)]
        ended = done(argv, sandbox, cwd=stage.bot, hidden=hidden, front=front)
        assert ended.code == 0, ended.err
        left = Path(f"/tmp/{mark}-tmp")
        seen = left.exists()
        left.unlink(missing_ok=True)
        return {**json.loads(ended.out), "leave a file in /tmp": YES if seen else "none is seen"}


@pytest.fixture(scope="session")
def found(
    tmp_path_factory: pytest.TempPathFactory, require_debian: Callable[[str, str], str]
) -> Callable[[str, Level], dict[str, object]]:
    """`found(user, level)`: what the probe found out; it runs once for each."""
    require_debian(PYTHON, "python3")
    require_debian("setpriv", "util-linux")
    results: dict[tuple[str, Level], dict[str, object]] = {}

    def find(user: str, level: Level) -> dict[str, object]:
        if level is STRICT:
            require_debian("bwrap", "bubblewrap")
        if (user, level) not in results:
            with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
                front = stack.enter_context(ordinary(patch)) if user == "user" else ()
                results[user, level] = try_all(level, front)
        return results[user, level]

    return find


def fits(said: object, expected: object) -> bool:
    """Whether an outcome is what a column says."""
    match expected:
        case "any":
            return True
        case "no":
            return isinstance(said, str) and said not in {YES, "not tried"}
        case int():
            return isinstance(said, int) and said <= expected
        case [one]:
            return said == one
        case _:
            return said == expected


@pytest.mark.parametrize("column", range(len(COLUMNS)), ids=[f"{level}-{user}" for user, level in COLUMNS])
def test_a_level_keeps_its_promises(found: Callable[[str, Level], dict[str, object]], column: int) -> None:
    user, level = COLUMNS[column]
    if user == "root" and not ROOT:
        pytest.skip("needs root")
    results = found(user, level)
    assert results.keys() == ROWS.keys(), "every attempt has a row"
    expected = {name: row[column] for name, row in ROWS.items()}
    wrong = {name: (said, expected[name]) for name, said in results.items() if not fits(said, expected[name])}
    assert wrong == {}
