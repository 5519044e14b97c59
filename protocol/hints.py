"""Sentences for the author of a refused line: what was wrong where, and a guess why. Decides nothing.

A detail is one line of printable ASCII of bounded length: it is shown on terminals, logged and sent back.
"""

import re
from collections.abc import Mapping, Sequence
from typing import AnyStr, Final

from msgspec import Raw
from msgspec.json import decode

from lastcard.protocol.messages import PRINTABLE
from lastcard.protocol.outcomes import StaleReason

SHOWN: Final = 60
"""Characters of a bot's own text that are quoted."""
LOOKED_AT: Final = 200
"""Bytes in which a reason is looked for: a long line must not cost more than a short one."""

# What a line that is no JSON begins with, and what its author may have meant. The first that matches is told.
Hints = tuple[tuple[re.Pattern[AnyStr], str], ...]


def _table(*rows: tuple[AnyStr, str]) -> Hints[AnyStr]:
    return tuple((re.compile(pattern), hint) for pattern, hint in rows)


ENCODINGS: Final = _table(
    (rb"\xef\xbb\xbf", "it begins with a byte order mark: write UTF-8 without BOM"),
    (rb"\xff\xfe|\xfe\xff|.?\x00", "it looks like UTF-16 or UTF-32: write UTF-8"),
    (rb"\x1f\x8b", "it looks like gzip: write plain text"),
)
ERRORS: Final = "errors belong on stderr"
BEGINNINGS: Final = ENCODINGS + _table(
    (rb"[A-Z]+ \S+ HTTP/|HTTP/\d", "it looks like HTTP: this port speaks one JSON object a line"),
    (rb"(?i)content-length:", "it looks like a message with a header: send the JSON object alone, on one line"),
    (rb"(id (name|author) |uciok|readyok|bestmove |option name )", "it looks like UCI: answer with JSON"),
    (rb"[=?]\d* ", "it looks like GTP: answer with JSON"),
    (rb"<", "it looks like XML or HTML: answer with JSON"),
    (rb"\x16\x03", "it looks like TLS: this port is not encrypted"),
    (rb"\x1b\[", "it looks like the colors of a terminal: only messages belong on stdout"),
    (rb"Traceback \(most recent call last\)", f"it looks like a traceback: {ERRORS}"),
    (
        rb"(\w+\.)*\w*(Error|Exception|Warning)\b|Exception in |thread '[^']*' panicked|panic: |fatal\b|terminate ",
        f"it looks like an error message: {ERRORS}",
    ),
    (rb"[bu]?r?['\"]+[\[{]", "the JSON text stands in quotes: write it as it is, encoded once"),
    (
        rb"(?i)(play|draw|keep|stop|color|target|challenge|accept|catch|wait)\b",
        'an answer is a JSON object, as {"type":"act","id":17,"action":"play R7"}',
    ),
    (rb"\[\s*\{", "a message is one JSON object: send it alone, not in a list"),
    (rb"[\[{]\s*$", "one message must stand on one line: do not indent the JSON"),
    (rb"[\[{,]\s*'", "JSON texts stand in double quotes: write the line with a JSON library"),
    (rb"\{\s*\w+\s*:", "JSON keys stand in double quotes: write the line with a JSON library"),
    (rb"\w+\(", "it looks like an object of the language itself: write it with a JSON library"),
    (rb"\{.*:\s*(None|True|False)\b", "JSON has null, true and false: write the line with a JSON library"),
    (rb"\{.*:\s*-?(NaN|Infinity|nan|inf)\b", "JSON has no such number"),
    (rb"\{", ""),
)
# What is wrong with a member, and what its author may have to change. `path: error` is looked through.
FIELDS: Final = _table(
    (r"\$\.id: expected int, got str", "write the number of the ask without quotes"),
    (r"\$\.id: expected int, got float", "write the number as it came, without a point"),
    (r"\$\.id: (required|expected int, got null)", "repeat the id of the ask"),
    (r"\$\.action: expected str, got (array|object)", 'an action is one text, as "play R7"'),
    (r"\$\.action: required", "an action is one of `legal`"),
    (r"\$\.action: expected str, got (int|null)", "write the action itself, one of `legal`, not its place there"),
    (r"\$\.protocol: ", 'write "protocol":1'),
    (r"\$\.type: .* got '\"(ask|start|events|fault|end|ping|bye)\"'", "the lines of the referee are not sent back"),
    (r"\$\.note: ", "shorten the note"),
)
# What stands behind a whole JSON object.
TRAILING: Final = _table(
    (rb"\}[ \t]*\r\s*\{", "each message needs a line of its own, with LF at its end; a CR alone ends none"),
    (rb"\}\s*\{", "each message needs a line of its own, with LF at its end"),
    (rb"\}\s*(//|/\*|#)", "JSON has no comments"),
    (rb"\}\s*[;,]\s*$", "nothing may stand behind the object"),
)
OFFSET: Final = re.compile(r"\(byte (\d+)\)")
MISSING: Final = re.compile(r"Object missing required field `(\w+)`")
FIELD: Final = re.compile(r"\$\.(\w+)")
PRINTED_CHAR: Final = re.compile(PRINTABLE)
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
    hint = next((hint for pattern, hint in BEGINNINGS if pattern.match(line[:LOOKED_AT])), PRINTED)
    if "trailing" in error and (place := OFFSET.search(error)):
        around = line[max(0, int(place[1]) - LOOKED_AT) :][: 2 * LOOKED_AT]
        hint = next((hint for pattern, hint in TRAILING if pattern.search(around)), hint)
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
        return with_hint(f"{path}.{missing[1]}: required, but there is no such field")
    name = FIELD.match(path)
    what, _, pattern = what.partition(" matching regex")
    if pattern and name and path == name[0] and (unprintable := _unprintable(members[name[1]])):
        return f"{path}: {unprintable}"
    what = what.replace("`", "")
    if ", got " not in what and name:
        what += f", got {quoted(bytes(members[name[1]]))}"
    return with_hint(f"{path}: {_lower(what)}")


