"""Writes a temporary file of 64 MB at its first ask, and says in a note how much of it there was room for.

Imitates: a cache that fills the disk; this one has no name and is given up at once.
Faults: none; it plays well with what it got.
Referee: bounds the file from level basic on.
"""

import json
import sys
import tempfile

MEGABYTES = 64


def fill() -> int:
    """How many megabytes there was room for."""
    written = 0
    try:
        with tempfile.TemporaryFile(buffering=0) as file:
            while written < MEGABYTES and file.write(b"\1" * 2**20) == 2**20:
                written += 1
    except OSError as error:
        print(error, file=sys.stderr)
    return written


written = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        if message["id"] == 1:
            written = fill()
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1], "note": f"wrote {written} MB"}
        print(json.dumps(act), flush=True)
