"""`lastcard connect` and `lastcard token` as their users run them: what they print, how they end, what they leave."""

import os
import re
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from lastcard.referee.net.client_session import CHECK_ALL
from lastcard.referee.net.tokens import TOKEN as IS_TOKEN
from lastcard.referee.net.tokens import hash_of
from tests.cli.commands import LASTCARD, Done, environment, lastcard
from tests.cli.test_signals import is_gone
from tests.net.plain_referee import HELLO, START, TOKEN, Line, PlainReferee, serving

ASKS = 3
PATIENCE = 20


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    """A file with the token of the plain referee's bot."""
    path = tmp_path / "bot.token"
    path.touch(mode=0o600)
    path.write_text(TOKEN + "\n")
    return path


TIME = re.compile(r"^lastcard: \d\d:\d\d:\d\d ", re.MULTILINE)


def without_times(err: str) -> list[str]:
    """The lines on standard error; the time of day is not compared."""
    return TIME.sub("lastcard: ", err).splitlines()


# ---- a conversation, and what is said of it


def test_a_sample_bot_plays(token_file: Path) -> None:
    with serving(PlainReferee(ASKS, cuts=frozenset({5}))) as referee:
        where = f"127.0.0.1:{referee.port}"
        done = lastcard("connect", where, "--token-file", str(token_file), "--", "random")
    assert (done.code, done.out) == (0, "")
    assert without_times(done.err) == [
        f"lastcard: connected to {where}",
        "lastcard: the connection is lost (closed by the other end); calling again, for up to 300 s",
        f"lastcard: connected to {where} again",
        "lastcard: the referee says bye: that was all",
    ]
    assert (sorted(referee.answers), referee.trouble) == ([1, 2, 3], None)


SHELL = """#!/bin/sh
echo "to standard error: $1" >&2
while read -r line; do
    case $line in
        *'"hello"'*) echo '{"type":"hello","protocol":1}' ;;
        *'"ask"'*) id=${line#*'"id": '}; echo '{"type":"act","id":'"${id%%,*}"',"action":"draw"}' ;;
    esac
done
"""


@pytest.fixture
def shell_bot(tmp_path: Path) -> Path:
    path = tmp_path / "shell bot"
    path.write_text(SHELL)
    path.chmod(0o755)
    return path


def test_a_command_with_arguments_and_its_standard_error(token_file: Path, shell_bot: Path) -> None:
    with serving(PlainReferee(ASKS)) as referee:
        words = ("connect", f"127.0.0.1:{referee.port}", "--", "sh", str(shell_bot), b"--deep \xff")
        done = subprocess.run(
            (*LASTCARD, *words), env=environment(LASTCARD_TOKEN=TOKEN), capture_output=True, check=False, timeout=60
        )
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"to standard error: --deep \xff\n" in done.stderr
    assert set(referee.answers.values()) == {"draw"}


def test_a_path_is_one_word(token_file: Path, shell_bot: Path) -> None:
    with serving(PlainReferee(ASKS)) as referee:
        where = f"127.0.0.1:{referee.port}"
        done = lastcard(
            "connect", where, "--token-file", str(token_file), "--", f"./{shell_bot.name}", cwd=shell_bot.parent
        )
    assert done.code == 0
    assert set(referee.answers.values()) == {"draw"}


def test_a_wrong_token_is_said(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch(mode=0o600)
    other.write_text("x" * 22)
    with serving(PlainReferee(ASKS)) as referee:
        done = lastcard("connect", f"127.0.0.1:{referee.port}", "--token-file", str(other), "--", "random")
    assert done.code == 1
    assert done.err.splitlines()[1:] == [f"lastcard: not let in: who are you?; {CHECK_ALL}"]


class Gossip(PlainReferee):
    """Repeats the token wherever it can."""

    def converse(self, line: Line) -> None:
        line.say(HELLO)
        token = line.hear()["token"]
        line.say(START)
        line.say({"type": "bye", "reason": f"\x1b[31mgoodbye, {token}"})
        self.parted = True


def test_the_token_is_in_no_output_and_no_control_reaches_the_terminal(token_file: Path) -> None:
    with serving(Gossip()) as referee:
        done = lastcard("connect", f"127.0.0.1:{referee.port}", "--token-file", str(token_file), "--", "random")
    assert done.code == 0
    assert TOKEN not in done.err
    assert done.err.endswith("lastcard: the referee says bye: \\x1b[31mgoodbye, [token]\n")


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True)])
def test_a_token_that_others_may_read_is_said(token_file: Path, mode: int, warned: bool) -> None:
    token_file.chmod(mode)
    with serving(PlainReferee(ASKS)) as referee:
        done = lastcard("connect", f"127.0.0.1:{referee.port}", "--token-file", str(token_file), "--", "random")
    assert done.code == 0
    warning = f"lastcard: --token-file {token_file}: others may read it (mode {mode:04o}); chmod 600 makes it yours\n"
    assert (warning in done.err) == warned


