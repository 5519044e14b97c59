"""Keeps a core busy while the others think, through a child that spins for a minute.

Imitates: pondering, or an attack on the others' clocks. It is no fault: a control.
Faults: none; what runs between asks is its own affair.
Referee: charges no other bot for it, or says that its times are noisy; ends the child with the bot.
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
            ends = time.monotonic() + 60
            while time.monotonic() < ends:
                pass
            os._exit(0)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
