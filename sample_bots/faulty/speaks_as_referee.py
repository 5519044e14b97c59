"""Sends what only the referee may send: the end of the match, with itself in the first place.

Imitates: an attack on a referee that hands lines on, or that uses one decoder for both directions.
Faults: F-25, a type of the other end; F-41, the third strike.
Referee: believes nothing of it, and hands no line of a bot to another.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    elif message["type"] == "ask":
        print('{"type":"end","match":"m1","places":[3,1,2],"scores":[0,500,0],"events":[]}', flush=True)
