"""A guide as a script: its fenced blocks, and what is done with each. Knows nothing of what the guides say.

A block in a language is run; how, a comment before it says, which no reader sees:

    <!-- file: NAME -->    the block is the content of this file
    <!-- read -->          the block is a tournament file that can be read, though not all that it names is there
    <!-- until: WORDS -->  the commands run beside what follows, which waits until they have said this
    <!-- beside -->        the commands run beside what follows

A block `sh` without a comment runs when everything beside it has ended; all of it has to end well. A block `text`
is shown and not run.
"""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lastcard.referee.tournament.config import load_config

BLOCK = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"sh", "toml", "python", "text"}
PORT = re.compile(r"\b400\d\b")
NAME, THIS_MACHINE = "referee.example.org", "localhost"
PATIENCE = 120.0


class Block(NamedTuple):
    """One fenced block, in the language that it names, and what the comment before it asks for."""

    language: str
    text: str
    what: str = ""
    of: str = ""


def blocks(guide: str) -> list[Block]:
    """All of a guide."""
    found = [
        Block(language, text, *(part.strip() for part in comment.partition(":")[::2]))
        for comment, language, text in BLOCK.findall(guide)
    ]
    assert 2 * len(found) == len(re.findall("^```", guide, re.MULTILINE))
    return found


class Beside(NamedTuple):
    """Commands that run beside the rest of the guide."""

    text: str
    process: "subprocess.Popen[bytes]"
    output: Path

    def said(self) -> str:
        return f"$ {self.text}{self.output.read_text(encoding='utf-8')}"


class Reader:
    """Follows a guide to the letter in an empty folder, on ports of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "guide"
        self._folder.mkdir()
        self._outputs = folder
        self._ports: dict[str, str] = {}
        self._beside: list[Beside] = []
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path}

    def follow(self, guide: Sequence[Block]) -> None:
        """Do all of it."""
        try:
            for block in guide:
                self._do(block._replace(text=self._here(block.text)))
            self._wait()
        finally:
            self._end()

    def _here(self, text: str) -> str:
        return PORT.sub(lambda port: self._ports.setdefault(port[0], free_port()), text).replace(NAME, THIS_MACHINE)

    def _do(self, block: Block) -> None:
        match block.language, block.what:
            case "text", "":
                pass
            case (("toml" | "python"), "file"):
                self._write(block)
            case "toml", "read":
                self._write(block._replace(of="read.toml"))
            case "sh", "":
                self._wait()
                self._start(block)
                self._wait()
            case "sh", "until":
                started = self._start(block)
                wait_for(started, block.of)
            case "sh", "beside":
                self._start(block)
            case _:
                raise AssertionError(f"nobody knows what to do with this: {block}")

    def _write(self, block: Block) -> None:
        path = self._folder / block.of
        path.write_text(block.text, encoding="utf-8")
        if block.language == "toml":
            load_config(path)

    def _start(self, block: Block) -> Beside:
        output = self._outputs / f"{len(list(self._outputs.iterdir()))}.out"
        with output.open("wb") as file:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", block.text], cwd=self._folder, env=self._environment,
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
            )  # fmt: skip
        self._beside.append(Beside(block.text, process, output))
        return self._beside[-1]

    def _wait(self) -> None:
        """Until all that runs has ended, and well."""
        until = time.monotonic() + PATIENCE
        while codes := [one.process.poll() for one in self._beside]:
            assert not any(codes), f"exit codes {codes}:\n{self._all_said()}"
            if None not in codes:
                self._beside.clear()
                return
            assert time.monotonic() < until, f"still running:\n{self._all_said()}"
            time.sleep(0.02)

    def _all_said(self) -> str:
        return "\n".join(one.said() for one in self._beside)

    def _end(self) -> None:
        for one in self._beside:
            if one.process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(one.process.pid, 15)
                one.process.wait(PATIENCE)


def free_port() -> str:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


def wait_for(started: Beside, words: str) -> None:
    """Until the commands have said so."""
    until = time.monotonic() + PATIENCE
    while words not in started.said():
        assert started.process.poll() is None, started.said()
        assert time.monotonic() < until, started.said()
        time.sleep(0.02)


def links(guide: str) -> Iterator[tuple[str, str]]:
    """Path and anchor of each link that leads nowhere else in the world."""
    for path, _, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(#([^)\s]+))?\)", guide):
        yield path, anchor


def anchors(guide: str) -> set[str]:
    """Where links may lead inside a guide, as the usual renderers name it."""
    titles = re.findall(r"^#+ (.*)$", guide, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
