"""One level on trial: probes are started in it as any bot is, and what they could do is held against its promises."""

import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path

import msgspec
import trio
from msgspec import Struct

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.doctor.bait import Bait
from lastcard.referee.doctor.cage_powers import powers
from lastcard.referee.doctor.rows import BY_ID, Outcome, Promise, Situation
from lastcard.referee.processes import BotProcess, start_bot
from lastcard.referee.sandbox.launch import problem
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.start_error import StartError
from lastcard.referee.trees import descendants

PROBE = Path(__file__).with_name("probe.py")
LIMITS = Sandbox(memory_mb=128, processes=24, file_mb=2, cpu_s=1)
"""Small, so that going beyond them costs little. They bind by the same means as larger ones."""
PATIENCE = 8.0
"""Seconds that one probe may take for all its rows."""
AFTERLIFE = 0.3
"""A process that still lives so long after its bot has been closed has outlived it."""
OUTLIVE = "outlive"
"""The row that is decided after the end."""

Line = dict[str, object]

_seats = count()


class Cell(Struct, frozen=True):
    """One row at one level."""

    outcome: Outcome
    promise: Promise
    broken: bool
    detail: str = ""


class Column(Struct, kw_only=True):
    """One level."""

    level: Level
    unavailable: str = ""
    """Why this machine cannot give it, and which package is missing."""
    fault: str = ""
    """Why the probe could not report, where the level was to be had."""
    description: str = ""
    """How the bot was started, in the words of the log."""
    cells: dict[str, Cell] = {}

    @property
    def kept(self) -> bool:
        """Whether nothing speaks against the level."""
        return not self.fault and not any(cell.broken for cell in self.cells.values())


class ProbeError(Exception):
    """The probe did not do its part. Half a sentence."""


class ProbeBot:
    """A started probe, and what is said to it and by it."""

    def __init__(self, bot: BotProcess) -> None:
        self.bot = bot
        self.uid = -1
        self._deadline = bot.channel.clock() + PATIENCE
        self._read = b""

    async def begin(self, **task: object) -> None:
        """Tell it what to do, and hear that it is there."""
        await self.say(task)
        greeting = await self.line()
        if greeting is None:
            raise ProbeError(f"the probe says nothing ({await self.why()})")
        self.uid = int(str(greeting["uid"]))

    async def say(self, task: Line) -> None:
        """One line to it."""
        await self.bot.channel.send(msgspec.json.encode(task) + b"\n", self._deadline)

    async def line(self) -> Line | None:
        """The next line of it; None if there is none any more, or none in time."""
        while b"\n" not in self._read:
            data = await self.bot.channel.receive(self._deadline)
            if not data:
                return None
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        return msgspec.json.decode(line, type=Line)

    async def why(self) -> str:
        """Why no more lines come."""
        status = await self.bot.exit_status()
        self.bot.stderr.catch_up()
        words = self.bot.stderr.kept.decode("utf-8", "replace").split("\n")
        said = next((word for word in reversed(words) if word.strip()), "")
        return (status or f"nothing within {PATIENCE:g} s") + (f": {said.strip()}" if said else "")


def probe_command(cwd: Path | None = None) -> BotCommand:
    """The probe as a bot, run as the sample bots in Python are."""
    return BotCommand("probe", (sys.executable, "-I", "-S", str(PROBE)), cwd=cwd)


@asynccontextmanager
async def probing(command: BotCommand, sandbox: Sandbox, hidden: Sequence[Path] = ()) -> AsyncGenerator[ProbeBot, None]:
    """A probe, ended with all that it has started."""
    # A seat of its own: by seat and match the referee knows whose a stray process is.
    bot = start_bot(command, seat=f"probe-{next(_seats)}", match="doctor", sandbox=sandbox, hidden=hidden)
    try:
        yield ProbeBot(bot)
    finally:
        await bot.close(0)


