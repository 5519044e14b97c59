"""The lines of a log, one after the other, and the digest over them; knows no card and no rule."""

import gzip
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

Fields = dict[str, Any]

IN_DIGEST = ("match", "round", "decision", "event", "result")


class Wrong(Exception):
    """The log says what cannot be. Holds the number of the line and a sentence."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(f"line {line}: {text}")
        self.line = line


class CutOff(Exception):
    """The log ends before the match does."""


def read_file(path: Path) -> bytes:
    """A log as it was written, packed or not."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


class Lines:
    """A log that is read from its first line to its last. What stands after the last LF is no line."""

    def __init__(self, text: bytes) -> None:
        self.texts = text.split(b"\n")[:-1]
        self.read = 0
        """How many lines were read: the number of the last one."""
        self.faults: dict[Any, list[Any]] = {}
        """The kinds of the faults of each seat."""
        self.digest = sha256()
        self._ahead: Fields | None = None

    def wrong(self, text: str) -> Wrong:
        """What is wrong with the line that was read last."""
        return Wrong(self.read, text)

    def next(self) -> Fields:
        """The next line, still to be read. Fault lines are noted and read over: they play no card."""
        while self._ahead is None:
            if self.read == len(self.texts):
                raise CutOff
            line = self.parsed(self.texts[self.read])
            if line["type"] != "fault":
                self._ahead = line
                break
            self.read += 1
            self.faults.setdefault(line.get("seat"), []).append(line.get("kind"))
        return self._ahead

    def take(self) -> Fields:
        """Reads the next line."""
        line = self.next()
        text = self.texts[self.read]
        self.read += 1
        self._ahead = None
        if line["type"] in IN_DIGEST:
            self.digest.update(self.without_t(text, line) + b"\n")
        return line

    def expect(self, expected: Fields) -> None:
        """Reads the next line, which has to be this one."""
        self.compare(self.take(), expected)

    def compare(self, found: Fields, expected: Fields) -> None:
        """The line that was read last has to say what is expected."""
        same = found == expected
        if same and any(word in self.texts[self.read - 1] for word in (b"true", b"false", b".")):
            same = exact(found) == exact(expected)  # in Python true is 1 and 1.0 is 1, on the wire they are not
        if not same:
            raise self.wrong(f"here stands {said(found)}, expected {said(expected)}")

    def parsed(self, text: bytes) -> Fields:
        """A line as an object."""
        try:
            line = json.loads(text)
        except ValueError as error:
            raise Wrong(self.read + 1, f"is no JSON: {error}") from None
        if not isinstance(line, dict) or not isinstance(line.get("type"), str):
            raise Wrong(self.read + 1, "is no object with a type")
        return line

    def without_t(self, text: bytes, line: Fields) -> bytes:
        """The line up to the comma before `t`, which depends on the run."""
        if "t" not in line:
            return text
        kept = text[: text.index(b',"t":')] + b"}"
        if json.loads(kept) != {name: value for name, value in line.items() if name != "t"}:
            raise self.wrong("`t` is not the last member")
        return kept

    def end(self) -> None:
        """The line `end` is next, and it is the last; its digest is that of the lines before."""
        line = self.take()
        if line["type"] != "end":
            raise self.wrong(f"a line {line['type']!r} stands after the result")
        if line.get("digest") != self.digest.hexdigest():
            raise self.wrong(f"the digest is {self.digest.hexdigest()}")
        if self.read < len(self.texts):
            raise Wrong(self.read + 1, "stands after the end")


def exact(fields: Fields) -> str:
    """A text that is the same for the same JSON."""
    return json.dumps(fields, sort_keys=True)


def said(line: Fields) -> str:
    """A line in a few words."""
    fields: Any = line.get("event", line)
    if not isinstance(fields, dict):
        return repr(fields)
    words = [f"{name}={json.dumps(value)}" for name, value in fields.items() if name != "type"]
    return " ".join([str(fields.get("type")), *words])
