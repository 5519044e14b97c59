import json
import socket
import sys
from pathlib import Path

host, port, token_file = sys.argv[1:]
token = Path(token_file).read_text().strip()
lines = socket.create_connection((host, int(port))).makefile("rw", encoding="utf-8")
for message in map(json.loads, lines):
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "protocol": 1, "token": token}), file=lines, flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][0]}), file=lines, flush=True)
