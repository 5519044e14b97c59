"""`lastcard serve` as its users run it: bots of both kinds, signals, resuming, few descriptors, bad usage, and tokens
that stand nowhere.
"""

import io
import json
import re
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

import pytest

from lastcard.engine import Match
from lastcard.referee.net.seating import NetSeating
from lastcard.referee.net.sockets import listen
from lastcard.referee.net.tokens import hash_of
from lastcard.referee.tournament import run
from tests.cli.commands import LASTCARD, PATIENCE, environment, lastcard
from tests.net.caller import Caller, Gone, Line, Running, answer, honest, play
from tests.net.conftest import Certificate
from tests.net.hall import token
from tests.net.serve_rig import cup, ledger, serving, until_played


def faithful(caller: Caller) -> None:
    """Comes back until it is told that the run is over; the referee may be away for a while."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        try:
            caller.log_in()
            bye = play(caller)
        except (Gone, ConnectionError):
            time.sleep(0.05)
            continue
        if not bye.get("again"):
            return
    raise TimeoutError


# ---- a whole run


def test_remote_and_local_bots_at_the_same_tables(tmp_path: Path) -> None:
    cup(tmp_path, "a", "b", local=["greedy"])
    with serving(tmp_path, "cup.toml", "--jobs", "2") as server:
        bots = [server.bot("a"), server.bot("b")]
        code, out, err = server.ended()
        for bot in bots:
            assert bot.join().heard[-1] == {"type": "bye", "reason": "the run is over"}
    assert code == 0
    assert re.match(r"listening on 127\.0\.0\.1:\d+ without TLS for a, b\n", out)
    assert "a has come in from 127.0.0.1" in out
    assert "Traceback" not in err
    assert [(row.block, row.rotation) for row in ledger(tmp_path)] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    with pytest.raises(ConnectionRefusedError):
        Caller(server.port, token("a")).connect()


def test_the_same_matches_as_over_pipes(tmp_path: Path) -> None:
    """`lastcard connect` with the sample bots, against the same bots as processes, seed by seed."""
    cup(tmp_path, "a", "b", blocks=1)
    with serving(tmp_path, "cup.toml") as server:
        clients = [
            subprocess.Popen(
                [*LASTCARD, "connect", f"127.0.0.1:{server.port}", "--token-file", f"{name}.token", "--", command],
                cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )
            for name, command in (("a", "greedy"), ("b", "random"))
        ]  # fmt: skip
        assert server.ended()[0] == 0
        for client in clients:
            _, err = client.communicate(timeout=PATIENCE)
            assert client.returncode == 0, err
    seeds: set[str] = set()
    for row in ledger(tmp_path):
        log = tmp_path / "cup" / "logs" / f"{row.block}-{row.rotation}.jsonl"
        first = json.loads(log.read_text().splitlines()[0])
        seeds.add(first["seed"])
        order = ["greedy" if bot["name"] == "a" else "random" for bot in first["t"]["bots"]]
        again = tmp_path / "again.jsonl"
        done = lastcard("play", *order, "--edition", "classic", "--rounds", "1", "--seed", first["seed"],
                        "--log", str(again), cwd=tmp_path)  # fmt: skip
        assert done.code == 0, done.err
        assert json.loads(again.read_text().splitlines()[-1])["digest"] == row.digest
        again.unlink()
    assert len(seeds) == 2  # a remote bot meets no deal twice


def test_over_tls(tmp_path: Path, certificate: Certificate) -> None:
    cup(tmp_path, "a", local=["greedy"], blocks=1)
    files = ["--cert", str(certificate.cert), "--key", str(certificate.key)]
    with serving(tmp_path, "cup.toml", "--host", "0.0.0.0", *files) as server:
        done = lastcard("connect", f"localhost:{server.port}", "--token-file", "a.token", "--ca", str(certificate.cert),
                        "--", "random", cwd=tmp_path)  # fmt: skip
        assert done.code == 0, done.err
        code, out, _ = server.ended()
    assert code == 0
    assert "with TLS for a" in out


def test_a_bot_that_never_comes_is_suspended(tmp_path: Path) -> None:
    cup(tmp_path, "a", "b", blocks=3, start_ms=200)
    with serving(tmp_path, "cup.toml", "--wait", "1", "--jobs", "1") as server:
        server.bot("b")
        code, out, _ = server.ended()
    assert code == 0
    assert "not here after 1 s: a; the others begin" in out
    assert "a is suspended: 3 failed starts in a row" in out
    assert len(ledger(tmp_path)) == 6


def test_a_void_match_is_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remote bots in a match that we have spoiled are sent away, and come again for the next attempt."""
    config = cup(tmp_path, "a", "b", blocks=1)
    (listener,) = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    seating = NetSeating({name: hash_of(token(name)) for name in "ab"}, [listener], start_ms=5000, patience=20)
    acts = 0
    act = Match.act

    def spoiled(self: Match, actions: dict[int, str]) -> object:
        nonlocal acts
        acts += 1
        if acts == 5:
            raise RuntimeError("spoiled")
        return act(self, actions)

    monkeypatch.setattr(Match, "act", spoiled)
    bots = [Running(Caller(port, token(name)), honest) for name in "ab"]
    output = io.StringIO()
    assert run(config, tmp_path / "cup", 1, True, player=seating, stream=output) == 0
    for bot in bots:
        caller = bot.join()
        assert [line["type"] for line in caller.all_heard].count("bye") == 2
        assert caller.earlier[0][-1]["again"] is True
    assert "is void: RuntimeError: spoiled" in output.getvalue()
    assert len(ledger(tmp_path)) == 2


