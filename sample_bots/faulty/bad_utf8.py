"""Writes its notes in Latin-1.

Imitates: a program under an old locale, or in a language whose texts are bytes.
Faults: F-26, bad UTF-8 anywhere in the line; F-41, the third strike.
Referee: applies the fallback, and names the byte and its place.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        act = {"type": "act", "id": message["id"], "action": message["legal"][-1], "note": "déjà vu"}
        sys.stdout.buffer.write(json.dumps(act, ensure_ascii=False).encode("latin-1") + b"\n")
        sys.stdout.flush()
