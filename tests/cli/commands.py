"""Runs `lastcard` as its users do, in a process of its own, and writes small bots; knows no command's meaning."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PATIENCE = 120
LASTCARD = (sys.executable, "-m", "lastcard.referee")


class Done(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str


def environment(**changes: str) -> dict[str, str]:
    """A user's environment: nothing that changes how Python or we print, but for the changes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LASTCARD"))}
    return kept | {"TERM": "xterm", "COLUMNS": "100"} | changes


def lastcard(*words: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Done:
    """One run to its end, without a terminal."""
    done = subprocess.run(
        (*LASTCARD, *words),
        cwd=cwd,
        env=env or environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def start(*words: str, cwd: Path | None = None) -> "subprocess.Popen[str]":
    """A run that goes on, its output to be read as it comes."""
    return subprocess.Popen(
        (*LASTCARD, *words),
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# A bot that plays its fallback; CHOOSE may change `action` and `more`, the other fields of the act.
BOT = """\
import json, os, signal, sys, time
def say(message):
    print(json.dumps(message), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "hello":
        say({"type": "hello", "protocol": 1, "name": "test"})
    elif ask["type"] == "ask":
        action, more = ask["legal"][-1], {}
        CHOOSE
        say({"type": "act", "id": ask["id"], "action": action, **more})
"""


def bot(folder: Path, name: str, choose: str = "pass") -> str:
    """The word for a bot in a file of its own."""
    path = folder / f"{name}.py"
    path.write_text(BOT.replace("CHOOSE", choose))
    return str(path)


ILLEGAL = "action = 'play Z9'"
HANG = "time.sleep(3600)"
DIES_ONCE = """if not os.path.exists("died"):
            open("died", "w").close()
            sys.exit(7)"""
"""A bot runs in its own folder, so it finds there that it has been here before."""
