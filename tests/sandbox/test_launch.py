"""How a bot is started at each level: its pipes, its end, its environment, its cage; knows no attempt to break out."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.sandbox import launch, machine
from lastcard.referee.sandbox.launch import launch_of
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.sandbox.uids import NoUid
from lastcard.referee.start_error import StartError
from tests.sandbox.inside import BASIC, ENVIRONMENT, FAST, NONE, STRICT, FakeCage, done, ordinary, running

LEVELS = list(Level)
ROOT = os.geteuid() == 0


@pytest.fixture(autouse=True, scope="module")
def _programs(require_debian: Callable[[str, str], str]) -> None:
    require_debian("/usr/bin/python3", "python3")
    require_debian("setpriv", "util-linux")
    require_debian("bwrap", "bubblewrap")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can enter: that of pytest is closed."""
    with tempfile.TemporaryDirectory(prefix="lastcard-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def at(level: Level) -> Sandbox:
    return Sandbox(level=level)


# ---- pipes and ends


@pytest.mark.parametrize("level", LEVELS)
def test_lines_go_in_and_out_and_stderr_is_its_own(level: Level) -> None:
    ended = done(["/bin/sh", "-c", "cat; echo complaint >&2; exit 7"], at(level), stdin=b"a line\n")
    assert ended[:3] == (7, "a line\n", "complaint\n")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_the_signal_that_ends_a_bot_is_told(level: Level, number: signal.Signals) -> None:
    ended = done(["/bin/sh", "-c", f"kill -{int(number)} $$"], at(level))
    assert ended.launch.wrapped == (level is STRICT)
    assert ended.code == (128 + number if ended.launch.wrapped else -number)


@pytest.mark.parametrize("level", LEVELS)
def test_a_closed_stdout_is_noticed_while_the_bot_lives(level: Level) -> None:
    with running(["/bin/sh", "-c", "exec >&-; cat >&2; sleep 60"], at(level)) as run:
        assert run.child.stdout is not None
        assert run.child.stdout.read() == b""
        assert run.child.poll() is None


@pytest.mark.parametrize("level", LEVELS)
def test_a_closed_stdin_is_noticed_while_the_bot_lives(level: Level) -> None:
    with running(["/bin/sh", "-c", "exec <&-; echo closed; exec sleep 60"], at(level)) as run:
        assert run.child.stdin is not None
        assert run.child.stdout is not None
        assert run.child.stdout.readline() == b"closed\n"
        with pytest.raises(BrokenPipeError):
            run.child.stdin.write(b"ask\n")
        assert run.child.poll() is None


def test_the_end_of_the_sandbox_is_the_end_of_all_in_it() -> None:
    """A double fork in a session of its own; its end is seen by the pipe that it holds."""
    with running(["/bin/sh", "-c", "setsid sh -c 'sleep 61 & sleep 62' & echo up; wait"], at(STRICT)) as run:
        assert run.child.stdout is not None
        assert run.child.stdout.readline() == b"up\n"
        run.child.kill()
        assert run.child.stdout.read() == b""


# ---- environment and place


@pytest.mark.parametrize("level", LEVELS)
def test_the_environment_is_the_given_one(level: Level) -> None:
    given = ENVIRONMENT | {"MINE": "a b'c\"\n=", "LC_ALL": "C"}
    expected = given if level is not STRICT else given | {"HOME": "/tmp", "PATH": "/usr/local/bin:/usr/bin:/bin"}
    ended = done([*FAST, "-c", "import json, os; print(json.dumps(dict(os.environ)))"], at(level), environment=given)
    assert json.loads(ended.out) == expected


@pytest.mark.parametrize("level", LEVELS)
def test_a_variable_for_the_loader_means_something_to_the_bot_alone(level: Level) -> None:
    """The loader complains once in each program that it is told to load this into."""
    given = ENVIRONMENT | {"LD_PRELOAD": "/no/such/library.so"}
    cage = FakeCage(joins=("/dev/null",))
    ended = done(["/bin/true"], at(level), environment=given, cage=cage)
    assert ended.code == 0
    assert ended.err.count("/no/such/library.so") == 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("program", ["./bot", "deep/../bot", "./a=b"])
def test_it_runs_in_its_folder(level: Level, program: str, folder: Path) -> None:
    (folder / "deep").mkdir()
    for name in ("bot", "a=b"):
        (folder / name).write_text("#!/bin/sh\npwd; cat book; echo $1")
        (folder / name).chmod(0o755)
    (folder / "book").write_text("openings\n")
    ended = done([program, "--word"], at(level), cwd=folder)
    assert ended[:3] == (0, f"{folder}\nopenings\n--word\n", "")


@pytest.mark.parametrize("level", LEVELS)
def test_our_own_python_runs_wherever_it_lies(level: Level) -> None:
    ended = done([sys.executable, "-I", "-c", "import json, sys; print(sys.prefix)"], at(level))
    assert ended[:2] == (0, f"{sys.prefix}\n"), ended.err


@pytest.mark.skipif(not ROOT, reason="needs root")
@pytest.mark.parametrize("level", [BASIC, STRICT])
def test_a_bot_in_a_closed_folder_gets_there_and_nowhere_else(level: Level, folder: Path) -> None:
    """As in root's home: the folder above may be entered by its owner only."""
    bot = folder / "closed" / "bots" / "mine"
    bot.mkdir(parents=True)
    (bot / "bot").write_text("#!/bin/sh\nid -u; ls ../..; ls\n")
    (bot / "bot").chmod(0o755)
    (folder / "closed" / "secret").write_text("seed")
    (folder / "closed").chmod(0o700)
    ended = done([str(bot / "bot")], at(level), cwd=bot)
    assert ended.launch.uid is not None
    assert ended.out == f"{ended.launch.uid.uid}\nbots\nbot\n", ended.err
    assert ended.launch.description == f"{level}, uid {ended.launch.uid.uid}"


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_basic_without_a_way_for_another_user_takes_roots_power_away(folder: Path) -> None:
    (folder / "bot").write_text("#!/bin/sh\nid -u; grep -E 'Cap(Eff|Prm|Bnd|Inh)' /proc/self/status\n")
    (folder / "bot").chmod(0o700)
    ended = done([str(folder / "bot")], at(BASIC), cwd=folder)
    assert ended.launch.description == "basic, own uid, no capabilities"
    assert ended.out.splitlines()[0] == "0"
    assert {line.split()[1] for line in ended.out.splitlines()[1:]} == {"0" * 16}


# ---- cages and limits


@pytest.mark.parametrize("level", LEVELS)
def test_it_joins_its_cage_before_anything_else(level: Level, folder: Path) -> None:
    files = [folder / "first", folder / "second"]
    cage = FakeCage(joins=tuple(map(str, files)))
    with running(["/bin/sh", "-c", "read line"], at(level), cage=cage) as run:
        run.child.communicate(b"\n", timeout=30)
        assert [file.read_text() for file in files] == [f"{run.child.pid}\n"] * 2


@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_that_cannot_be_caged_does_not_run(level: Level) -> None:
    ended = done(["/bin/echo", "running"], at(level), cage=FakeCage(joins=("/no/such/cgroup.procs",)))
    assert ended[:2] == (125, "")
    assert "/no/such/cgroup.procs" in ended.err


SHOW = "import resource as r; print(*(r.getrlimit(n)[0] for n in (r.RLIMIT_DATA, r.RLIMIT_NPROC, r.RLIMIT_NOFILE)))"


@pytest.mark.parametrize("level", [BASIC, STRICT])
@pytest.mark.parametrize("caged", [False, True])
def test_a_cage_takes_the_place_of_limits(level: Level, caged: bool) -> None:
    cage = FakeCage((), limits_memory=caged, limits_processes=caged)
    ended = done([*FAST, "-c", SHOW], Sandbox(level=level, memory_mb=700, processes=31), cage=cage)
    data, processes, files = ended.out.split()
    assert files == "256"
    assert (data == str(700 * 1024 * 1024)) is not caged
    if ROOT or level is STRICT:
        assert (processes == "31") is not caged


def test_lower_limits_of_ours_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for more than we have ourselves would end every start."""
    script = (
        "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (5 << 20, 5 << 20)); r.setrlimit(r.RLIMIT_NOFILE, (99, 99))"
    )
    code = f"""{script}
import sys; sys.path[0:0] = {sys.path!r}
from tests.sandbox.inside import *
print(done(["/bin/sh", "-c", "ulimit -n; ulimit -f"], Sandbox(level=BASIC))[:3])"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stdout == f"(0, '99\\n{5 * 2048}\\n', '')\n", ended.stderr


def test_an_ordinary_user_gets_no_limit_of_processes_at_basic(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would count his whole desktop."""
    with ordinary(monkeypatch) as front:
        ended = done([*FAST, "-c", SHOW], Sandbox(level=BASIC, processes=31), front=front)
    assert ended.out.split()[1] != "31"


LIMITS_OF_THE_FIRST = """
wanted = ("Max cpu time", "Max file size", "Max data size", "Max core file size", "Max open files")
for line in open("/proc/1/limits"):
    if line.startswith(wanted):
        print(line.split()[-2])
"""


def test_the_bubblewrap_beside_an_ordinary_users_bot_has_no_more_than_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot may write into its memory, and have it do what itself may not."""
    sandbox = Sandbox(level=STRICT, memory_mb=700, file_mb=3, cpu_s=50)
    with ordinary(monkeypatch) as front:
        ended = done([*FAST, "-c", LIMITS_OF_THE_FIRST], sandbox, front=front)
    assert ended.out.split() == ["51", str(3 << 20), str(700 << 20), "0", "256"], ended.err


# ---- what cannot be started


@pytest.mark.parametrize("level", [BASIC, STRICT])
@pytest.mark.parametrize(
    ("argv", "cwd", "what"),
    [
        (("/no/such/bot",), None, "/no/such/bot: No such file or directory"),
        (("no-such-program",), None, "no-such-program: No such file or directory"),
        (("/etc/passwd",), None, "/etc/passwd: Permission denied"),
        (("/etc",), None, "/etc: Permission denied"),
        (("/bin/true",), Path("/no/folder"), "/bin/true in /no/folder: No such file or directory"),
    ],
)
def test_what_is_not_there_is_said_before_the_start(
    level: Level, argv: tuple[str, ...], cwd: Path | None, what: str
) -> None:
    with pytest.raises(StartError) as caught:
        launch_of(BotCommand("lost", argv, cwd=cwd), at(level), ENVIRONMENT, None, ())
    assert str(caught.value) == f"bot lost: cannot start {what}"
    assert not caught.value.host


def test_a_level_that_the_machine_cannot_give_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "missing", lambda level: f"no {level} here")
    with pytest.raises(StartError) as caught:
        launch_of(BotCommand("bot", ("/bin/true",)), at(STRICT), ENVIRONMENT, None, ())
    assert str(caught.value) == "bot bot: no strict here"
    assert caught.value.host


@pytest.mark.skipif(not ROOT, reason="needs root")
@pytest.mark.parametrize("level", [BASIC, STRICT])
def test_no_free_user_number_is_the_machines_fault(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> None:
        raise NoUid("all are in use")

    machine.missing(level)
    monkeypatch.setattr(launch, "reserve", none_left)
    with pytest.raises(StartError) as caught:
        launch_of(BotCommand("bot", ("/bin/true",)), at(level), ENVIRONMENT, None, ())
    assert str(caught.value) == "bot bot: all are in use"
    assert caught.value.host


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_stays_open(level: Level) -> None:
    before = sorted(os.listdir("/dev/fd"))
    for _ in range(3):
        launched = launch_of(BotCommand("bot", ("/bin/true",)), at(level), ENVIRONMENT, None, ())
        launched.started()
        launched.started()
        launched.release()
        launched.release()
    assert sorted(os.listdir("/dev/fd")) == before


def test_without_level_and_cage_it_is_started_as_it_is() -> None:
    command = BotCommand("bot", ("bot", "--word"), cwd=Path("/srv"))
    launched = launch_of(command, at(NONE), {"A": "b"}, None, ())
    assert (launched.argv, launched.env, launched.cwd) == (command.argv, {"A": "b"}, command.cwd)
    assert launched.description == "none"
