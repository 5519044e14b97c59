"""Begins each answer with a NUL.

Imitates: a C program that writes one byte too many, so that each line ends in the zero of its string.
Faults: F-26, a NUL; F-41, the third strike.
Referee: applies the fallback; no text of it ends at the zero.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print("\0" + json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
