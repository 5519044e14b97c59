"""Writes 2 MB to stderr at each ask, and answers.

Imitates: a log level that was left at "trace".
Faults: none; stderr is free.
Referee: reads it beside the match, keeps a bounded head and tail, and lets no other clock move.
"""

import json
import os
import sys

LINE = b"TRACE node 000000 alpha -inf beta +inf\n"

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        for _ in range(50):
            os.write(2, LINE * 1000)
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