@pytest.mark.parametrize(
    ("host", "far"), [("localhost", False), ("[::1]", False), ("127.9.9.9", False), ("there..are", True)]
)
def test_who_may_listen_is_said(token_file: Path, host: str, far: bool) -> None:
    words = ("connect", f"{host}:1", "--token-file", str(token_file), "--patience", "0")
    warning = f"lastcard: without --tls, whoever is between here and {host}:1 can read the token and the cards\n"
    assert (warning in lastcard(*words, "--", "random").err) == far


def test_nobody_there(token_file: Path) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{bound.getsockname()[1]}"
        done = lastcard("connect", where, "--token-file", str(token_file), "--patience", "1", "--", "random")
    assert (done.code, done.out) == (3, "")
    refuses = f"{where} refuses: no referee listens there"
    assert without_times(done.err) == [
        f"lastcard: {refuses}; calling again, for up to 1 s",
        f"lastcard: no connection for 1 s: {refuses}",
    ]


def test_a_reader_who_leaves_does_not_end_it(token_file: Path) -> None:
    with serving(PlainReferee(ASKS)) as referee:
        words = (*LASTCARD, "connect", f"127.0.0.1:{referee.port}", "--token-file", str(token_file), "--", "random")
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = subprocess.run(words, env=environment(), stderr=writer, check=False, timeout=60)
        finally:
            os.close(writer)
    assert done.returncode == 0
    assert len(referee.answers) == ASKS


# ---- signals


class Waits(PlainReferee):
    """Lets the bot in, asks nothing, and waits for its end."""

    def __init__(self) -> None:
        super().__init__()
        self.let_in = threading.Event()

    def converse(self, line: Line) -> None:
        line.say(HELLO)
        line.hear()
        line.say(START)
        self.let_in.set()
        line.hear_bytes()


BOT = """
import os, signal, subprocess, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(3600)"], start_new_session=True)
print('{"type":"hello","protocol":1}', flush=True)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
if sys.argv[2] == "polite":
    sys.stdin.read()
else:
    time.sleep(3600)
"""


@contextmanager
def connected(
    folder: Path, token_file: Path, manner: str = "deaf", *, before: tuple[str, ...] = ()
) -> Iterator[tuple["subprocess.Popen[str]", list[int]]]:
    """A client with a bot that ignores every signal, and perhaps its end of input; numbers of it and of its child."""
    script, pids = folder / "bot.py", folder / "pids"
    script.write_text(BOT)
    with serving(Waits()) as referee:
        words = ("connect", f"127.0.0.1:{referee.port}", "--token-file", str(token_file))
        bot = ("python3", str(script), str(pids), manner)
        with subprocess.Popen(
            (*before, *LASTCARD, *words, "--", *bot), env=environment(), stderr=subprocess.PIPE, text=True
        ) as process:
            assert referee.let_in.wait(PATIENCE)
            while not pids.exists():
                time.sleep(0.005)
            yield process, list(map(int, pids.read_text().split()))


@pytest.mark.parametrize(
    ("number", "manner"), [(signal.SIGINT, "deaf"), (signal.SIGTERM, "polite"), (signal.SIGHUP, "polite")]
)
def test_a_signal_ends_the_bot_too(tmp_path: Path, token_file: Path, number: signal.Signals, manner: str) -> None:
    with connected(tmp_path, token_file, manner) as (process, pids):
        line = Path(f"/proc/{process.pid}/cmdline").read_bytes() + Path(f"/proc/{pids[0]}/environ").read_bytes()
        assert TOKEN.encode() not in line
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 3
        assert err.endswith(f"lastcard: stopped by {number.name}; the same command goes on\n")
        assert all(map(is_gone, pids))


def test_the_second_signal_does_not_wait(tmp_path: Path, token_file: Path) -> None:
    with connected(tmp_path, token_file) as (process, pids):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 3
        assert err.count("stopped by") == 1
        assert all(map(is_gone, pids))


def test_under_nohup_a_hang_up_of_the_line_does_not_end_it(tmp_path: Path, token_file: Path) -> None:
    with connected(tmp_path, token_file, "polite", before=("nohup",)) as (process, pids):
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 3
        assert "lastcard: stopped by SIGTERM; the same command goes on\n" in err
        assert all(map(is_gone, pids))


def test_a_kill_ends_the_bot_too(tmp_path: Path, token_file: Path) -> None:
    with connected(tmp_path, token_file) as (process, pids):
        process.kill()
        process.wait()
        until = time.monotonic() + PATIENCE
        while not all(map(is_gone, pids)) and time.monotonic() < until:
            time.sleep(0.01)
        assert all(map(is_gone, pids))


