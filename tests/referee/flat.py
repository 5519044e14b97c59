"""Plays many matches between real bots, some with a fault, and counts what the referee holds; a program of its own.

`python -m tests.referee.flat LEVEL PHASES MATCHES FAULTS [uncaged]` plays PHASES times MATCHES matches, of which every
FAULTSth has a fault, a kind after the other. It ends every bot after each phase, and prints one line of JSON: a `Look`.
It knows no test.
"""

import gc
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count, cycle
from pathlib import Path
from typing import NamedTuple

import trio

from lastcard.engine import Rules
from lastcard.referee import hardening
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.limits import Idle, Limits
from lastcard.referee.process_groups import GROUPS, REAP_EVERY
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.seating import Keeping, SeatedTable, part_all, player_of
from lastcard.referee.tournament.ports import MatchCall
from tests.referee.children import bearing, cages_left, children, open_files, python, without_cages

JOBS = 4
"""Tables at a time: a fault is mostly waiting for something, and the others play meanwhile."""

RULES = Rules.of("classic", {"rounds": 1})
PATIENT = Limits(move_ms=60_000, start_ms=60_000, strikes=1)
HURRIED = Limits(move_ms=20, bank_ms=0, start_ms=60_000, strikes=1)
FORGIVING = Limits(move_ms=60_000, start_ms=60_000, restarts=1)

PLAYS = r"""
import json
def play(misbehave=None):
    resumed = False
    while True:
        ask = json.loads(line())
        if ask["type"] == "hello":
            say(b'{"type":"hello","protocol":1}\n')
        elif ask["type"] == "start":
            resumed = "resumed" in ask
        elif ask["type"] == "ask":
            if misbehave and not resumed:
                misbehave()
            action = ask["legal"][0]
            action += " uno" if action.startswith("play") and len(ask["state"]["hand"]) == 2 else ""
            say(json.dumps({"type": "act", "id": ask["id"], "action": action}).encode() + b"\n")
"""


class Misdeed(NamedTuple):
    """A bot that makes one kind of fault, and which fault it is."""

    script: str
    fault: str
    limits: Limits = PATIENT


def at_first_ask(body: str, fault: str, limits: Limits = PATIENT) -> Misdeed:
    indented = "\n".join(f"    {text}" for text in body.splitlines())
    return Misdeed(f"{PLAYS}\ndef misbehave():\n{indented}\nplay(misbehave)", fault, limits)


MISDEEDS = {
    "crash": at_first_ask("os._exit(3)", "crash"),
    "crash with a long complaint": at_first_ask("say(b'e' * 300_000, 2); os.abort()", "crash"),
    "timeout": at_first_ask("hang()", "timeout", HURRIED),
    "malformed": at_first_ask(r"say(b'{\n'); hang()", "malformed"),
    "illegal": at_first_ask(r"""say(b'{"type":"act","id":1,"action":"pass"}\n'); hang()""", "illegal"),
    "flood": at_first_ask(r"while True: say(b'\n' * 4096)", "flood"),
    "oversize": at_first_ask(r"say(b'x' * 300_000 + b'\n'); hang()", "oversize"),
    "eof": at_first_ask("os.close(1); hang()", "eof"),
    "restart": at_first_ask("os._exit(3)", "crash", FORGIVING),
    "orphans hold its pipes": at_first_ask(
        "if not os.fork():\n    os.setsid()\n    if not os.fork(): hang()\nos._exit(3)", "crash"
    ),
    "exits at once": Misdeed("os._exit(4)", "startup"),
    "another version": Misdeed(r"""line(); say(b'{"type":"hello","protocol":9}\n'); line(); line()""", "version"),
    "no program": Misdeed("", "startup"),
}


class Look(NamedTuple):
    """What there is after so many matches, while no bot lives."""

    matches: int
    descriptors: int
    threads: int
    children: int
    """Zombies included; the keeper left aside."""
    cages: int
    left: int
    """Processes, whosever children, that any of our bots has started."""
    known: int
    """Bots that the referee takes for alive."""
    rss_kb: int
    keeper_kb: int


