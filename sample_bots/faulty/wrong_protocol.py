"""Speaks protocol 2.

Imitates: a bot that is newer than its referee.
Faults: F-05, another protocol number.
Referee: answers with a bye that names both numbers, and forfeits it before the deal.
"""

import sys

for _ in sys.stdin:
    print('{"type":"hello","protocol":2,"name":"from the future"}', flush=True)