# ---- what a user gets wrong

AT = "connect 127.0.0.1:4000"
WITH = f"{AT} --token-file good"

WRONG: dict[str, tuple[str, str]] = {
    "no-address": ("connect", "missing argument 'HOST:PORT'"),
    "no-port": ("connect localhost --token-file good -- random", "'localhost': expected HOST:PORT"),
    "ipv6": ("connect ::1:4000 --token-file good -- random", "expected brackets around an IPv6 address, as [::1]:4000"),
    "no-bot": (WITH, "no bot, expected -- CMD ... after the address"),
    "unknown-bot": (f"{WITH} -- greedyy", "bot 'greedyy': not a sample bot (greedy"),
    "missing-bot": (f"{WITH} -- ./gone", "bot './gone': there is no file '{here}/gone'"),
    "missing-program": (f"{WITH} -- no-such-program bot.py", "there is no program 'no-such-program' in PATH"),
    "option-of-the-bot": (f"{WITH} random --deep", "no such option '--deep'"),
    "no-token": (f"{AT} -- random", "no token, expected --token-file FILE or the variable LASTCARD_TOKEN"),
    "token-missing": (f"{AT} --token-file gone -- random", "gone: no such file or directory, expected a token file"),
    "token-is-a-folder": (f"{AT} --token-file . -- random", ".: is a directory, expected a token file"),
    "token-is-a-hash": (f"{AT} --token-file hash -- random", "hash: holds the hash of a token, expected the token"),
    "token-is-none": (f"{AT} --token-file bad -- random", "bad: expected one line with a token that `last"),
    "ca-missing": (f"{WITH} --ca gone -- random", "--ca gone: no such file or directory, expected certificates in PEM"),
    "ca-is-none": (f"{WITH} --ca bad -- random", "--ca bad: "),
    "patience": (f"{WITH} --patience long -- random", "'--patience': 'long', expected a whole number from 0"),
    "token-nothing": ("token", "expected either NEW, the name of a file to make, or --hash FILE"),
    "token-both": ("token new --hash good", "expected either NEW, the name of a file to make, or --hash FILE"),
    "token-exists": ("token good", "good: exists already, expected the name of a new file"),
    "token-nowhere": ("token no/token", "no/token: no such file or directory, expected the name of a new file"),
    "hash-missing": ("token --hash gone", "gone: no such file or directory, expected a token file"),
    "hash-of-none": ("token --hash bad", "bad: expected one line: a token that `lastcard token` made, or its hash"),
}  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("here")
    for name, text in {"good": TOKEN, "hash": hash_of(TOKEN), "bad": "no token"}.items():
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def ends(here: Path) -> dict[str, Done]:
    """How each case ended: two at a time, since each is a process."""
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda words: lastcard(*words.split(" "), cwd=here), [words for words, _ in WRONG.values()])
        return dict(zip(WRONG, done, strict=True))


@pytest.mark.parametrize("name", WRONG)
def test_one_line_says_what_was_expected(name: str, ends: dict[str, Done], here: Path) -> None:
    done = ends[name]
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("lastcard: ")
    assert done.err.count("\n") == 1
    assert WRONG[name][1].format(here=here) in done.err
    assert {path.name for path in here.iterdir()} == {"good", "hash", "bad"}


def test_a_token_in_the_environment_that_is_none_is_not_shown() -> None:
    done = lastcard("connect", "127.0.0.1:4000", "--", "random", env=environment(LASTCARD_TOKEN="my secret"))
    assert (done.code, done.out) == (2, "")
    assert done.err == "lastcard: LASTCARD_TOKEN: expected a token that `lastcard token` made, and nothing else\n"


# ---- token


def test_a_token_is_made_and_its_hash_is_printed(tmp_path: Path) -> None:
    made: Done = lastcard("token", "bot.token", cwd=tmp_path)
    file = tmp_path / "bot.token"
    token = file.read_text().removesuffix("\n")
    assert IS_TOKEN.fullmatch(token)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (made.code, made.out) == (0, hash_of(token) + "\n")
    assert token not in made.err
    assert [line.split(":")[0] for line in made.err.splitlines()] == ["bot.token", "the line sha256"]
    shown = lastcard("token", "--hash", "bot.token", cwd=tmp_path)
    assert shown == Done(0, made.out, "")
    (tmp_path / "bot.hash").write_text(made.out)
    assert lastcard("token", "--hash", "bot.hash", cwd=tmp_path) == shown


def test_two_tokens_differ(tmp_path: Path) -> None:
    assert lastcard("token", "a", cwd=tmp_path).out != lastcard("token", "b", cwd=tmp_path).out
