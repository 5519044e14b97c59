"""Adds a field of its own that is NaN.

Imitates: Python's `json.dumps(float("nan"))`, which writes what no JSON is.
Faults: F-24, not JSON, though nobody needs the field; F-41, the third strike.
Referee: reads strictly, in ignored fields too.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1], "value": float("nan")}
        print(json.dumps(act), flush=True)
