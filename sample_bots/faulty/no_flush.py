"""Says all the right things and never flushes: they stay in its buffer.

Imitates: the most frequent mistake of all, `print` into a pipe without `flush`.
Faults: F-03, nothing of it arrives in `start_ms`.
Referee: forfeits it before the deal, and does not take for a hello what comes out when its input ends.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}')
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][-1]}))
