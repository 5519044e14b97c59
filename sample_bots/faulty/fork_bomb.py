"""Forks until it may not, three hundred times at most, and says in a note how often it could.

Imitates: the fork bomb; this one has an end and its children sleep.
Faults: none; it plays well with what it got.
Referee: bounds the number at strict, and at basic where it is root, so that no other bot lacks one; ends all of them.
"""

import json
import os
import sys
import time

MOST = 300

forked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "start":
        try:
            while forked < MOST:
                if os.fork() == 0:
                    time.sleep(3600)
                    os._exit(0)
                forked += 1
        except OSError:
            pass
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1], "note": f"forked {forked}"}
        print(json.dumps(act), flush=True)
