"""Takes for each answer all the time that it is told, to the millisecond.

Imitates: a search that knows its clock. It is no fault: a control.
Faults: none; `margin_ms` is there for the way from the bot to the referee (4.5).
Referee: charges the bank by what goes beyond `move_ms`, and never times it out by its own slowness.
"""

import json
import sys
import time

for line in sys.stdin:
    read_at = time.monotonic()
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        ends = read_at + (message.get("move_ms", 0) + message.get("bank_ms", 0)) / 1000
        time.sleep(max(0.0, ends - time.monotonic()))
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
