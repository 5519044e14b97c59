"""Counts its matches in its memory and in a file, and says both numbers in a note at each start.

Imitates: a bot that learns from match to match, which is no fault, and why a tournament starts bots anew.
Faults: none; it plays well.
Referee: lets it; new processes forget the first number, and at strict, where /tmp is its own, the second as well.
"""

import json
import os
import sys
import tempfile

path = os.path.join(tempfile.gettempdir(), f"remembers-{os.environ.get('LASTCARD_MATCH', '')}")
matches = 0
note = ""
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "start":
        matches += 1
        with open(path, "ab") as file:
            file.write(b".")
            note = f"process {matches}, file {file.tell()}"
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1], "note": note}
        print(json.dumps(act), flush=True)
