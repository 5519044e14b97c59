"""The table of `sample_bots/faulty/zoo.json` as values, and how a row is compared with what happened; plays nothing."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / "sample_bots" / "faulty"
LEVELS = ("none", "basic", "strict")
FROZEN = "frozen"
"""Level none once more, with bots that are stopped while they owe nothing."""

SEAT = 1
"""Where a faulty bot sits; honest ones sit on both sides of it."""

TEST_ID = re.compile(r"\bF-\d{2,3}\b")


class Animal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One faulty bot, as the table describes it."""

    file: str
    tests: tuple[str, ...]
    faults: tuple[tuple[str, ...], ...]
    """The kinds of its faults in order, for each match that it has to play in a row."""
    forfeits: bool
    """Whether it has left the last of them before its end."""
    attacks: str
    limits: dict[str, int] = {}
    """What it has to be given to be found out; all else is to be generous."""
    levels: tuple[str, ...] = LEVELS

    @property
    def name(self) -> str:
        """Its file without the suffix."""
        return self.file.partition(".")[0]

    def suits(self, level: str) -> bool:
        """Whether it is to be tried at this level. A frozen bot is not pinged."""
        return ("none" if level == FROZEN else level) in self.levels and not (level == FROZEN and "F-53" in self.tests)

    @property
    def text(self) -> str:
        """What its file says about itself."""
        head = (FOLDER / self.file).read_text(encoding="utf-8")
        if self.file.endswith(".py"):
            return head.split('"""')[1]
        lines = head.partition("\n")[2].splitlines()
        return "\n".join(line[2:] for line in lines[: lines.index("")])


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    bots: tuple[Animal, ...]


ANIMALS = msgspec.json.decode((FOLDER / "zoo.json").read_bytes(), type=_Table).bots
BY_FILE = {animal.file: animal for animal in ANIMALS}


def as_told(kinds: Sequence[str], told: Sequence[str]) -> bool:
    """Whether these kinds came as the table tells: `kind` once, `kind*3` three times, `kind*` as often as it likes."""
    pattern = ""
    for item in told:
        kind, star, count = item.partition("*")
        pattern += f"({kind} )" + (f"{{{count}}}" if count else star)
    return re.fullmatch(pattern, "".join(f"{kind} " for kind in kinds)) is not None
