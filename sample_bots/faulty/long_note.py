"""Adds a note of two kilobytes to each answer.

Imitates: a bot that keeps its diary in the referee's log.
Faults: F-28, a `note` over 1 KiB; F-41, the third strike.
Referee: applies the fallback; the answer beside the note does not count.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1], "note": "n" * 2048}
        print(json.dumps(act), flush=True)
