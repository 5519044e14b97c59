"""Reads the log of a match, whole or cut off anywhere, plain or gzipped. Knows no rule."""

import zlib
from hashlib import sha256
from pathlib import Path

import msgspec

from lastcard.referee.match_log import FORMAT, IN_DIGEST

Line = dict[str, object]

GZIP = b"\x1f\x8b"
BEGINNING = b'{"type":"match",'
"""What every log begins with: so a log of which nothing is left is told from a file that never was one."""

LAST_MEMBER = b',"t":'

OURS = {"host": "the machine", "referee": "lastcard"}
"""Whose faults those are that end a match and are no bot's."""


class LogError(ValueError):
    """This is not the log of a match, or not one that we can read. The text names file and line."""


class Log(msgspec.Struct, kw_only=True):
    """The lines of a log up to its last whole one."""

    path: Path
    lines: list[Line]
    texts: list[bytes]
    problem: str
    """What is missing at the end; empty if the log is complete."""
    damage: str = ""
    """Why the line after these is no line of a log; empty if there is no such line."""

    @property
    def header(self) -> Line:
        """The `match` line. Raises LogError if not even that one is whole."""
        if not self.lines:
            raise LogError(f"{self.path}: {self.problem}: there is nothing to be shown")
        return self.lines[0]

    def digest(self) -> str:
        """The digest of the lines as they stand, each without its `t`."""
        digest = sha256()
        for line, text in zip(self.lines, self.texts, strict=True):
            if line["type"] in IN_DIGEST:
                digest.update(without_t(line, text) + b"\n")
        return digest.hexdigest()


def without_t(line: Line, text: bytes) -> bytes:
    """The bytes of a line up to its last member `t`, closed again.

    A `t` that is not written as we write it, at the end and without blanks, is left in: then the digest is wrong,
    as it should be, for behind a `t` anything could be hidden.
    """
    if "t" not in line:
        return text
    start = text.rfind(LAST_MEMBER)
    try:
        last = msgspec.json.decode(text[start + len(LAST_MEMBER) : -1], type=dict[str, object])
    except msgspec.DecodeError:
        return text
    return text[:start] + b"}" if start > 0 and last == line["t"] else text


def read_log(path: Path) -> Log:
    """The log in this file. Raises LogError if it is none, or of a format that is not ours."""
    data, problem = contents(path)
    *whole, rest = data.split(b"\n")
    if (rest or not whole) and not problem:
        problem = f"it ends in the middle of line {len(whole) + 1}" if rest else "the file is empty"
    log = Log(path=path, lines=[], texts=[], problem=problem)
    for number, text in enumerate(whole, 1):
        line, log.damage = decoded(text.removesuffix(b"\r"))
        if log.damage:
            break
        check_beginning(log, number, line)
        log.lines.append(line)
        log.texts.append(text.removesuffix(b"\r"))
    if not log.lines and (log.damage or not BEGINNING.startswith(rest[: len(BEGINNING)])):
        raise LogError(f"{path}: not the log of a match: {log.damage or 'line 1 is none of a log'}")
    if not log.problem and log.lines[-1]["type"] != "end":
        log.problem = f"it stops after line {len(log.lines)}, {why_it_stops(log.lines[-1])}"
    return log


def why_it_stops(last: Line) -> str:
    """What a log of which this is the last line ends with, where its end should be."""
    whose = OURS.get(str(last.get("kind"))) if last["type"] == "fault" else None
    return f"with a fault of {whose}: {last.get('detail')}" if whose else "without its end"


def decoded(text: bytes) -> tuple[Line, str]:
    """One line, or what is wrong with it."""
    try:
        line = msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return {}, f"a line that is not a JSON object ({error})"
    return line, "" if isinstance(line.get("type"), str) else "a line without a type"


def check_beginning(log: Log, number: int, line: Line) -> None:
    """The first line is one that we can go on from."""
    if number > 1:
        return
    if line["type"] != "match":
        raise LogError(f"{log.path}: line 1 has the type {line['type']!r}, expected a log that begins with 'match'")
    if line.get("format") != FORMAT:
        raise LogError(f"{log.path}: log format {line.get('format')!r}, this version reads format {FORMAT}")


def contents(path: Path) -> tuple[bytes, str]:
    """The bytes of the file, unpacked, and what is wrong with the packing."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(f"{path}: {error.strerror}") from error
    if not data.startswith(GZIP):
        return data, ""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(data)
    except zlib.error as error:
        raise LogError(f"{path}: damaged gzip: {error}") from error
    if unpacker.unused_data:
        raise LogError(f"{path}: damaged gzip: {len(unpacker.unused_data)} bytes after its end")
    return unpacked, "" if unpacker.eof else "the gzip file is cut off"
