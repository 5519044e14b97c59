"""Leaves fifty zombies: children that have ended and that it never waits for.

Imitates: a bot that starts a helper for each turn and forgets it. It is no fault: a control.
Faults: none; it plays well.
Referee: is left with no zombie when the bot has ended.
"""

import json
import os
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "start":
        for _ in range(50):
            if os.fork() == 0:
                os._exit(0)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
