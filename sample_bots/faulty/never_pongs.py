"""Lists the feature `ping` and answers none; it thinks 1.3 s about each ask.

Imitates: a feature list that was copied.
Faults: F-53, no `pong` in 5 s.
Referee: waits for no pong while it plays, and forfeits the seat at its next asked decision.
"""

import json
import sys
import time

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"features":["ping"]}', flush=True)
    elif message["type"] == "ask":
        time.sleep(1.3)
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
