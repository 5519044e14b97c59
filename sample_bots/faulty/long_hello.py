"""Says a hello of 100,000 bytes.

Imitates: a bot that sends its whole configuration along.
Faults: F-07, a line over `max_line`.
Referee: forfeits it before the deal, and keeps no more of the line than it shows.
"""

import json
import sys

for _ in sys.stdin:
    print(json.dumps({"type": "hello", "protocol": 1, "settings": "x" * 100_000}), flush=True)
