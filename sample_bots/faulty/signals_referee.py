"""Sends signals to its parent, harmless ones, and says in a note which of them it could send.

Imitates: an attack on the referee's process. SIGKILL would need no other permission than SIGWINCH does.
Faults: none; it plays well.
Referee: from level basic on, where it is root, and at strict always, is out of its reach.
"""

import json
import os
import signal
import sys


def can_send(number: int) -> bool:
    """Whether the parent may be sent this signal."""
    try:
        os.kill(os.getppid(), number)
    except OSError:
        return False
    return True


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        sent = [name for name, number in (("0", 0), ("WINCH", signal.SIGWINCH)) if can_send(number)]
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1], "note": f"sent {sent}"}
        print(json.dumps(act), flush=True)
