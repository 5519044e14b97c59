"""Blots one secret out of a stream of bytes, however it is cut into pieces or spelled in JSON. Knows no socket.

An owner may say his own token again: in a note, in a name, in a second hello. What he says stands in logs and
reports, so the token is taken out of it where it comes in.
"""

import re
from typing import Final

BLOT: Final = "[token]"
"""What stands in its place."""

ESCAPED: Final = 6
"""Bytes of a character that is spelled with its number in JSON."""


class Blotter:
    """Takes one secret, of characters that are their own UTF-8, out of lines."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._plain = secret.encode()
        self._spellings = [(character.encode(), b"\\u%04x" % ord(character)) for character in secret]
        self._longest = ESCAPED * len(secret)
        one = (b"(?:%s|\\\\u%s)" % (re.escape(plain), _any_case(escape[2:])) for plain, escape in self._spellings)
        self._pattern = re.compile(b"".join(one))
        self._held = b""

    def text(self, text: str) -> str:
        """The same in a text that is decoded already."""
        return text.replace(self._secret, BLOT)

    def clean(self, data: bytes) -> bytes:
        """These bytes without it. What may be its beginning is held back; a line's end lets all go."""
        if self._held:
            data, self._held = self._held + data, b""
        if self._plain in data or b"\\u" in data:
            data = self._pattern.sub(BLOT.encode(), data)
        if not data.endswith(b"\n"):
            kept = self._begun(data)
            data, self._held = data[:kept], data[kept:]
        return data

    def _begun(self, data: bytes) -> int:
        """Where something begins that may become the secret; the length if nothing does."""
        first = max(0, data.rfind(b"\n") + 1, len(data) - self._longest)
        return next((start for start in range(first, len(data)) if self._is_beginning(data[start:])), len(data))

    def _is_beginning(self, tail: bytes) -> bool:
        at = 0
        for plain, escape in self._spellings:
            left = tail[at : at + ESCAPED]
            if left.startswith(plain):
                at += 1
            elif left.lower() == escape and left.startswith(b"\\u"):
                at += ESCAPED
            else:
                return escape.startswith(left.lower()) and (len(left) < 2 or left.startswith(b"\\u"))
        return False


def _any_case(number: bytes) -> bytes:
    return b"".join(b"[%c%c]" % (digit, bytes([digit]).upper()[0]) for digit in number)
