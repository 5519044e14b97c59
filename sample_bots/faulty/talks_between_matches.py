"""Prints its statistics, twenty lines of them, when a match is over.

Imitates: a summary for its author, on stdout.
Faults: F-60, lines between matches; F-34, the 17th is a flood.
Referee: counts them for the next match, which the seat forfeits before the deal.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
    elif message["type"] == "end":
        for number in range(20):
            print("statistic", number, "of the match", message["match"])
        sys.stdout.flush()
