"""What the doctor found, as one value and in words for a terminal of any kind; it examines nothing itself."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from lastcard.referee.doctor.costs import Cost
from lastcard.referee.doctor.machine import PACKAGES, Machine
from lastcard.referee.doctor.own_bot import ComesUp
from lastcard.referee.doctor.rows import BY_ID, ROWS, Outcome, Promise
from lastcard.referee.doctor.trial import LIMITS, Cell, Column
from lastcard.referee.sandbox.levels import Level

WIDTH = 98
LABEL, CELL = 54, 14
LEGEND = "+ as the level promises    ! its promise is broken    no sign: it promises nothing here"


class RowWords(Struct, frozen=True):
    """A row as readers of the JSON know it."""

    id: str
    group: str
    what: str


class Report(Struct, frozen=True, kw_only=True):
    """All of an examination: what `--json` prints."""

    machine: Machine
    limits: dict[str, int]
    """Under which the probe ran."""
    rows: list[RowWords]
    levels: list[Column]
    costs: dict[Level, Cost]
    ok: bool
    """No promise is broken, and every level that was asked for by name could be examined."""


class BotReport(Struct, frozen=True, kw_only=True):
    """How one bot comes up: what `--json` prints of it."""

    bot: str
    argv: tuple[str, ...]
    levels: list[ComesUp]
    ok: bool


def report_of(machine: Machine, columns: list[Column], costs: dict[Level, Cost], *, by_name: bool) -> Report:
    """The whole of it; `by_name`: a level was asked for, so it has to be there."""
    kept = all(column.kept and not (by_name and column.unavailable) for column in columns)
    limits = {name: value for name, value in msgspec.structs.asdict(LIMITS).items() if isinstance(value, int)}
    rows = [RowWords(row.id, row.group, row.what) for row in ROWS]
    return Report(machine=machine, limits=limits, rows=rows, levels=columns, costs=costs, ok=kept)


# ---- the machine


def machine_lines(machine: Machine) -> Iterator[str]:
    """One fact a line."""
    memory = f", {machine.memory_mb} MB of memory" if machine.memory_mb else ""
    user = "root" if machine.uid == 0 else f"an ordinary user (uid {machine.uid})"
    facts = {
        "lastcard": f"{machine.lastcard}, run by {user}",
        "python": f"{machine.python} ({machine.interpreter})",
        "platform": machine.platform,
        "cores": f"{machine.cores}{memory}",
        **{name: version or f"not installed (Debian: {PACKAGES[name]})" for name, version in machine.programs.items()},
        "cgroups": cage_words(machine),
        "user namespaces": machine.user_namespaces,
        "kernel": ", ".join(
            f"{name} {'yes' if there else 'no'}"
            for name, there in (("pidfd", machine.pidfd), ("subreaper", machine.subreaper), ("PSI", machine.pressure))
        ),
        "open files": f"{machine.open_files} at most",
        "clock": f"steps of {machine.clock_ns} ns",
        "runtimes": ", ".join(f"{name} {'yes' if path else 'no'}" for name, path in machine.runtimes.items()),
    }
    for name, fact in facts.items():
        yield from wrapped(f"{name:16} {fact}", 17)


def cage_words(machine: Machine) -> str:
    """What a cgroup of its own does for a bot."""
    cage = machine.cage
    if not cage.folders:
        return "none that can be written; trees are ended by looking for them"
    powers = {
        "limit memory": cage.memory,
        "limit processes": cage.processes,
        "end a tree at once": cage.kill,
        "freeze": cage.freeze,
    }
    return "; ".join(f"{name}: {'yes' if can else 'no'}" for name, can in powers.items())


# ---- the matrix


def matrix_lines(columns: Sequence[Column]) -> Iterator[str]:
    """Rows, columns, and what is to be said about both."""
    yield from table_lines(columns)
    for column in columns:
        yield from column_words(column)
    for column in columns:
        for row, cell in column.cells.items():
            if cell.broken or cell.outcome is Outcome.NOT_TRIED:
                yield from wrapped(f"{sign(cell) or '-'} {column.level}: {cell_words(row, cell)}", 2)


def table_lines(columns: Sequence[Column]) -> Iterator[str]:
    """The table itself; a level that was not examined has no column in it."""
    shown = [column for column in columns if column.cells]
    if not shown:
        return
    yield f"{'what a bot tries':{LABEL}}" + "".join(f"{column.level:{CELL}}" for column in shown).rstrip()
    group = ""
    for row in ROWS:
        if row.group != group:
            group = row.group
            yield f"[{group}]"
        yield f"  {row.what:{LABEL - 2}}" + "".join(cell_of(column.cells.get(row.id)) for column in shown).rstrip()
    yield LEGEND


def cell_of(cell: Cell | None) -> str:
    """One cell with its sign."""
    return " " * CELL if cell is None else f"{cell.outcome} {sign(cell)}".ljust(CELL)


def sign(cell: Cell) -> str:
    """Whether a promise was kept or broken."""
    if cell.broken:
        return "!"
    return "+" if cell.promise is not Promise.NOTHING and cell.outcome is not Outcome.NOT_TRIED else ""


def cell_words(row: str, cell: Cell) -> str:
    """A cell that needs words."""
    told = f" ({cell.detail})" if cell.detail else ""
    expected = f"; expected: {cell.promise}" if cell.broken else ""
    return f"{BY_ID[row].what}: {cell.outcome}{told}{expected}"


def column_words(column: Column) -> Iterator[str]:
    """How the level was to be had."""
    if column.unavailable:
        yield from wrapped(f"{column.level}: not available: {column.unavailable}", 2)
    elif column.fault:
        yield from wrapped(f"! {column.level}: {column.fault}", 2)
    else:
        yield from wrapped(f"{column.level}: the bot was run as: {column.description}", 2)


def cost_lines(costs: Mapping[Level, Cost]) -> Iterator[str]:
    """What the levels cost."""
    if costs:
        yield f"{'what it costs (medians, noisy)':{LABEL}}" + "".join(f"{level:{CELL}}" for level in costs).rstrip()
        starts = [f"{cost.start_ms:.1f} ms" for cost in costs.values()]
        yield f"  {'start of a small program in Python':{LABEL - 2}}" + "".join(f"{s:{CELL}}" for s in starts).rstrip()
        trips = [f"{100 * cost.relative:.0f} %" for cost in costs.values()]
        yield f"  {'round trips a second':{LABEL - 2}}" + "".join(f"{trip:{CELL}}" for trip in trips).rstrip()


def verdict(report: Report) -> str:
    """The last line."""
    broken = sum(cell.broken for column in report.levels for cell in column.cells.values())
    if broken:
        return f"{broken} broken promise{'s' if broken > 1 else ''}: see the lines with ! above"
    if not report.ok:
        return "not every level could be examined: see above"
    return "every level that is available keeps its promises"


# ---- one bot


def bot_lines(report: BotReport) -> Iterator[str]:
    """How it comes up, level by level."""
    for found in report.levels:
        if found.unavailable:
            yield from wrapped(f"{found.level:8} not available: {found.unavailable}", 9)
        elif found.fault:
            yield from wrapped(f"{found.level:8} ! does not come up: {found.fault}", 9)
            yield from (f"{'':9}{line}"[:WIDTH] for line in found.stderr)
        else:
            who = f", as {found.name} {found.version}".rstrip() if found.name else ""
            cost = f"hello after {found.hello_ms:.0f} ms, {found.memory_mb:.0f} MB of memory"
            yield from wrapped(f"{found.level:8} comes up: {cost}{who}; run as: {found.description}", 9)


def wrapped(text: str, indent: int) -> list[str]:
    """Lines that fit, the later ones indented. A word that is longer than a line is cut."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False) or [""]
