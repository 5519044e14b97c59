"""`lastcard doctor` as its users run it: exit codes, what is printed, who runs it, what is missing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
import trio

from lastcard.referee.cli.main import run
from lastcard.referee.sandbox import strict
from tests.cli.commands import LASTCARD, PATIENCE, bot, environment, lastcard

RequireDebian = Callable[[str, str], str]

TOP = Path(__file__).resolve().parents[2]
NOBODY = "65534"


@pytest.fixture
def bwrap(require_debian: RequireDebian) -> str:
    return require_debian("bwrap", "bubblewrap")


def test_every_level_of_this_machine_keeps_its_promises(bwrap: str) -> None:
    done = lastcard("doctor")
    assert (done.code, done.err) == (0, ""), done.out
    lines = done.out.splitlines()
    assert lines[-1] == "every level that is available keeps its promises"
    assert lines[0].startswith("lastcard ")
    (head,) = [line for line in lines if line.startswith("what a bot tries")]
    assert head.split()[-3:] == ["none", "basic", "strict"]
    (row,) = [line for line in lines if line.startswith("  reach a TCP listener")]
    assert row.split("machine")[1].split() == ["could", "could", "could", "not", "+"]
    assert done.out.isascii()
    assert max(map(len, lines)) < 100
    assert not list(Path(tempfile.gettempdir()).glob("lastcard-doctor-*/bot"))


def test_json_is_one_object(bwrap: str) -> None:
    done = lastcard("doctor", "--json", "--level", "strict")
    assert (done.code, done.err) == (0, "")
    (line,) = done.out.splitlines()
    found: dict[str, Any] = json.loads(line)
    (level,) = found["levels"]
    assert level["level"] == "strict"
    assert level["description"].startswith("strict, ")
    assert level["cells"]["tcp"]["outcome"] == "could not"
    assert set(found["costs"]) == {"none", "strict"}, "none is the measure"
    assert found["ok"] is True


def test_a_sandbox_with_a_hole_makes_exit_code_1_and_names_the_row(
    bwrap: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(strict, "ALONE", tuple(word for word in strict.ALONE if word != "--unshare-net"))
    with pytest.raises(SystemExit) as exit:
        run(["doctor", "--level", "strict"])
    assert exit.value.code == 1
    out = capfd.readouterr().out
    assert "! strict: reach a TCP listener of this machine: could; expected: could not\n" in out
    assert "broken promises: see the lines with ! above" in out.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_it_and_nothing_is_left(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [*LASTCARD, "doctor"], env=environment(TMPDIR=str(tmp_path)), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stderr is not None
        while running.stdout.readline() not in ("\n", ""):  # the machine; then the levels are tried
            pass
        while not list(tmp_path.glob("lastcard-doctor-*/away/socket")):
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(number)
        assert running.wait(PATIENCE) == 3
        assert running.stderr.read() == "lastcard: stopped\n"
    assert list(tmp_path.iterdir()) == []


# ---- a machine that lacks something, and an ordinary user


@pytest.fixture(scope="module")
def ordinary(require_debian: RequireDebian) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Command and environment by which somebody who is not root runs lastcard from a place that he can read."""
    if os.geteuid() != 0:
        yield [sys.executable, "-m", "lastcard.referee"], environment()
        return
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # Not what PATH finds first: that may lie in root's home.
    python = shutil.which(version, path="/usr/local/bin:/usr/bin") or require_debian(version, version)
    folder = Path(tempfile.mkdtemp(prefix="lastcard-test-"))
    try:
        site = Path(msgspec.__file__).parents[1]
        for name in ("attr", "attrs", "idna", "msgspec", "outcome", "sniffio", "sortedcontainers"):
            shutil.copytree(site / name, folder / name)
        for package in (click, trio):
            source = Path(str(package.__file__)).parent
            shutil.copytree(source, folder / source.name)
        for room in ("engine", "protocol", "referee", "sample_bots", "vectors"):
            shutil.copytree(TOP / room, folder / "lastcard" / room, ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        words = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", python, "-m", "lastcard.referee"]
        yield words, environment(PYTHONPATH=str(folder), HOME="/nonexistent", PYTHONDONTWRITEBYTECODE="1")
    finally:
        shutil.rmtree(folder)


def test_an_ordinary_user(bwrap: str, ordinary: tuple[list[str], dict[str, str]]) -> None:
    words, env = ordinary
    done = subprocess.run(
        [*words, "doctor", "--json"], env=env, cwd="/", stdin=subprocess.DEVNULL, capture_output=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b""), done
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["machine"]["uid"] != 0
    cells = {level["level"]: level["cells"] for level in found["levels"]}
    for row in ("tcp", "private-file", "bot-memory", "signal"):
        told = [cells[level][row]["outcome"] for level in ("none", "basic", "strict")]
        assert told == ["could", "could", "could not"], row
    assert cells["none"]["referee-memory"]["promise"] == "could not"
    assert cells["basic"]["new-privileges"]["outcome"] == "could not"


def test_a_machine_without_bubblewrap(tmp_path: Path, bwrap: str) -> None:
    """The others are examined; strict is said to be missing, and is a failure only if it was asked for."""
    done = doctor_without(tmp_path, "bwrap")
    assert done.returncode == 0, done
    lines = done.stdout.decode().splitlines()
    (head,) = [line for line in lines if line.startswith("what a bot tries")]
    assert head.split()[-2:] == ["none", "basic"]
    assert "strict: not available: the program bwrap is missing (Debian: apt-get install bubblewrap)" in lines
    done = doctor_without(tmp_path, "bwrap", "--level", "strict")
    assert done.returncode == 1
    assert done.stdout.decode().splitlines()[-1] == "not every level could be examined: see above"


HIDING = """
import os, shutil, sys
name, which = sys.argv.pop(1), shutil.which
shutil.which = lambda program, *more, **named: None if program == name else which(program, *more, **named)
from lastcard.referee.cli import main
main()
"""


def doctor_without(folder: Path, program: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
    """As if the program were not installed: lastcard looks for it where Debian puts it, whatever PATH says."""
    script = folder / "hiding.py"
    script.write_text(HIDING)
    return subprocess.run(
        [sys.executable, script, program, "doctor", *words], env=environment(), stdin=subprocess.DEVNULL,
        capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


# ---- somebody's own bot


def test_a_bot_that_comes_up_at_every_level(bwrap: str) -> None:
    done = lastcard("doctor", "--", "greedy")
    assert (done.code, done.err) == (0, "")
    head, *levels = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert head.startswith("greedy: ")
    assert [line.split()[:3] for line in levels] == [[level, "comes", "up:"] for level in ("none", "basic", "strict")]


@pytest.mark.parametrize(("name", "package"), [("node", "nodejs")])
def test_a_runtime_starts_under_the_usual_limits(
    bwrap: str, require_debian: RequireDebian, name: str, package: str
) -> None:
    require_debian(name, package)
    done = lastcard("doctor", "--json", "--", name, str(TOP / "sample_bots" / "random_bot.js"))
    assert done.code == 0, done
    found: dict[str, Any] = json.loads(done.out)
    assert list(found) == ["bot", "argv", "levels", "ok"]
    assert found["argv"][0] == name
    for level in found["levels"]:
        assert level["name"] == "random-js"
        assert level["fault"] == level["unavailable"] == ""
        assert level["memory_mb"] > 10
        assert level["hello_ms"] > 0


def test_a_bot_that_does_not_come_up(tmp_path: Path) -> None:
    word = bot(tmp_path, "broken").removesuffix("broken.py") + "broken.py"
    Path(word).write_text("import sys\nsys.exit('no book\\x1b[31m')\n")
    done = lastcard("doctor", "--level", "none", "--", word)
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[1].startswith("none     ! does not come up: the process ended (exit status 1)")
    assert lines[-1].strip() == "no book\\x1b[31m"


def test_a_bot_that_fails_in_strict_only(bwrap: str, tmp_path: Path) -> None:
    """It wants a file that nobody has said it may read."""
    elsewhere = Path(tempfile.mkdtemp(prefix="lastcard-test-"))
    try:
        elsewhere.chmod(0o755)
        (elsewhere / "book").write_text("e4")
        (elsewhere / "mine").mkdir()
        word = bot(elsewhere / "mine", "reader", "pass")
        source = Path(word).read_text()
        Path(word).write_text(f"open({str(elsewhere / 'book')!r}).close()\n{source}")
        done = lastcard("doctor", "--json", "--", word)
        found: dict[str, Any] = json.loads(done.out)
        assert done.code == 1
        assert [bool(level["fault"]) for level in found["levels"]] == [False, False, True]
        assert "FileNotFoundError" in found["levels"][2]["stderr"][-1]
    finally:
        shutil.rmtree(elsewhere)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--level", "tight"), "invalid value for '--level': 'tight' is not one of 'none', 'basic', 'strict'"),
        (("--", "nosuch"), "bot 'nosuch': not a sample bot ("),
        (("--", "/no/such/bot"), "bot '/no/such/bot': there is no file '/no/such/bot'"),
        (("--", "no-such-program", "x"), "bot 'no-such-program x': there is no program 'no-such-program' in PATH"),
    ],
)
def test_bad_usage_is_said_before_anything_starts(words: tuple[str, ...], sentence: str) -> None:
    done = lastcard("doctor", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"lastcard: {sentence}")
    assert done.err.count("\n") == 1
