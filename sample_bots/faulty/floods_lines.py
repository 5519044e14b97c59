"""Writes short lines from the start of the match on, as many as the pipe takes, for ever.

Imitates: an attack on the referee's CPU and on the clocks of the others.
Faults: F-33, lines that nobody asked for; F-34, the 17th is a flood.
Referee: reads no more than it has to, forfeits the seat, and charges no other bot for it.
"""

import json
import os
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "start":
        while True:
            os.write(1, b'{"type":"chat","text":"your turn, your turn, your turn"}\n' * 1000)
