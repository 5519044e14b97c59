"""Answers its second ask with a line that has no end.

Imitates: an attack on the referee's memory, or a binary that was started by mistake.
Faults: F-30, a line over `max_line`; F-31, more than 1 MiB without LF.
Referee: applies the fallback, then forfeits it; its memory holds no more than `max_line` bytes of the line.
"""

import json
import os
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        if message["id"] == 2:
            while True:
                os.write(1, b"x" * 65_536)
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
