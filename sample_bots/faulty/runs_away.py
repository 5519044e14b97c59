"""Starts a process that forks its successor and ends, again and again, a new one every millisecond.

Imitates: an attack on a referee that lists processes and then kills them: what is on the list is gone by then.
Faults: none; it plays well. The chase ends by itself after half a minute.
Referee: freezes before it kills, or kills all at once, and leaves nothing.
"""

import json
import os
import sys
import time


def run() -> None:
    """Never more than two processes at a time, each in a session of its own."""
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        if os.fork():
            os._exit(0)
        os.setsid()
        time.sleep(0.001)
    os._exit(0)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "start":
        if os.fork() == 0:
            run()
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