class Trial:
    """The probes of one level."""

    def __init__(self, column: Column, bait: Bait, rows: Sequence[str]) -> None:
        self.column = column
        self.bait = bait
        self.rows = rows
        self.sandbox = msgspec.structs.replace(LIMITS, level=column.level)
        self.command = probe_command(bait.own)
        self.hidden = (bait.hidden,)
        self.situation = Situation(column.level, root=os.geteuid() == 0, shares_uid=False, counted=powers().processes)

    async def run(self) -> None:
        """Fills the column."""
        why = problem(self.command, self.sandbox, self.hidden)
        if why is not None:
            self.column.unavailable = why
            return
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._try_together, [row for row in self.rows if not BY_ID[row].fatal])
                for row in self.rows:
                    if BY_ID[row].fatal:
                        nursery.start_soon(self._try_alone, row)
        except* (StartError, ProbeError) as group:
            self.column.fault = str(group.exceptions[0])

    async def _try_together(self, rows: Sequence[str]) -> None:
        """The harmless rows, with another bot to attack."""
        async with self._probing() as sibling:
            await sibling.begin(do="hold", secret=self.bait.sibling_secret)
            held = await sibling.line() or {}
            target: Line = {"pids": [sibling.bot.pid, *descendants(sibling.bot.pid)], "address": held.get("address", 0)}
            async with self._probing() as probe:
                await self._greet(probe, rows, target)
                told = await self._reports(probe, rows)
        if OUTLIVE in told and told[OUTLIVE]["could"]:
            with trio.move_on_after(AFTERLIFE):
                while self.bait.lock_is_held():  # noqa: ASYNC110 - the system has no event for it
                    await trio.sleep(0.01)
        for row in rows:
            self._judge(row, told[row])

    async def _greet(self, probe: ProbeBot, rows: Sequence[str], target: Line) -> None:
        await probe.begin(do="try", rows=rows, bait=self.bait.facts(self.sandbox, target))
        self.column.description = probe.bot.description
        shares = self.column.level is Level.BASIC and probe.uid == os.getuid()
        self.situation = self.situation._replace(shares_uid=shares)

    async def _reports(self, probe: ProbeBot, rows: Sequence[str]) -> dict[str, Line]:
        """What it says of each row."""
        told: dict[str, Line] = {}
        trying = ""
        while (line := await probe.line()) is not None and "done" not in line:
            trying = str(line.get("trying", trying))
            if "row" in line:
                told[str(line["row"])] = line
        missing = [row for row in rows if row not in told]
        if missing:
            raise ProbeError(f"the probe did not get beyond {trying or 'its greeting'} ({await probe.why()})")
        return told

    async def _try_alone(self, row: str) -> None:
        """A row whose refusal ends the bot."""
        async with self._probing() as probe:
            await self._greet(probe, [row], {"pids": [], "address": 0})
            if await probe.line() is None:
                raise ProbeError(f"the probe did not begin with {row} ({await probe.why()})")
            told = await probe.line()
            if told is None:
                told = ended_by(await probe.bot.exit_status())
        self._judge(row, told)

    def _probing(self) -> AbstractAsyncContextManager[ProbeBot]:
        return probing(self.command, self.sandbox, self.hidden)

    def _judge(self, row: str, told: Line) -> None:
        outcome, detail = outcome_of(row, told, self.bait)
        entry = BY_ID[row]
        self.column.cells[row] = Cell(
            outcome=outcome,
            promise=entry.promise(self.situation),
            broken=entry.broken(outcome, self.situation),
            detail=detail,
        )


def ended_by(status: str | None) -> Line:
    """What is told of a row by whoever has not survived it."""
    return {"could": None if status is None else False, "detail": status or "too slow", "proof": ""}


def outcome_of(row: str, told: Line, bait: Bait) -> tuple[Outcome, str]:
    """What the probe says of a row, believed as far as it shows: by its proof, or from outside."""
    could, detail = told["could"], str(told["detail"])
    seen = bait.seen(row)
    if seen:
        return Outcome.COULD, detail
    if could is None:
        return Outcome.NOT_TRIED, detail
    if seen is False and could:
        return Outcome.COULD_NOT, "nothing of it arrived" if row != OUTLIVE else "it was ended too"
    if could and row in bait.proofs and bait.proofs[row] not in str(told["proof"]):
        return Outcome.COULD_NOT, "what it found is something else"
    return Outcome.COULD if could else Outcome.COULD_NOT, detail


async def column_of(level: Level, rows: Sequence[str] = tuple(BY_ID)) -> Column:
    """What a bot could do at this level, on this machine."""
    column = Column(level=level)
    with Bait() as bait:
        await Trial(column, bait, rows).run()
    return column
