"""Closes its output at its second ask, and stays.

Imitates: a library that tidies up, or a bot that waits to be killed.
Faults: F-36, the output is closed.
Referee: applies the fallback without waiting for the deadline, forfeits the seat, and ends the process.
"""

import json
import os
import sys
import time

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        if message["id"] == 2:
            os.close(1)
            time.sleep(3600)
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
