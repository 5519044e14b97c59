"""Reads the memory at address 0 at its third ask.

Imitates: a bug in C, or in a library that is written in it.
Faults: F-37, the process ends.
Referee: applies the fallback, forfeits the seat, and names the signal.
"""

import ctypes
import json
import resource
import sys

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it leaves no core file behind
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        if message["id"] == 3:
            ctypes.string_at(0)
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
