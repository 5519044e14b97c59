"""Answers its second ask with blank lines, one every five milliseconds, and never with anything else.

Imitates: a bot that shows a sign of life, or hopes that a line moves the deadline.
Faults: F-33, blank lines; F-34, the 17th is a flood.
Referee: counts them, lets none of them move the clock, and forfeits the seat.
"""

import json
import sys
import time

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        while message["id"] == 2:
            print(flush=True)
            time.sleep(0.005)
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
