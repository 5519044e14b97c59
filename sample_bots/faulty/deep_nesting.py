"""Answers with a field of 20,000 brackets inside one another.

Imitates: an attack on a decoder that calls itself: `RecursionError`, or the end of the stack.
Faults: F-27, nested too deep; F-41, the third strike.
Referee: applies the fallback, and is still there.
"""

import json
import sys

NESTED = "[" * 20_000 + "]" * 20_000

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        action = json.dumps(message["legal"][-1])
        print(f'{{"type":"act","id":{message["id"]},"action":{action},"tree":{NESTED}}}', flush=True)
