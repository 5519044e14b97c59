"""Ignores the end of its input, SIGTERM, SIGINT and SIGHUP: it does not go.

Imitates: a server's main loop, or a handler that was to "shut down cleanly".
Faults: none; F-72, still running two seconds after its input was closed.
Referee: kills it with SIGKILL then; no other match waits for it.
"""

import json
import signal
import sys
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}), flush=True)
while True:
    time.sleep(3600)
