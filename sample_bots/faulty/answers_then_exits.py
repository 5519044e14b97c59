"""Gives its third answer, and ends.

Imitates: a program that counts its turns, or dies of what it does after its answer.
Faults: F-38, a whole answer and then the end; F-52, which costs it its next asked decision.
Referee: lets the answer count: a line that was written whole is not lost with its writer.
"""

import json
import os
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
        if message["id"] == 3:
            os._exit(0)
