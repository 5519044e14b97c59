"""Says each of its keys twice, wrong at first and then right.

Imitates: an attack on two readers of one line that choose differently. It is no fault: a control.
Faults: none; of a key that stands twice the last counts (4.1).
Referee: takes the last of each, in `type` too, and replays the match to the same end.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"bye","type":"hello","protocol":7,"protocol":1}', flush=True)
    elif message["type"] == "ask":
        wrong = '"type":"pong","id":0,"action":"resign"'
        right = f'"type":"act","id":{message["id"]},"action":{json.dumps(message["legal"][-1])}'
        print(f"{{{wrong},{right}}}", flush=True)
