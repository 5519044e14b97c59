"""Ends its lines with CR LF.

Imitates: a program that was written on Windows. It is no fault: a control.
Faults: none; a CR before the LF is tolerated (4.1).
Referee: plays with it to the end.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', end="\r\n", flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1]}
        print(json.dumps(act), end="\r\n", flush=True)