def with_hint(detail: str) -> str:
    """What is wrong with a member, and where there is a usual reason for it, how it is done."""
    return _joined(detail, next((hint for pattern, hint in FIELDS if pattern.match(detail)), ""))


def _unprintable(member: Raw) -> str:
    """Which character of a text is not printable, in escaped form, and what may stand there; empty if all are."""
    text = decode(member, type=str)
    for place, char in enumerate(text, 1):
        if not PRINTED_CHAR.match(char):
            return (
                f"character {place} of {quoted(text.encode())} is U+{ord(char):04X}, expected printable text:"
                " no control characters, none that are not seen or that turn the writing around"
            )
    return ""


STALE_WORDS: Final = {
    StaleReason.BLANK: "a blank line",
    StaleReason.OLDER: "an answer to an older ask, expected the id of the last one",
    StaleReason.ANSWERED: "a second answer to the same ask",
    StaleReason.LATE: "an answer to an ask that is over: its time was up, or another line was taken for the answer",
    StaleReason.FUTURE: "an answer with an id that was not asked yet",
    StaleReason.EARLY: "an answer that was there before its ask was sent",
    StaleReason.UNASKED: "a hello, ready or pong that was not waited for",
    StaleReason.UNKNOWN_TYPE: "a message of a type that is not known, expected hello, ready, act or pong",
}
"""What a line is that breaks no rule of form and all the same counts for nothing."""


def unfinished(part: bytes) -> str:
    """What to say of a line of which only the beginning came, as the end of a sentence about time."""
    if not part:
        return ", nothing was received"
    if part.rstrip(b" \t\r\0").endswith(b"}"):
        hint = "a CR alone ends no line" if part.rstrip(b" \t").endswith(b"\r") else "no LF came after it"
        return f", only a line without its end: {hint}; a line ends with LF"
    return ", only the beginning of a line"


FLUSH: Final = "does the program flush its output after every line?"


def meant(action: str, legal: Sequence[str]) -> str:
    """Which legal action an illegal one may have been meant to be, as the end of a sentence; empty if none is near."""
    plain = action.strip()
    without_call, _, call = plain.rpartition(" ")
    if call == "uno" and without_call in legal:
        return "; only a play may end in ' uno'"
    for one in legal:
        if _loosely(one) in (_loosely(plain), _loosely(without_call) if call.lower() == "uno" else None):
            return f"; spacing and case count, as in {one!r}"
    if any(one.startswith(f"{plain} ") for one in legal):
        return "; name the color too"
    if any(one == f"play {plain}" or one.startswith(f"play {plain} ") for one in legal):
        return f"; say 'play {plain}'"
    return ""


def _loosely(action: str) -> str:
    return "".join(action.lower().replace("_", " ").replace("-", " ").split())


def _joined(detail: str, hint: str) -> str:
    return f"{detail}; {hint}" if hint else detail


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
