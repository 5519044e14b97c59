"""Answers in capitals.

Imitates: a bot that tidies up what it sends.
Faults: F-29, an action in another case; F-41, the third strike.
Referee: compares byte by byte, and quotes what would have been legal.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1].upper()}
        print(json.dumps(act), flush=True)
