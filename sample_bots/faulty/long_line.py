"""Answers its second ask with a line of 100,000 bytes, and all others well.

Imitates: a bot that sends its search tree along, once in a while.
Faults: F-30, a line over `max_line`.
Referee: applies the fallback, drops the line up to its LF, and reads on behind it as if nothing had been.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1]}
        if message["id"] == 2:
            act["tree"] = "x" * 100_000
        print(json.dumps(act), flush=True)
