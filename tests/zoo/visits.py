"""Plays faulty bots at real tables, some at a time, in a process of its own: it is the referee that they attack.

    python -m tests.zoo.visits LEVEL FOLDER FILE...

prints what was seen of each, a line of JSON a bot, and in the last line what was left when all were gone. It judges
nothing.
"""

import os
import resource
import sys
import uuid
from pathlib import Path

import msgspec
import trio

from lastcard.engine import Rules
from lastcard.referee.bot_command import parse_bot
from lastcard.referee.hardening import harden
from lastcard.referee.limits import Idle, Limits
from lastcard.referee.log_reader import Line, read_log
from lastcard.referee.player import Player
from lastcard.referee.replay import verify
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.seating import Keeping, SeatedTable, part_all, player_of
from lastcard.referee.tournament.ports import MatchCall
from tests.referee.children import children
from tests.zoo.animals import BY_FILE, FOLDER, FROZEN, SEAT, Animal

AT_A_TIME = 6
RULES = Rules.of("mario-kart", {"rounds": 3})
PATIENT = {"move_ms": 60_000, "start_ms": 60_000}
"""Limits that only a bot reaches which does not come to an end."""

BETWEEN_MATCHES = 0.5
"""Seconds for what a bot does when a match is over."""

SOON = 5.0
"""Seconds after which a process that should be gone has been left behind."""

LOOKS = 20
MEMORY_MB = 256


class Played(msgspec.Struct, kw_only=True):
    """One match."""

    void: str
    places: tuple[int, ...]
    forfeited: tuple[int, ...]
    faults: list[Line]
    """As they stand in the log."""
    notes: list[str]
    """What the faulty bot says."""
    confined: list[str]
    """How each bot is, as the log has it."""
    problem: str
    """What the log does not prove."""


class Visit(msgspec.Struct, kw_only=True):
    """All matches of one faulty bot."""

    file: str
    played: list[Played]
    left: list[str]
    """Processes that were still there when its table had been left."""
    grown_mb: float
    """By so much the referee had been larger than at its start."""


class Rest(msgspec.Struct, kw_only=True):
    """What was left of all visits."""

    children: list[str]
    open_files: int
    """More than at the beginning."""


def memory_mb(field: str) -> float:
    """A line of /proc/self/status: of this program, not of what was there before it, as `ru_maxrss` is."""
    try:
        status = Path("/proc/self/status").read_text()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes
    return int(status.partition(f"{field}:")[2].split()[0]) / 1024


