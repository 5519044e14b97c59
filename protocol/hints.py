"""Sentences for the author of a refused line: what was wrong where, and a guess why. Decides nothing.

A detail is one line of printable ASCII of bounded length: it is shown on terminals, logged and sent back.
"""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Raw

SHOWN: Final = 60
"""Characters of a bot's own text that are quoted."""

# What a line that is no JSON begins with, and what its author may have meant. The first that matches is told.
Hints = tuple[tuple[re.Pattern[bytes], str], ...]
ENCODINGS: Final[Hints] = (
    (re.compile(rb"\xef\xbb\xbf"), "it begins with a byte order mark: write UTF-8 without BOM"),
    (re.compile(rb"\xff\xfe|\xfe\xff|.?\x00"), "it looks like UTF-16 or UTF-32: write UTF-8"),
)
BEGINNINGS: Final[Hints] = ENCODINGS + tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (rb"[A-Z]+ \S+ HTTP/|HTTP/\d", "it looks like HTTP: this port speaks one JSON object a line"),
        (
            rb"(?i)content-length:",
            "it looks like a message with a header: send the JSON object alone, on one line",
        ),
        (rb"(id (name|author) |uciok|readyok|bestmove |option name )", "it looks like UCI: answer with JSON"),
        (rb"[=?]\d* ", "it looks like GTP: answer with JSON"),
        (rb"<", "it looks like XML or HTML: answer with JSON"),
        (rb"\x16\x03", "it looks like TLS: this port is not encrypted"),
        (rb"Traceback \(most recent call last\)", "it looks like a traceback: errors belong on stderr"),
        (rb"[\[{]\s*$", "one message must stand on one line: do not indent the JSON"),
        (rb"[\[{,]\s*'", "JSON texts stand in double quotes: write the line with a JSON library"),
        (rb"\{", ""),
    )
)
MISSING: Final = re.compile(r"Object missing required field `(\w+)`")
FIELD: Final = re.compile(r"\$\.(\w+)")
PRINTED: Final = "did the program print to stdout? Only messages belong there, all else goes to stderr"


def quoted(text: bytes) -> str:
    """The beginning of the bytes as printable ASCII in quotes."""
    shown = ascii(text[:SHOWN].decode("utf-8", "backslashreplace"))
    return shown if len(text) <= SHOWN else shown + "..."


def not_json(line: bytes, error: str) -> str:
    """The detail of a line that is no JSON object, for the error that the decoder gives."""
    reason = error.removeprefix("JSON is malformed: ").replace("`", "")
    if "truncated" in error:
        half = re.search(rb"\\u[dD][89a-fA-F]", line)
        reason = "half of a surrogate pair" if half else "the JSON text ends too early"
    hint = next((hint for pattern, hint in BEGINNINGS if pattern.match(line)), PRINTED)
    if "trailing" in error and re.search(rb"\}\s*\{", line):
        hint = "each message needs a line of its own, with LF at its end"
    return _joined(f"not one JSON object: {_lower(reason)} in {quoted(line)}", hint)


def not_utf8(line: bytes, error: UnicodeDecodeError) -> str:
    """The detail of a line with bytes that are no UTF-8; the whole line counts, ignored fields too."""
    hint = next((hint for pattern, hint in ENCODINGS if pattern.match(line)), "")
    return _joined(f"not UTF-8: byte 0x{line[error.start]:02x} at offset {error.start} of {quoted(line)}", hint)


def wrong_field(error: str, members: Mapping[str, Raw]) -> str:
    """The detail of a wrong or missing field: its path, what was expected, what was there."""
    what, _, place = error.partition(" - at `")
    path = place.removesuffix("`") or "$"
    if missing := MISSING.fullmatch(what):
        return f"{path}.{missing[1]}: required, but there is no such field"
    what = what.partition(" matching regex")[0].replace("`", "")
    name = FIELD.match(path)
    if ", got " not in what and name:
        what += f", got {quoted(bytes(members[name[1]]))}"
    return f"{path}: {_lower(what)}"


def _joined(detail: str, hint: str) -> str:
    return f"{detail}; {hint}" if hint else detail


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
