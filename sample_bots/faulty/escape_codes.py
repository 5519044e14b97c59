"""Calls itself by codes that clear the screen, rename the window and turn the text around.

Imitates: an attack on the terminal, the log or the web page of whoever reads its name.
Faults: F-06, a name that is not printable.
Referee: forfeits it before the deal, and escapes the codes wherever it shows them.
"""

import json
import sys

NAME = "\x1b[2J\x1b]0;winner\x07 \u202eneercs eht"

for _ in sys.stdin:
    print(json.dumps({"type": "hello", "protocol": 1, "name": NAME}), flush=True)