async def look(matches: int, word: str) -> Look:
    """Count. A process that has just been killed may still be on its way to us, to be buried with the next look."""
    with trio.move_on_after(2 * REAP_EVERY):
        while our_children():  # noqa: ASYNC110 - the system has no event for an orphan's end
            await trio.sleep(0.01)
    gc.collect()
    return Look(
        matches=matches,
        descriptors=open_files(),
        threads=len(os.listdir("/proc/self/task")),
        children=len(our_children()),
        cages=len(cages_left()),
        left=len(bearing(word)),
        known=len(GROUPS),
        rss_kb=resident_kb("self"),
        keeper_kb=resident_kb(str(GROUPS.keeper)),
    )


def our_children() -> set[str]:
    return children() - {str(GROUPS.keeper)}


def resident_kb(pid: str) -> int:
    status = Path("/proc", pid, "status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


class Run:
    """All tables of one run."""

    def __init__(self, sandbox: Sandbox, folder: Path, word: str) -> None:
        self.keeping = Keeping(sandbox, (), Idle.RUN)
        self.folder = folder
        self.word = word
        self.misdeeds = cycle(MISDEEDS.items())
        self.numbers = count(1)

    def bot(self, name: str, script: str) -> BotCommand:
        """A bot that can be told by our word from all other processes."""
        if not script:
            return BotCommand(name, ("/no/such/program",))
        return python(script, name=name, LASTCARD_FLAT=self.word)

    async def phase(self, tables: int, matches: int) -> None:
        """So many tables with so many matches each, some of them at the same time."""
        waiting = iter(range(tables))
        async with trio.open_nursery() as nursery:
            for _ in range(JOBS):
                nursery.start_soon(self.play_tables, waiting, matches)

    async def play_tables(self, waiting: Iterator[int], matches: int) -> None:
        for _ in waiting:
            await self.play_table(matches)

    async def play_table(self, matches: int) -> None:
        """Two honest bots over all matches but the last, in which one of them meets a bad one."""
        number = next(self.numbers)
        kind, misdeed = next(self.misdeeds)
        players = [
            player_of(self.bot("honest", f"{PLAYS}\nplay()"), PATIENT, self.keeping, seat=0, match=f"flat-{number}"),
            player_of(self.bot("honest", f"{PLAYS}\nplay()"), PATIENT, self.keeping, seat=1, match=f"flat-{number}"),
            player_of(self.bot("bad", misdeed.script), misdeed.limits, self.keeping, seat=2, match=f"flat-{number}"),
        ]
        table = SeatedTable(players)
        log = self.folder / f"{number}.jsonl"
        try:
            for match in range(1, matches + 1):
                bad = match == matches
                seats = (0, 2) if bad and number % 2 else (2, 0) if bad else (0, 1)
                call = MatchCall(
                    match_id=f"{number}-{match}", rules=RULES, seed=f"{number}-{match}", bots=seats, log_path=log
                )
                record = await table.play(call)
                wanted = [(seats.index(2), misdeed.fault)] if bad else []
                found = [fault for fault in record.faults if fault.kind != "stale"]  # of them a flood consists
                if [(fault.seat, fault.kind) for fault in found] != wanted or record.void:
                    raise AssertionError(f"{kind}: {wanted} was due, but {found or record}")
        finally:
            with trio.CancelScope(shield=True):
                await part_all(players, "no more matches at this table")
            log.unlink()


async def run(sandbox: Sandbox, phases: int, matches: int, faults: int) -> None:
    """Print a look after each phase."""
    word = f"flat-{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory() as folder:
        playing = Run(sandbox, Path(folder), word)
        for phase in range(1, phases + 1):
            await playing.phase(matches // faults, faults)
            print(json.dumps((await look(phase * matches, word))._asdict()), flush=True)


def main(level: str, phases: str, matches: str, faults: str, *uncaged: str) -> None:
    hardening.harden()
    with ExitStack() as stack:
        if uncaged:
            stack.enter_context(without_cages())
        trio.run(run, Sandbox(level=Level(level)), int(phases), int(matches), int(faults))


if __name__ == "__main__":
    main(*sys.argv[1:])