# ---- signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_while_bots_are_waited_for(tmp_path: Path, number: signal.Signals) -> None:
    """Nothing runs that could be finished: it ends at once, and says how to go on, on the same port."""
    cup(tmp_path, "a", "b")
    with serving(tmp_path, "cup.toml", "--wait", "3600") as server:
        bot = server.bot("a")
        server.until(rb"a has come in")
        server.process.send_signal(number)
        code, out, err = server.ended()
        assert bot.join().heard[-1]["type"] == "bye"
    assert (code, err) == (3, "")
    resume = out.splitlines()[-1]
    assert resume.startswith("lastcard serve cup.toml --dir cup --jobs ")
    assert f"--host 127.0.0.1 --port {server.port} --wait 3600" in resume
    with serving(tmp_path, *shlex.split(resume)[2:]) as again:
        assert again.port == server.port
        bots = [again.bot("a"), again.bot("b")]
        assert again.ended()[0] == 0
        for bot in bots:
            bot.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_run_that_is_stopped_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    """Clients that come back by themselves play the rest; each match counts once."""
    cup(tmp_path, "a", "b", blocks=5)

    def slowly(caller: Caller) -> None:
        while True:
            try:
                caller.log_in()
                while (line := caller.read())["type"] != "bye":
                    time.sleep(0.004)
                    answer(caller, line)
            except (Gone, ConnectionError):
                time.sleep(0.05)
                continue
            if line["reason"] == "the run is over" and len(ledger(tmp_path)) == 10:
                return

    with serving(tmp_path, "cup.toml", "--jobs", "1") as server:
        bots = [server.bot("a", slowly), server.bot("b", slowly)]
        until_played(tmp_path, 2)
        server.process.send_signal(number)
        code, out, err = server.ended()
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 3)
    before = ledger(tmp_path)
    assert 0 < len(before) < 10
    assert "Traceback" not in err
    if number != signal.SIGKILL:
        assert out.splitlines()[-1].startswith("lastcard serve ")
    status = lastcard("tournament", "status", "cup", cwd=tmp_path)
    assert "lastcard serve cup/tournament.toml --dir cup" in status.out
    with serving(tmp_path, "cup/tournament.toml", "--dir", "cup", "--port", str(server.port), "--jobs", "1") as again:
        assert again.ended()[0] == 0
        for bot in bots:
            bot.join()
    rows = ledger(tmp_path)
    assert len(rows) == 10
    assert set(before) <= set(rows)


