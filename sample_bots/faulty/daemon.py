"""Ends at its third ask and leaves a daemon behind, in a session of its own, that holds all its pipes open.

Imitates: a helper that was started "in the background".
Faults: F-37, the process ends.
Referee: notices the end of the process, though its output has not ended, and ends the daemon.
"""

import json
import os
import sys
import time

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        if message["id"] == 3:
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:  # the daemon: no group, session or parent ties it to the bot
                    time.sleep(3600)
            os._exit(0)
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
