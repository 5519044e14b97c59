"""The standings as text for people: the only place that formats them. Knows no file and no terminal."""

from collections.abc import Sequence

from lastcard.referee.tournament.estimates import Estimate
from lastcard.referee.tournament.standings import Standing, Standings

NOTHING = "n/a"
FEW_BLOCKS = 30

OUTCOMES = {"win": "win rate", "score": "score a round", "match": "match points"}

HEADINGS = (
    "rank",
    "bot",
    "matches",
    "rounds",
    "win rate %",
    "score a round",
    "match points",
    "forfeits",
    "faults",
)
LEFT = frozenset({"bot", "faults"})


def estimate_text(estimate: Estimate | None, scale: int, digits: int, within: tuple[float, float] | None) -> str:
    """A mean and its 95 % interval, cut to the range that the quantity can have."""
    if estimate is None:
        return NOTHING
    value = f"{float(estimate.value * scale):.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return f"{value} [{NOTHING}]"
    low, high = estimate.low, estimate.high
    if within is not None:
        low, high = max(low, within[0]), min(high, within[1])
    return f"{value} [{low * scale:.{digits}f}, {high * scale:.{digits}f}]"


def cells(standing: Standing) -> tuple[str, ...]:
    faults = ", ".join(f"{kind} {count}" for kind, count in standing.faults.items())
    return (
        str(standing.rank),
        standing.bot,
        str(standing.matches),
        str(standing.rounds),
        estimate_text(standing.win, 100, 1, (0.0, 1.0)),
        estimate_text(standing.score, 1, 1, None),
        estimate_text(standing.match, 1, 3, (0.0, 1.0)),
        str(standing.forfeits),
        faults or "-",
    )


def aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """The rows as lines of columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        padded = (
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, left, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    return lines


def counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def foundation(standings: Standings) -> list[str]:
    """What the table rests on, a sentence a line."""
    done, planned = standings.blocks, standings.planned_blocks
    provisional = " (provisional)" if done < planned else ""
    lines = [f"Ranked by {OUTCOMES[standings.outcome]}, from {done} of {planned} blocks{provisional}."]
    if standings.left_out_blocks:
        matches = counted(standings.left_out_matches, "match", "matches")
        blocks = counted(standings.left_out_blocks, "incomplete block", "incomplete blocks")
        lines.append(f"Left out: {matches} of {blocks}.")
    rough = f"; with fewer than {FEW_BLOCKS} blocks they are rough" if done < FEW_BLOCKS else ""
    lines.append(f"In brackets: 95 % intervals, clustered by block{rough}.")
    if any(map(lacks_interval, standings.lines)):
        lines.append(f"[{NOTHING}]: fewer than two blocks, or blocks that are all alike, show no spread.")
    return lines


def lacks_interval(standing: Standing) -> bool:
    """Whether a value of the line stands without an interval."""
    estimates = (standing.win, standing.score, standing.match)
    return any(estimate is not None and estimate.low is None for estimate in estimates)


def table(standings: Standings) -> str:
    """The whole table, the same bytes for the same standings."""
    rows = [HEADINGS, *map(cells, standings.lines)]
    return "\n".join([*aligned(rows, [heading in LEFT for heading in HEADINGS]), "", *foundation(standings)])
