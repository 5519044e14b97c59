"""Says hello and reads nothing: what it is sent stays in the pipe.

Imitates: a bot whose reader has died while the rest of it lives.
Faults: F-20, no byte until the deadline; F-41, the third strike.
Referee: times it out; it waits for no write, since a pipe takes 64 KiB that nobody reads.
"""

import time

print('{"type":"hello","protocol":1}', flush=True)
time.sleep(3600)
