"""Answers everything twice.

Imitates: a client that sends again because it does not trust its pipe.
Faults: F-33, a second answer; F-34, the 17th is a flood.
Referee: takes the first, and never lets the second answer a later ask.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]})
        print(act, act, sep="\n", flush=True)
