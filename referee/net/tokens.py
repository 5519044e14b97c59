"""Tokens of remote bots: made, written, and checked against hashes; it knows no socket.

A token is 128 bits from the system, in 22 characters that need no quoting anywhere. The referee keeps its SHA-256
only: with 128 bits of chance a salt or a slow hash would add nothing.
"""

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from lastcard.engine import LastcardError

TOKEN_BYTES = 16
TOKEN = re.compile(r"[A-Za-z0-9_-]{22,64}")
HASH_MARK = "sha256:"
HASH = re.compile(r"sha256:[0-9a-f]{64}")
LARGEST_FILE = 4096
EXPECTED = "one line: a token that `lastcard token` made, or its hash, sha256: and 64 hexadecimal digits"


class TokenError(LastcardError):
    """A token file that cannot be used. The text is one sentence; it never holds the token."""


def new_token() -> str:
    """A fresh token."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hash_of(token: str) -> str:
    """What is kept of a token."""
    return HASH_MARK + hashlib.sha256(token.encode()).hexdigest()


def matches(token: str, kept: str) -> bool:
    """Whether the token is the one that the hash was made of, in a time that does not tell how nearly."""
    return hmac.compare_digest(hash_of(token), kept)


def write_token(path: Path) -> str:
    """Make a token and write it into a new file that only its owner reads; its hash. Raises TokenError."""
    token = new_token()
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise TokenError(f"{path}: exists already, expected the name of a new file") from error
    except (OSError, ValueError) as error:
        raise TokenError(f"{path}: {_reason(error)}, expected the name of a new file") from error
    try:
        with open(file, "w", encoding="ascii") as stream:
            stream.write(token + "\n")
    except OSError as error:
        path.unlink(missing_ok=True)
        raise TokenError(f"{path}: {_reason(error)}; no token was kept") from error
    return hash_of(token)


def read_token(path: Path) -> str:
    """The token in a file, for a bot that logs in. Raises TokenError."""
    line = _line(path)
    if HASH.fullmatch(line):
        raise TokenError(f"{path}: holds the hash of a token, expected the token itself")
    if not TOKEN.fullmatch(line):
        raise TokenError(f"{path}: expected one line with a token that `lastcard token` made")
    return line


def read_hash(path: Path) -> str:
    """The hash in a file that holds a token or its hash, for the referee. Raises TokenError."""
    line = _line(path)
    if HASH.fullmatch(line):
        return line
    if not TOKEN.fullmatch(line):
        raise TokenError(f"{path}: expected {EXPECTED}")
    return hash_of(line)


def holds_token(path: Path) -> bool:
    """Whether the file holds a token itself, and not its hash. Raises TokenError."""
    return not HASH.fullmatch(_line(path))


def _line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise TokenError(f"{path}: {_reason(error)}, expected a token file") from error
    try:
        return data.decode("ascii").strip()
    except UnicodeDecodeError:
        raise TokenError(f"{path}: expected {EXPECTED}") from None


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]
