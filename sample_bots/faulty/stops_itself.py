"""Stops itself with SIGSTOP at its first ask: it is there, and does nothing ever after.

Imitates: a job that was suspended, or a debugger.
Faults: F-20, no byte until the deadline; F-41, the third strike.
Referee: times it out like a silent one, and ends it by SIGKILL: no other signal wakes it up.
"""

import json
import os
import signal
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        os.kill(os.getpid(), signal.SIGSTOP)
