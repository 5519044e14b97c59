"""Answers with its id as a text, as a float, as a truth value.

Imitates: JavaScript, Lua and loosely typed hands.
Faults: F-28, a field of the wrong type; F-41, the third strike.
Referee: applies the fallback, takes none of them for the number, and names the field.
"""

import json
import sys


def wrong(number: int) -> object:
    """The id, in one of the ways in which it is none."""
    return [str(number), float(number), True][number % 3]


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": wrong(message["id"]), "action": message["legal"][-1]}), flush=True)
