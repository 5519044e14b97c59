"""Ends its answers with CR alone.

Imitates: the line end of very old systems, and of progress bars.
Faults: F-21, part of a line until the deadline; F-41, the third strike.
Referee: knows LF as the only end of a line, times it out and shows the part.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1]}
        print(json.dumps(act), end="\r", flush=True)
