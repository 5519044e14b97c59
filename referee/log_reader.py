"""Reads the log of a match, whole or cut off anywhere, plain or gzipped. Knows no rule."""

import zlib
from hashlib import sha256
from pathlib import Path

import msgspec

from lastcard.referee.match_log import FORMAT, IN_DIGEST

Line = dict[str, object]

GZIP = b"\x1f\x8b"


class LogError(ValueError):
    """This is not the log of a match, or not one that we can read. The text names file and line."""


class Log(msgspec.Struct, kw_only=True):
    """The lines of a log up to its last whole one."""

    path: Path
    lines: list[Line]
    texts: list[bytes]
    problem: str
    """What is missing at the end; empty if the log is complete."""

    @property
    def header(self) -> Line:
        """The `match` line."""
        return self.lines[0]

    def digest(self) -> str:
        """The digest of the lines as they stand, each without its `t`."""
        digest = sha256()
        for line, text in zip(self.lines, self.texts, strict=True):
            if line["type"] in IN_DIGEST:
                digest.update(without_t(line, text) + b"\n")
        return digest.hexdigest()


def without_t(line: Line, text: bytes) -> bytes:
    """The bytes of a line up to its last member `t`, closed again."""
    if "t" not in line:
        return text
    return text[: text.rindex(b',"t":{')] + b"}" if isinstance(line["t"], dict) else text


def read_log(path: Path) -> Log:
    """The log in this file. Raises LogError if it is none, or of a format that is not ours."""
    data, problem = contents(path)
    *whole, rest = data.split(b"\n")
    if rest and not problem:
        problem = f"it ends in the middle of line {len(whole) + 1}"
    lines: list[Line] = []
    for number, text in enumerate(whole, 1):
        try:
            line = msgspec.json.decode(text, type=dict[str, object])
        except (msgspec.DecodeError, RecursionError) as error:
            raise LogError(f"{path}: line {number} is not a JSON object: {error}") from error
        if not isinstance(line.get("type"), str):
            raise LogError(f"{path}: line {number} has no type")
        lines.append(line)
    if not lines:
        raise LogError(f"{path}: no whole line, expected the log of a match")
    if lines[0]["type"] != "match":
        raise LogError(f"{path}: line 1 has the type {lines[0]['type']!r}, expected a log that begins with 'match'")
    if lines[0].get("format") != FORMAT:
        raise LogError(f"{path}: log format {lines[0].get('format')!r}, this version reads format {FORMAT}")
    if not problem and lines[-1]["type"] != "end":
        problem = f"it stops after line {len(lines)}, without its end"
    return Log(path=path, lines=lines, texts=whole, problem=problem)


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
    return unpacked, "" if unpacker.eof else "the gzip file is cut off"
