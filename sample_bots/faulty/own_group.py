"""Starts a child in a process group of its own and leaves it behind; it plays well.

Imitates: every program that a shell with job control starts. It is no fault: a control.
Faults: none; what it starts is its own affair while it plays.
Referee: ends the child together with the bot: a signal to the bot's group does not reach it.
"""

import json
import os
import sys
import time

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "start":
        if os.fork() == 0:
            os.setpgid(0, 0)
            time.sleep(3600)
            os._exit(0)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
