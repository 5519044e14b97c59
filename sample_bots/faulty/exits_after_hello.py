"""Says hello and ends.

Imitates: a program that serves one request, as under an old web server.
Faults: F-12, it ends before its first ask.
Referee: finds it out when it is first asked, not earlier: fallback, then forfeit.
"""

import os
import sys

sys.stdin.readline()
os.write(1, b'{"type":"hello","protocol":1}\n')
os._exit(0)
