"""Answers the asks 1 to 5 before they are asked, and then each of them when it is.

Imitates: an attack on a clock that stops at the first line with the right id.
Faults: F-11, an act before the first ask.
Referee: never takes a line that was there before the ask was written for its answer.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}')
        for number in range(1, 6):
            print(json.dumps({"type": "act", "id": number, "action": "draw"}))
        sys.stdout.flush()
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
