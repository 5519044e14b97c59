"""Answers its second ask 0.4 s after all its time is over, and all others at once.

Imitates: a hiccup: garbage collection, a swapped page, a slow disk.
Faults: F-20, no byte until the deadline; F-23, the late answer counts for nothing.
Referee: takes one strike, and does not take the late answer for that of the next ask.
"""

import json
import sys
import time

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        if message["id"] == 2:
            time.sleep((message.get("move_ms", 60_000) + message.get("bank_ms", 0)) / 1000 + 0.4)
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
