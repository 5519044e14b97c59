"""Lists the feature `ready` and never is.

Imitates: a model that takes for ever to load, or a feature list that was copied.
Faults: F-10, no `ready` in `start_ms`.
Referee: forfeits it before the deal, and says that it was `ready` that did not come.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"features":["ready"]}', flush=True)
