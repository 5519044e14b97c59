"""Answers each ask with the id of the one before.

Imitates: a counter of its own that began at 0.
Faults: F-32, an id that is older; F-20, and so no answer until the deadline; F-41, the third strike.
Referee: drops the lines, lets the clock run on, and times it out.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"] - 1, "action": message["legal"][-1]}), flush=True)
