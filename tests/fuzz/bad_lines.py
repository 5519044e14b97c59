"""Lines that hostile bots of the simulation write, by what each of them is to the referee whenever it comes."""

MALFORMED = (
    b"R7\n", b"{\n", b"[]\n", b"null\n", b"{}\n", b'{"type":7}\n', b'{"type":"ask","id":1}\n', b"\xff\xfe\n", b"\0\n",
    b'{"type":"act","id":1}\n', b'{"type":"act","id":1.0,"action":"draw"}\n', b'{"type":"act","id":"1","action":"W"}\n',
    b'{"type":"act","id":1,"action":null}\n', b'{"type":"act","id":1,"action":"\\ud800"}\n', b"[" * 600 + b"\n",
    b'{"type":"act","id":1,"action":"draw"}{"type":"pong"}\n', b"Traceback (most recent call last):\r\n",
    b'{"type":"act","id":1,"action":"draw","note":"' + b"x" * 1025 + b'"}\n', b'\xef\xbb\xbf{"type":"pong"}\n',
)  # fmt: skip
STALE = (b"\n", b" \t\r\n", b"\r\n", b'{"type":"later"}\n', b'{"type":"log","text":"\xe2\x80\xa8"}\n')
BAD_HELLOS = (
    b'{"type":"hello"}\n', b'{"type":"hello","protocol":"1"}\n', b'{"type":"hello","protocol":1,"name":"a\\n"}\n',
    b'{"type":"hello","protocol":1,"features":"events"}\n', b'{"type": "hello", "protocol":1.0}\n',
)  # fmt: skip
