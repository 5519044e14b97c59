"""Reads nothing, and makes its input so small that soon nothing more can be sent to it.

Imitates: a reader that has died, after some megabytes; the pipe is cut to one page so that they need not be sent.
Faults: F-35, an ask that is not taken by the deadline; F-20, the asks before it are, and are not answered.
Referee: does not hang in its write, and forfeits the seat: its input can never be put in order again.
"""

import contextlib
import fcntl
import time

F_SETPIPE_SZ = 1031  # Linux; elsewhere the pipe stays as it is
PAGE = 4096

with contextlib.suppress(OSError):
    fcntl.fcntl(0, F_SETPIPE_SZ, PAGE)
print('{"type":"hello","protocol":1,"features":["events"]}', flush=True)
time.sleep(3600)
