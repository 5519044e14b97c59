"""Plays one match and ends when it is over.

Imitates: a bot that was written for one match.
Faults: F-61, the process ends between matches.
Referee: counts it against the next match, at its first ask; the match after that has a new process.
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
    elif message["type"] == "end":
        os._exit(0)
