"""Prints a banner before it says hello, and plays well after it.

Imitates: a library or a runtime that greets its user on stdout.
Faults: none; F-04, up to 16 other lines before hello are passed over.
Referee: skips the banner and keeps the bot.
"""

import json
import sys

print("FaultyBot 1.0, (c) its author", flush=True)
print("loading the opening book ... done", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
