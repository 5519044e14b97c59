"""A peer that means no good: `flooder.py PORT NONSENSE IDLE SECONDS` calls that often, from several addresses of this
machine, and prints how many of its connections were ended by the other side. Imports nothing of ours.
"""

import random
import resource
import select
import socket
import sys
import time

port, nonsense, idle, seconds = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
WORDS = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"uci\n",
    b"\x16\x03\x01" * 50,
    b"{" * 4000,
    b"\n",
    b'{"type":"hello","protocol":1}\n',
    b"",
]

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
lot = random.Random(1)
ended = 0
open_now: dict[int, socket.socket] = {}
poll = select.poll()


def call(source: str, words: bytes) -> None:
    sock = socket.socket()
    sock.bind((source, 0))
    sock.settimeout(10)
    try:
        sock.connect(("127.0.0.1", port))
        sock.sendall(words)
    except OSError:
        sock.close()
        return
    sock.setblocking(False)
    open_now[sock.fileno()] = sock
    poll.register(sock, select.POLLIN)


def look(patience: float) -> None:
    global ended
    for number, _ in poll.poll(patience * 1000):
        sock = open_now[number]
        try:
            data = sock.recv(65536)
        except OSError:
            data = b""
        if not data:
            poll.unregister(number)
            open_now.pop(number).close()
            ended += 1


begun = time.monotonic()
print("begun", flush=True)
sent = 0
while time.monotonic() < begun + seconds:
    if sent < nonsense + idle:
        silent = lot.random() * (nonsense + idle) < idle
        call("127.0.0.1" if silent else f"127.0.0.{lot.randrange(1, 9)}", b"" if silent else lot.choice(WORDS))
        sent += 1
        look(0)
    else:
        look(0.05)
        if not open_now:
            break
print(sent, ended, flush=True)
