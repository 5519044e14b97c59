"""Reads everything and never says hello.

Imitates: a bot that waits for another protocol's first word.
Faults: F-03, silence for `start_ms`.
Referee: forfeits it before the deal when `start_ms` is over, and not earlier; the others are dealt to in time.
"""

import sys

for _ in sys.stdin:
    pass
