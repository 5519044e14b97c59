"""Indents its JSON, so that one answer takes five lines.

Imitates: `json.dumps(answer, indent=1)`, `JSON.stringify(answer, null, 1)`.
Faults: F-24, no line of it is JSON; F-50, each further line costs a strike of its own; F-41, the third strike.
Referee: never joins lines, and hints at the indentation.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1]}
        print(json.dumps(act, indent=1), flush=True)
