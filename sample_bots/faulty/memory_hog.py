"""Takes 2 GB of memory at its second ask, and plays on if it gets them. Meant for the levels basic and strict.

Imitates: a table of positions without a limit.
Faults: F-37, the process ends: its limit of memory ends it.
Referee: forfeits the seat, says that it was the memory, and no other process of the machine is killed in its place.
"""

import json
import sys

MEGABYTES = 2048

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        if message["id"] == 2:
            taken = [b"\1" * 2**20 for _ in range(MEGABYTES)]
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
