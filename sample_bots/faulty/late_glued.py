"""Answers its second ask only together with its third: two lines in one write.

Imitates: a bot that has fallen one answer behind and catches up.
Faults: F-20, no byte until the deadline; F-23, the late answer, glued to the next one.
Referee: drops the first line, takes the second, and stays in step with the bot.
"""

import json
import sys

late = ""
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}) + "\n"
        if message["id"] == 2:
            late = act
        else:
            print(late + act, end="", flush=True)
            late = ""
