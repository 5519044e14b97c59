"""Prints what it thinks to stdout before each answer.

Imitates: a forgotten `print` of a debugging session.
Faults: F-24, a line that is no JSON; F-23, the answer behind it comes too late; F-41, the third strike.
Referee: applies the fallback at the line, drops the answer behind it, and hints at stdout.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print("best of", len(message["legal"]), "is", message["legal"][-1])
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
