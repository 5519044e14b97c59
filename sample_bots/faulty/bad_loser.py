"""Writes a thousand lines after bye, and ends with exit status 1.

Imitates: an exception in a bot's last handler. It is no fault: a control.
Faults: none; F-70, lines after bye; F-71, any exit status after it.
Referee: reads none of it, and does not wait for it longer than two seconds.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
    elif message["type"] == "bye":
        print("that was not fair\n" * 1000, flush=True)
        sys.exit(1)
