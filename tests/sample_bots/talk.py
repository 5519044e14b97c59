"""Scripted conversations with a bot over pipes: a referee's lines, and what came back. Knows no engine."""

import json
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Message = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[2] / "sample_bots"
RANDOM_BOTS = ("random_bot.py", "random_bot.js", "random_bot.c")
BOTS = (*RANDOM_BOTS, "greedy_bot.py")
PATIENCE = 20.0  # seconds that a bot may take for one line on a busy machine; none of them is ever waited out

HELLO: Message = {"type": "hello", "protocol": 1, "referee": "test", "start_ms": 30000, "max_line": 65536}
BYE: Message = {"type": "bye", "reason": "done"}


def start(bot_seed: int = 7, **more: Any) -> Message:
    """The `start` of a match between two seats."""
    return {
        "type": "start", "match": "6f0c", "edition": "mario-kart", "options": {"target": 500}, "seat": 0,
        "players": ["a", "b"], "limits": {"move_ms": 1000, "bank_ms": 10000, "strikes": 3},
        "bot_seed": bot_seed, **more,
    }  # fmt: skip


def ask(
    kind: str, legal: Sequence[str], hand: Sequence[str], *, number: int = 1, seats: int = 2, **state: Any
) -> Message:
    """An ask of seat 0, whose hand this is; the others hold five cards each unless `counts` differs."""
    view = {
        "round": 1, "dealer": 1, "turn": 0, "direction": 1, "top": "R3", "color": "R", "hand": list(hand),
        "counts": [len(hand)] + [5] * (seats - 1), "draw_pile": 61, "scores": [0] * seats, "out": [],
        "before": None, **state,
    }  # fmt: skip
    return {
        "type": "ask", "id": number, "kind": kind, "legal": list(legal), "state": view, "events": [],
        "move_ms": 1000, "bank_ms": 10000, "used_ms": 0,
    }  # fmt: skip


EVERY_KIND: tuple[Message, ...] = (
    ask("turn", ["play R7", "play WI", "draw"], ["R7", "B2", "WI"]),
    ask("turn", ["play R7", "play W R", "play W G", "play WD B", "draw"], ["R7", "B2", "W", "WD"]),
    ask("drawn", ["play R7", "keep"], ["R7", "B2", "B3"], about={"card": "R7"}),
    ask("extra", ["play G7", "play W G", "stop"], ["G7", "W", "B3"], about={"card": "GS", "missed": [1]}),
    ask("color", ["color R", "color G", "color B", "color Y"], ["R7", "B2", "B3"], about={"why": "bobomb"}),
    ask("target", ["target 1", "target 2"], ["R7"], seats=3, about={"card": "G4"}),
    ask("target", ["target 1", "target none"], ["R7", "B3"], about={"card": "GT"}),
    ask("challenge", ["challenge", "accept"], ["R7"], about={"seat": 1, "color": "G"}, turn=1),
    ask("catch", ["catch", "wait"], ["R7", "B2"], about={"seat": 1}, turn=1),
    ask("a kind of next year", ["barter", "decline"], ["R7"]),
)


def encode(message: Message) -> bytes:
    """One line as a referee writes it."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


class Talk:
    """One running bot. `say` writes a line; `hear` waits for one, which proves that the bot flushes."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.unread = b""

    def say(self, *messages: Message) -> None:
        assert self.process.stdin is not None
        for message in messages:
            os.write(self.process.stdin.fileno(), encode(message))

    def hear(self) -> Message:
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        while b"\n" not in self.unread:
            assert select.select([pipe], [], [], PATIENCE)[0], "the bot owes a line and says nothing"
            data = os.read(pipe, 65536)
            assert data, "the bot owes a line and has closed its output"
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def ended(self) -> tuple[int, bytes, bytes]:
        """Wait for the end of the process: exit status, what it said beyond what was heard, its stderr."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, self.unread + out, err


@contextmanager
def talk(command: Sequence[str]) -> Iterator[Talk]:
    """A bot as a child process; it is gone afterwards, whatever happened."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        try:
            yield Talk(process)
        finally:
            if process.poll() is None:
                process.kill()


def answers(command: Sequence[str], messages: Sequence[Message]) -> list[Message]:
    """What a bot says to all these lines and the end of input; it must end without complaint."""
    ran = subprocess.run(command, input=b"".join(map(encode, messages)), capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def build_c(compiler: str, target: Path, *flags: str) -> str:
    """Compile random_bot.c, warnings are errors; by default with address and undefined-behaviour checks."""
    flags = flags or ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    source = FOLDER / "random_bot.c"
    warnings = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
    command = [compiler, *warnings, *flags, "-o", str(target), str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return str(target)
