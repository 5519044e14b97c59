"""Ends with exit status 3 before it has said anything.

Imitates: a missing library, a wrong argument, a licence that has run out.
Faults: F-02, it ends before its hello.
Referee: forfeits it before the deal, names the exit status and shows its stderr; the others play.
"""

import sys

print("error: no model found in ./model", file=sys.stderr)
sys.exit(3)
