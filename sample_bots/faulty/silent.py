"""Reads everything and answers no ask.

Imitates: an endless search, a deadlock, a breakpoint.
Faults: F-20, no byte until the deadline; F-41, the third strike.
Referee: applies the fallback at each deadline, and forfeits the seat at the third.
"""

import json
import sys

for line in sys.stdin:
    if json.loads(line)["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
