"""Writes its answers a byte at a time, ten a second.

Imitates: an attack on a deadline that each byte moves on, the slow loris of web servers.
Faults: F-22, bytes one by one past the deadline; F-41, the third strike.
Referee: times it out at the deadline that was set when it was asked.
"""

import json
import sys
import time

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]})
        for character in act + "\n":
            print(character, end="", flush=True)
            time.sleep(0.1)
