"""Asks for its lines with a prompt, which goes to stdout and sticks to the front of its own answer.

Imitates: `input("> ")` in the main loop, as every beginner's course has it.
Faults: F-06, a hello that is none.
Referee: forfeits it before the deal at once, without waiting for a better hello, and quotes the line.
"""

import json

while True:
    message = json.loads(input("> "))
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