# ---- T-09


def test_few_descriptors(tmp_path: Path) -> None:
    """T-09: strangers take all that they can get; matches with new processes go on, and bots come in."""
    cup(tmp_path, "a", "b", local=["greedy"], blocks=4)
    over = threading.Event()

    def strangers(caller: Caller) -> None:
        socks: deque[socket.socket] = deque(maxlen=150)
        number = 0
        while not over.wait(0.005):
            number += 1
            sock = socket.socket()
            sock.setblocking(False)
            sock.bind((f"127.0.6.{number % 250 + 1}", 0))
            sock.connect_ex(("127.0.0.1", caller.port))
            if len(socks) == socks.maxlen:
                socks.popleft().close()
            socks.append(sock)
        for sock in socks:
            sock.close()

    with serving(tmp_path, "cup.toml", "--jobs", "1", descriptors=110) as server:
        flood = Running(Caller(server.port, ""), strangers)
        time.sleep(1)
        bots = [server.bot("a", faithful), server.bot("b", faithful)]
        code, _, err = server.ended()
        over.set()
        for bot in (*bots, flood):
            bot.join()
    assert (code, err) == (0, "")
    assert [row.faults for row in ledger(tmp_path)] == ["[{},{}]"] * 8


def test_too_few_descriptors(tmp_path: Path) -> None:
    """T-09: said before anything is begun, where nobody could come in."""
    cup(tmp_path, "a", "b")
    command = shlex.join([*LASTCARD, "serve", "cup.toml", "--jobs", "1"])
    done = subprocess.run(["sh", "-c", f"ulimit -n 90; exec {command}"], cwd=tmp_path, env=environment(),
                          capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "lastcard: only 90 open files are allowed here (ulimit -n), expected 106 at least\n"
    assert not (tmp_path / "cup").exists()


# ---- tokens


def talkative(caller: Caller) -> None:
    """Says its token wherever something can be said."""
    secret = caller.token
    greeting = {"type": "hello", "protocol": 1, "name": f"I am {secret}", "version": secret, "features": [secret]}
    told = False
    while True:
        caller.connect()
        caller.read()
        caller.say(json.dumps({**greeting, "token": secret}).encode() + f"\n{secret}\n".encode() + hello_again(secret))
        try:
            while (line := caller.read())["type"] != "bye":
                if line["type"] == "ask":
                    tell_it(caller, line, line["id"] if not told else 0)
            told = True
        except Gone:
            continue
        if not line.get("again"):
            return


def hello_again(secret: str) -> bytes:
    return json.dumps({"type": "hello", "protocol": 1, "token": secret}).encode() + b"\n"


def tell_it(caller: Caller, ask: Line, number: int) -> None:
    """The token in an answer, another way each time."""
    secret = caller.token
    escaped = "".join(f"\\u{ord(letter):04X}" for letter in secret)
    match number:
        case 1:
            caller.act(ask, note=f"note {secret}")
        case 2:
            caller.say(f'{{"type":"act","id":{ask["id"]},"action":"{escaped}"}}\n'.encode())
        case 3:
            caller.act(ask, f"play {secret}")
        case 4:
            caller.say(f"garbage {secret}\n".encode())
        case _:
            for part in (f'{{"type":"act","id":{ask["id"]},"note":"{secret[:9]}', secret[9:]):
                caller.say(part.encode())
                time.sleep(0.002)
            caller.say(f'","action":"{ask["legal"][-1]}"}}\n'.encode())


def test_a_token_stands_nowhere(tmp_path: Path) -> None:
    """In no file, in nothing that is printed, in no process's title or environment; not in halves either."""
    cup(tmp_path, "a", "b", blocks=1, strikes=9)
    (tmp_path / "b.token").write_text(hash_of(token("b")) + "\n")
    secrets = [token(name).encode() for name in "ab"]
    with serving(tmp_path, "cup.toml", "--jobs", "1") as server:
        bots = [server.bot(name, talkative) for name in "ab"]
        server.until(rb"has come in")
        titles = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        with suppress(OSError):
            titles += Path(f"/proc/{server.process.pid}/environ").read_bytes()
        code, out, err = server.ended()
        for bot in bots:
            bot.join()
    report = lastcard("tournament", "status", "cup", cwd=tmp_path)
    written = {path: path.read_bytes() for path in (tmp_path / "cup").rglob("*") if path.is_file()}
    assert code == 0
    assert len(written) >= 6
    texts: dict[str, bytes] = {
        **{str(path): text for path, text in written.items()},
        "printed": (out + err + report.out + report.err).encode(),
        "titles": titles,
    }
    for where, text in texts.items():
        for secret in secrets:
            assert secret not in text, where
    logs = b"".join(text for path, text in written.items() if path.suffix == ".jsonl")
    assert b"note [token]" in logs
    assert b"I am [token]" in logs
    assert b"garbage [token]" in logs
    assert b"play [token]" in logs
    assert logs.count(b'"note":"[token]"') > 5  # those that came in two pieces


# ---- bad usage


def test_a_token_that_others_may_read_is_warned_of(tmp_path: Path) -> None:
    cup(tmp_path, "a", local=["greedy"], blocks=1)
    (tmp_path / "a.token").chmod(0o644)
    with serving(tmp_path, "cup.toml") as server:
        server.bot("a")
        code, _, err = server.ended()
    assert code == 0
    assert "a.token: others may read this token (mode 0644); chmod 600 makes it yours" in err
    (tmp_path / "a.token").write_text(hash_of(token("a")))
    with serving(tmp_path, "cup.toml") as server:
        assert server.ended()[2] == ""  # all is played: it ends at once


def test_a_run_over_tcp_is_not_for_tournament_run(tmp_path: Path) -> None:
    cup(tmp_path, "a", local=["greedy"])
    done = lastcard("tournament", "run", "cup.toml", cwd=tmp_path)
    assert done.code == 2
    assert "[[bot]] a: it comes over TCP, which takes `lastcard serve`" in done.err


BAD = {
    "no tcp": ([], "has tcp = true, expected one at least"),
    "wide open": (["--host", "0.0.0.0"], "expected --cert and --key, or --insecure"),
    "half a certificate": (["--cert", "x.pem"], "belong together"),
    "no certificate": (["--cert", "x.pem", "--key", "y.pem"], "expected a certificate in PEM form"),
    "no host": (["--host", "no.such.host.invalid", "--insecure"], "expected the name or the address of this machine"),
    "not ours": (["--host", "192.0.2.1", "--insecure"], "expected an address to listen on"),
    "taken": (["--port", "TAKEN"], "address already in use, expected an address to listen on"),
    "no port": (["--port", "70000"], "65535"),
    "no token": ([], "a.token: no such file or directory, expected a token file"),
    "same token": ([], "[[bot]] b: has the same token as a, expected one of its own"),
    "no file": ([], "gone.toml"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_usage(tmp_path: Path, name: str) -> None:
    """One sentence, exit code 2, and nothing is begun."""
    words, expected = BAD[name]
    cup(tmp_path, *(() if name == "no tcp" else ("a", "b")), local=["greedy", "random"])
    if name == "no token":
        (tmp_path / "a.token").unlink()
    if name == "same token":
        (tmp_path / "b.token").write_text(hash_of(token("a")))
    file = "gone.toml" if name == "no file" else "cup.toml"
    (taken,) = listen("127.0.0.1", 0)
    with taken:
        words = [str(taken.getsockname()[1]) if word == "TAKEN" else word for word in words]
        done = lastcard("serve", file, *words, cwd=tmp_path)
    assert done.code == 2, done
    assert expected in done.err
    assert done.err.startswith("lastcard: ")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "cup").exists()
    assert token("a") not in done.err