class Keeper:
    """Seats one faulty bot after the other."""

    def __init__(self, level: str, folder: Path) -> None:
        frozen = level == FROZEN
        sandbox = Sandbox(level=Level.NONE if frozen else Level(level), memory_mb=MEMORY_MB)
        self.keeping = Keeping(sandbox, (folder,), Idle.FREEZE if frozen else Idle.RUN)
        self.folder = folder
        self.began_mb = memory_mb("VmRSS")
        self.visits: list[Visit] = []

    async def receive(self, animals: list[Animal]) -> None:
        """All of them, so many at a time."""
        room = trio.CapacityLimiter(AT_A_TIME)
        async with trio.open_nursery() as nursery:
            for animal in animals:
                await room.acquire_on_behalf_of(animal.file)
                nursery.start_soon(self.visit, animal, room)

    async def visit(self, animal: Animal, room: trio.CapacityLimiter) -> None:
        """Between two honest bots, from its start to its end."""
        label = uuid.uuid4().hex
        words = {SEAT - 1: "random", SEAT: str(FOLDER / animal.file), SEAT + 1: "greedy"}
        limits = {SEAT: PATIENT | animal.limits}
        players = [
            player_of(
                parse_bot(word),
                msgspec.convert(limits.get(seat, PATIENT), Limits),
                self.keeping,
                seat=seat,
                match=label,
            )
            for seat, word in sorted(words.items())
        ]
        played: list[Played] = []
        try:
            for number in range(len(animal.faults)):
                played.append(await self.play(players, f"{animal.name}-{number}"))
                await trio.sleep(BETWEEN_MATCHES if animal.faults[number + 1 :] else 0)
        finally:
            await part_all(players, "no more matches at this table")
        self.visits.append(
            Visit(
                file=animal.file,
                played=played,
                left=await still_there(label),
                grown_mb=memory_mb("VmHWM") - self.began_mb,
            )
        )
        room.release_on_behalf_of(animal.file)

    async def play(self, players: list[Player], name: str) -> Played:
        """One match, and what its log says."""
        path = self.folder / f"{name}.jsonl"
        call = MatchCall(match_id=name, rules=RULES, seed="zoo", bots=(0, 1, 2), log_path=path)
        record = await SeatedTable(players).play(call)
        log = read_log(path)
        verdict = verify(log)
        lines = [line for line in log.lines if line["type"] == "decision" and line["seat"] == SEAT]
        header = log.header["t"]
        assert isinstance(header, dict)
        return Played(
            void=record.void_reason,
            places=record.places,
            forfeited=record.forfeited,
            faults=[line for line in log.lines if line["type"] == "fault"],
            notes=[note for line in lines if isinstance(t := line.get("t"), dict) and (note := t.get("note"))],
            confined=[bot["sandbox"] for bot in header["bots"]],
            problem=verdict.incomplete or (repr(verdict.difference) if verdict.difference else ""),
        )


async def still_there(label: str) -> list[str]:
    """Processes that carry the label of a visit which is over, once those that are just going have gone."""
    found: list[str] = []
    with trio.move_on_after(SOON):
        # ASYNC110: the system has no event for the end of another's child
        while found := carriers(label.encode(), everything()) or runaways(label.encode()):  # noqa: ASYNC110 - the process table has no events
            await trio.sleep(0.05)
    return found


def everything() -> list[str]:
    """The numbers of all processes; none where the system has no /proc."""
    return [path.name for path in Path("/proc").glob("[0-9]*")]


def runaways(label: bytes) -> list[str]:
    """What is gone whenever its turn in the list comes: it is always among the youngest."""
    found: list[str] = []
    for _ in range(LOOKS if Path("/proc/loadavg").exists() else 0):
        youngest = int(Path("/proc/loadavg").read_text().split()[-1])
        found += carriers(label, [str(number) for number in range(youngest - 5, youngest + 5)])
    return found


def carriers(label: bytes, processes: list[str]) -> list[str]:
    """The command lines of those that have it in their environment or in their command line."""
    found: list[str] = []
    for process in processes:
        try:
            command = Path(f"/proc/{process}/cmdline").read_bytes()
            if label in command or label in Path(f"/proc/{process}/environ").read_bytes():
                found.append(command.replace(b"\0", b" ").decode())
        except OSError:  # it has just ended, or it is none of ours
            pass
    return found


def leftovers() -> list[str]:
    """This process's children but for the one that watches over it: dead ones too, which nobody has buried."""
    found: list[str] = []
    for pid in sorted(children()) if Path("/proc/self/task").exists() else ():
        stat = Path(f"/proc/{pid}/stat").read_text()
        command = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        if "keeper.py" not in command:
            found.append(f"{stat[:60]} {command}")
    return found


def main(level: str, folder: str, *files: str) -> None:
    """All of them, and then a look around."""
    harden()
    os.environ["LASTCARD_ZOO_SECRET"] = "not for bots"
    keeper = Keeper(level, Path(folder))
    files_before = len(os.listdir("/dev/fd"))
    trio.run(keeper.receive, [BY_FILE[file] for file in files])
    for visit in keeper.visits:
        print(msgspec.json.encode(visit).decode())
    rest = Rest(children=leftovers(), open_files=len(os.listdir("/dev/fd")) - files_before)
    print(msgspec.json.encode(rest).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
