"""Answers with an id of 4,000 digits.

Imitates: an attack on a decoder whose numbers have no end, or that turns them into floats.
Faults: F-28, a number out of range; F-41, the third strike.
Referee: applies the fallback, and quotes the head of the number only.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        action = json.dumps(message["legal"][-1])
        print(f'{{"type":"act","id":{"9" * 4000},"action":{action}}}', flush=True)
