"""Every bot of `sample_bots/faulty` plays real matches: its faults are as `zoo.json` tells, the others have none.

The match comes to its end, its log proves itself, no process is left behind, and the referee has not grown. At level
none all are tried; at the others those that attack the machine, and all of them in the long tests.
"""

import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import pytest

from tests.zoo.animals import ANIMALS, FROZEN, LEVELS, SEAT, Animal, as_told
from tests.zoo.visits import MEMORY_MB, Rest, Visit

VisitsAt = Callable[[str], tuple[dict[str, Visit], Rest]]

MOST_GROWN_MB = 64
"""Several bots are seated at a time, and some of them write gigabytes if one lets them."""

WRAPPER = {"PWD", "LC_ALL"}
"""What bubblewrap's own process may have in its environment, which an ordinary user's bot can see."""

UNCONFINED = ("none", FROZEN)
ENVIRONMENT = {"PATH", "HOME", "LANG", "LASTCARD_SEAT", "LASTCARD_MATCH"}


def cases() -> Iterator[Any]:
    """Every level of every bot."""
    for level in (*LEVELS, FROZEN):
        for animal in ANIMALS:
            long = level == FROZEN or (level != "none" and animal.attacks != "machine")
            if animal.suits(level):
                yield pytest.param(level, animal, id=f"{level}-{animal.name}", marks=[pytest.mark.soak] if long else [])


@pytest.mark.parametrize(("level", "animal"), list(cases()))
def test_faulty_bot(level: str, animal: Animal, visits_at: VisitsAt) -> None:
    visits, _ = visits_at(level)
    visit = visits[animal.file]
    for match, kinds in zip(visit.played, animal.faults, strict=True):
        assert not match.void
        assert not match.problem
        assert all(confined.startswith("none" if level == FROZEN else level) for confined in match.confined)
        assert [fault for fault in match.faults if fault["seat"] != SEAT] == []
        assert as_told([str(fault["kind"]) for fault in match.faults], kinds), match.faults
    *others, last = visit.played
    assert not any(match.forfeited for match in others)
    assert last.forfeited == ((SEAT,) if animal.forfeits else ())
    assert last.places[SEAT] == 3 or not animal.forfeits
    assert visit.left == []
    assert visit.grown_mb < MOST_GROWN_MB
    if animal.file in EVIDENCE:
        EVIDENCE[animal.file](visit, level)


@pytest.mark.parametrize("level", [*LEVELS, pytest.param(FROZEN, marks=pytest.mark.soak)])
def test_nothing_is_left_of_any_visit(level: str, visits_at: VisitsAt) -> None:
    """No child, alive or dead, that no table has ended; no descriptor but those of the referee's own helper."""
    visits, rest = visits_at(level)
    assert visits
    assert rest.children == []
    assert rest.open_files < 8


# ---- what else is to be seen of some


def shows(**evidence: str) -> Callable[[Visit, str], None]:
    """One of its faults holds these texts in these fields of the log."""

    def check(visit: Visit, level: str) -> None:
        faults = visit.played[-1].faults
        assert any(all(text in str(fault.get(name)) for name, text in evidence.items()) for fault in faults), faults

    return check


def notes_of(visit: Visit) -> list[str]:
    """What it had to say, in all its matches."""
    return list(chain.from_iterable(match.notes for match in visit.played))


def uid_of_its_own(visit: Visit) -> bool:
    """Whether it ran as another user than the referee, as the log tells."""
    return ", uid " in visit.played[-1].confined[SEAT]


def fork_bomb(visit: Visit, level: str) -> None:
    (note,) = set(notes_of(visit))
    if level in UNCONFINED:
        assert note == "forked 300"
    elif level == "strict" or uid_of_its_own(visit):  # an ordinary user's bots share the limit with all that is his
        assert int(note.split()[1]) < 64


def large_file(visit: Visit, level: str) -> None:
    (note,) = set(notes_of(visit))
    assert note == "wrote 64 MB" if level in UNCONFINED else int(note.split()[1]) <= 16


def memory_hog(visit: Visit, level: str) -> None:
    """Killed by the cage, or told by its runtime that there is no more."""
    fault = visit.played[-1].faults[-1]
    assert f"{MEMORY_MB} MB" in str(fault["detail"]) or "MemoryError" in str(fault.get("stderr")), fault


def looks_around(visit: Visit, level: str) -> None:
    found = json.loads(notes_of(visit)[0])
    assert set(found["env"]) == ENVIRONMENT
    assert found["fds"] == [0, 1, 2]
    if uid_of_its_own(visit):
        assert not found["memory"]
    if level == "strict" or uid_of_its_own(visit):
        assert set(found["foreign"]) <= WRAPPER
        assert found["files"] == []
    if level == "strict":
        assert found["networks"] == ["lo"]
        assert found["others"] < 10


def signals_referee(visit: Visit, level: str) -> None:
    (note,) = set(notes_of(visit))
    assert note == "sent []" if uid_of_its_own(visit) else note.startswith("sent [")


def remembers(visit: Visit, level: str) -> None:
    """One process plays both matches."""
    first, second = visit.played
    assert set(first.notes) == {"process 1, file 1"}
    assert set(second.notes) == {"process 2, file 2"}


EVIDENCE: dict[str, Callable[[Visit, str], None]] = {
    "exits_at_once.py": shows(exit="exit status 3", stderr="no model found"),
    "silent_at_hello.py": shows(detail="no hello within 1500 ms"),
    "no_flush.py": shows(detail="no hello within 1500 ms"),
    "prompts.py": shows(received="> {"),
    "wrong_protocol.py": shows(detail="speaks protocol 2"),
    "no_protocol.py": shows(detail="$.protocol"),
    "escape_codes.py": shows(detail="$.name"),
    "never_ready.py": shows(detail="no ready within 1500 ms"),
    "debug_prints.py": shows(detail="stdout"),
    "single_quotes.py": shows(detail="double quotes"),
    "byte_order_mark.py": shows(detail="byte order mark"),
    "utf_16.py": shows(detail="UTF-16"),
    "deep_nesting.py": shows(detail="too deep"),
    "long_note.py": shows(detail="$.note"),
    "endless_line.py": shows(received="xxx"),
    "cr_only.py": shows(received='"action"'),
    "half_a_line.py": shows(received='{"type":"act","id":'),
    "crashes.py": shows(exit="exit status 1", stderr="ZeroDivisionError"),
    "segfaults.py": shows(exit="killed by SIGSEGV"),
    "exits_without_lf.py": shows(detail="without LF", exit="exit status 0"),
    "daemon.py": shows(exit="exit status 0"),
    "closes_input.py": shows(detail="its input is closed"),
    "talks_between_matches.py": shows(detail="17 lines that count for nothing"),
    "fork_bomb.py": fork_bomb,
    "large_file.py": large_file,
    "memory_hog.py": memory_hog,
    "looks_around.py": looks_around,
    "signals_referee.py": signals_referee,
    "remembers.py": remembers,
}
