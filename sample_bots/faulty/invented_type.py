"""Sends a message of its own invention before each answer.

Imitates: a bot that chats, or that was written for a later version.
Faults: F-33, a line of unknown type; F-34, the 17th is a flood.
Referee: passes over sixteen of them, and forfeits the seat at the next.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print('{"type":"chat","text":"good luck"}')
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
