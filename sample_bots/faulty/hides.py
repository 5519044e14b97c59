"""Leaves a grandchild behind that nothing ties to it: other session, no environment, no open pipe, other name.

Imitates: an attack on a referee that looks for leftovers by their group, their environment or their pipes.
Faults: none; it plays well.
Referee: ends it all the same: by a cgroup, by a pid namespace, or because orphans come to the referee.
"""

import json
import os
import sys

label = os.environ.get("LASTCARD_MATCH", "")  # so that a test finds the grandchild in the list of processes
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "start":
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 256)
                os.execve("/bin/sh", ["sh", "-c", "while :; do sleep 60; done", label], {})
            os._exit(0)
        os.wait()
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
