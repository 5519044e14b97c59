"""Divides by zero at its third ask.

Imitates: the bug that every bot has.
Faults: F-37, the process ends.
Referee: applies the fallback and forfeits the seat at once, without waiting for the deadline; keeps the traceback.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        chances = 1 / (3 - message["id"])
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
