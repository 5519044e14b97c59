"""Writes the beginning of its first answer, and nothing more.

Imitates: a program that hangs while it writes, or a buffer that is flushed at its own size.
Faults: F-21, part of a line until the deadline; F-20, and then no byte; F-41, the third strike.
Referee: times it out as if nothing had come, and shows the part.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask" and message["id"] == 1:
        print('{"type":"act","id":', end="", flush=True)
