"""Answers in UTF-16.

Imitates: a shell that re-encodes what goes through its pipes.
Faults: F-26, UTF-16; F-41, the third strike.
Referee: applies the fallback, and names the encoding that it looks like.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1]}
        sys.stdout.buffer.write((json.dumps(act) + "\n").encode("utf-16"))
        sys.stdout.flush()
