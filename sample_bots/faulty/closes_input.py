"""Closes its input, then gives its second answer, and stays.

Imitates: a reader that has met an error and closed what it read from.
Faults: F-36, the connection is closed.
Referee: takes the answer, does not die of the broken pipe at the next ask, and forfeits the seat.
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
        act = json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]})
        if message["id"] < 2:
            print(act, flush=True)
        else:
            os.close(0)
            print(act, flush=True)
            time.sleep(3600)
