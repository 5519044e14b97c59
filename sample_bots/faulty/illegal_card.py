"""Plays a Wild Draw Four whether it holds one or not.

Imitates: a cheat, or a bot that has lost count of its hand.
Faults: F-29, an action that is not legal; F-41, the third strike.
Referee: applies the fallback, and moves no card that the seat does not hold.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        legal, action = message["legal"], "play WD B"
        if action in legal:  # now it would be legal: a card of a colour that does not exist, then
            action = "play P7"
        print(json.dumps({"type": "act", "id": message["id"], "action": action}), flush=True)
