"""Begins each answer with a byte order mark.

Imitates: the "UTF-8 with BOM" of some editors and runtimes.
Faults: F-26, a BOM; F-41, the third strike.
Referee: applies the fallback, and says what to leave out.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1]}
        sys.stdout.buffer.write(json.dumps(act).encode("utf-8-sig") + b"\n")
        sys.stdout.flush()
