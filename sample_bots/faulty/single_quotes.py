"""Writes its answers as Python shows a dictionary: in single quotes.

Imitates: `print(answer)` in place of `print(json.dumps(answer))`.
Faults: F-24, not JSON; F-41, the third strike.
Referee: applies the fallback, and hints at the quotes.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print({"type": "act", "id": message["id"], "action": message["legal"][-1]}, flush=True)
