"""The instant bot over TCP: `PORT TOKEN [CERTIFICATE]`, blocking lines of one socket, TLS if a certificate is named.

It plays both for the referee and for the TCP ping-pong that the referee is measured against.
"""

import json
import socket
import ssl
import sys

from bench.instant_bot import answer

HOST = "127.0.0.1"


def connected(port: int, certificate: str) -> socket.socket:
    line = socket.create_connection((HOST, port))
    if not certificate:
        return line
    return ssl.create_default_context(cafile=certificate).wrap_socket(line, server_hostname=HOST)


def main(port: str, token: str, certificate: str = "") -> None:
    hello = json.dumps({"type": "hello", "protocol": 1, "name": "instant", "token": token}) + "\n"
    with connected(int(port), certificate).makefile("rw", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            reply = answer(line)
            if reply is not None:
                lines.write(reply if '"act"' in reply else hello)
                lines.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
