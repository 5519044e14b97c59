"""Writes its third answer without the LF at its end, and ends.

Imitates: `printf` without `\\n`, which looks like an answer when somebody reads the output.
Faults: F-39, an answer without LF and then the end.
Referee: takes it for no answer, and says that the LF is missing.
"""

import json
import os
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        last = message["id"] == 3
        act = json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]})
        print(act, end="" if last else "\n", flush=True)
        if last:
            os._exit(0)
