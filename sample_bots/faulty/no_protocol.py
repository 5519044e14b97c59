"""Says hello without the number of its protocol.

Imitates: an author who took the field for optional.
Faults: F-06, a hello that is none: `protocol` is missing.
Referee: forfeits it before the deal, and names the field.
"""

import sys

for _ in sys.stdin:
    print('{"type":"hello","name":"short and sweet"}', flush=True)
