"""Looks for secrets: environment, inherited descriptors, what the referee has open, its memory, networks.

Imitates: an attack on the hidden hands; what it found stands in the note of its first answer.
Faults: none; looking is free.
Referee: hands down no descriptor and no variable at any level; at strict nothing of the rest is there to be found.
"""

import json
import os
import socket
import sys
from collections.abc import Iterator


def can_open(path: str) -> bool:
    """Whether it may be read."""
    try:
        with open(path, "rb"):
            return True
    except OSError:
        return False


def files_of(process: int) -> Iterator[str]:
    """The regular files that a process has open, as far as they can be read."""
    try:
        opened = os.listdir(f"/proc/{process}/fd")
    except OSError:
        return
    for number in opened:
        path = f"/proc/{process}/fd/{number}"
        if os.path.isfile(path) and can_open(path):
            yield os.path.basename(os.readlink(path))


def foreign_variables() -> set[str]:
    """Names of variables of other processes that this one has not."""
    names: set[str] = set()
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", encoding="utf-8", errors="replace") as file:
                names |= {variable.partition("=")[0] for variable in file.read().split("\0")}
        except OSError:
            pass
    return names - {"", *os.environ}


def findings() -> str:
    """Short enough for a note."""
    referee = os.getppid()
    found = {
        "env": sorted(os.environ),
        "fds": sorted(int(number) for number in os.listdir("/dev/fd") if os.path.exists(f"/dev/fd/{number}")),
        "memory": can_open(f"/proc/{referee}/mem"),
        "foreign": sorted(foreign_variables(), reverse=True)[:8],
        "files": sorted(files_of(referee))[:4],
        "others": sum(number.isdigit() for number in os.listdir("/proc")),
        "networks": [name for _, name in socket.if_nameindex()][:8],
    }
    return json.dumps(found)[:1024]


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1]}
        if message["id"] == 1:
            act["note"] = findings()
        print(json.dumps(act), flush=True)
