"""`lastcard serve` in a process of its own: a tournament's file with token files, what it prints, and its ledger."""

import os
import re
import select
import shlex
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.cli.commands import LASTCARD, PATIENCE, environment
from tests.net.caller import Caller, Running, Script, honest
from tests.net.hall import token

HEAD = """\
[tournament]
name = "cup"
edition = "classic"
seats = 2
blocks = {blocks}
rounds = 1
seed = "a-seed"
[limits]
move_ms = 2000
bank_ms = 2000
start_ms = {start_ms}
strikes = {strikes}
"""
REMOTE = '[[bot]]\nname = "{name}"\ntcp = true\ntoken_file = "{name}.token"\n'
LOCAL = '[[bot]]\nname = "{name}"\ncommand = "{name}"\n'


def cup(
    folder: Path, *remote: str, local: Sequence[str] = (), blocks: int = 2, start_ms: int = 5000, strikes: int = 3
) -> Path:
    """A tournament's file, and a token file for each remote bot."""
    text = HEAD.format(blocks=blocks, start_ms=start_ms, strikes=strikes)
    for name in remote:
        text += REMOTE.format(name=name)
        path = folder / f"{name}.token"
        path.touch(mode=0o600)
        path.write_text(token(name) + "\n")
    text += "".join(LOCAL.format(name=name) for name in local)
    (folder / "cup.toml").write_text(text)
    return folder / "cup.toml"


class Serving:
    """`lastcard serve` at work."""

    def __init__(self, folder: Path, *words: str, descriptors: int = 0) -> None:
        command: Sequence[str] = (*LASTCARD, "serve", *words, "--plain")
        if descriptors:
            command = ("sh", "-c", f"ulimit -n {descriptors}; exec {shlex.join(command)}")
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.out = b""
        self.port = int(self.until(rb"listening on [^\n]*:(\d+) with")[1])

    def until(self, pattern: bytes) -> re.Match[bytes]:
        """Reads what it prints up to this."""
        assert self.process.stdout is not None
        ends = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self.out)) is None:
            assert time.monotonic() < ends, self.out
            readable, _, _ = select.select([self.process.stdout], [], [], 1)
            if readable:
                data = os.read(self.process.stdout.fileno(), 65536)
                assert data, (self.out, self.process.stderr and self.process.stderr.read())
                self.out += data
        return found

    def ended(self) -> tuple[int, str, str]:
        """Waits for its end: exit code, and all that it printed."""
        out, err = self.process.communicate(timeout=PATIENCE)
        self.out += out
        return self.process.returncode, self.out.decode(), err.decode()

    def bot(self, name: str, script: Script = honest) -> Running:
        return Running(Caller(self.port, token(name)), script)


@contextmanager
def serving(folder: Path, *words: str, descriptors: int = 0) -> Iterator[Serving]:
    at_work = Serving(folder, *words, descriptors=descriptors)
    try:
        yield at_work
    finally:
        if at_work.process.poll() is None:
            at_work.process.kill()
        at_work.process.wait(30)
        for stream in (at_work.process.stdout, at_work.process.stderr):
            assert stream is not None
            stream.close()


class Row(NamedTuple):
    """A match in the ledger."""

    block: int
    rotation: int
    digest: str
    faults: str


def ledger(folder: Path) -> list[Row]:
    with sqlite3.connect(f"file:{folder}/cup/ledger.sqlite?mode=ro", uri=True) as book:
        book.row_factory = sqlite3.Row
        rows = [dict(row) for row in book.execute("select * from matches order by block, rotation")]
    book.close()
    return [Row(row["block"], row["rotation"], row["digest"], row["faults"]) for row in rows]


def until_played(folder: Path, matches: int) -> None:
    """Wait until so many are in the ledger."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        with suppress(sqlite3.OperationalError):  # it is not there yet
            if len(ledger(folder)) >= matches:
                return
        time.sleep(0.02)
    raise TimeoutError
