"""Writes half of its second answer, and the other half when it is asked the next time.

Imitates: a buffer of fixed size between the bot and its pipe.
Faults: F-21, part of a line until the deadline; F-23, the line that both halves make is late.
Referee: keeps the half at the time-out; whoever throws it away reads the other half as a line of its own.
"""

import json
import sys

rest = ""
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}) + "\n"
        if message["id"] == 2:
            print(act[:20], end="", flush=True)
            rest = act[20:]
        else:
            print(rest + act, end="", flush=True)
            rest = ""
