"""The standings: a pure function of the ledger's rows, in whatever order. Knows no file and no clock.

Only complete blocks count, those with all their rotations: half a block favours whoever had the better seats.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from lastcard.referee.tournament.config import Outcome
from lastcard.referee.tournament.estimates import BlockSums, Estimate
from lastcard.referee.tournament.rows import MatchRow

SHARES = lcm(*range(1, 11))
"""Match points are counted in these parts, so that 1/k is a whole number for any k seats that share."""


class Standing(NamedTuple):
    """One bot's line. An estimate is None where there was nothing to take it of."""

    rank: int
    bot: str
    matches: int
    rounds: int
    win: Estimate | None
    score: Estimate | None
    match: Estimate | None
    forfeits: int
    strikes: int
    faults: dict[str, int]


class Standings(NamedTuple):
    """The table, best first, and what it rests on."""

    outcome: Outcome
    lines: tuple[Standing, ...]
    blocks: int
    planned_blocks: int
    left_out_blocks: int
    left_out_matches: int


class _Sums:
    """What one bot has in complete blocks."""

    def __init__(self) -> None:
        self.matches = self.rounds = self.forfeits = self.strikes = 0
        self.faults: Counter[str] = Counter()
        self.win = BlockSums()
        self.score = BlockSums()
        self.match = BlockSums()


class _InBlock:
    """What one bot has in one block, in whole numbers."""

    def __init__(self) -> None:
        self.matches = self.rounds = self.wins = self.margin = self.shares = 0


def compute(rows: Iterable[MatchRow], bots: Sequence[str], *, seats: int, blocks: int, outcome: Outcome) -> Standings:
    """The standings of these bots, in a plan of so many blocks, from these rows."""
    sums = {bot: _Sums() for bot in bots}
    open_blocks: dict[int, list[MatchRow]] = {}
    complete = 0
    for row in rows:
        block = open_blocks.setdefault(row.block, [])
        block.append(row)
        if len(block) == seats:
            del open_blocks[row.block]
            complete += 1
            add_block(sums, block)
    ordered = sorted(bots)
    ordered.sort(key=lambda bot: achieved(sums[bot], outcome), reverse=True)
    values = [achieved(sums[bot], outcome) for bot in ordered]
    return Standings(
        outcome=outcome,
        lines=tuple(
            line(values.index(value) + 1, bot, sums[bot], seats) for bot, value in zip(ordered, values, strict=True)
        ),
        blocks=complete,
        planned_blocks=blocks,
        left_out_blocks=len(open_blocks),
        left_out_matches=sum(map(len, open_blocks.values())),
    )


def add_block(sums: dict[str, _Sums], rows: Sequence[MatchRow]) -> None:
    """Add a complete block: its matches share a deal, so they enter the errors as one observation."""
    in_block: dict[str, _InBlock] = {}
    for row in rows:
        shares = match_shares(row)
        total = sum(row.scores)
        for seat, bot in enumerate(row.bots):
            own, bot_sums = in_block.setdefault(bot, _InBlock()), sums[bot]
            own.matches += 1
            own.rounds += row.rounds
            own.wins += row.wins[seat]
            own.margin += len(row.bots) * row.scores[seat] - total
            own.shares += shares[seat]
            bot_sums.forfeits += seat in row.forfeited
            bot_sums.strikes += row.strikes[seat]
            bot_sums.faults.update(row.faults[seat])
    for bot, own in in_block.items():
        bot_sums = sums[bot]
        bot_sums.matches += own.matches
        bot_sums.rounds += own.rounds
        bot_sums.win.add(own.wins, own.rounds)
        bot_sums.score.add(own.margin, own.rounds)
        bot_sums.match.add(own.shares, own.matches)


def match_shares(row: MatchRow) -> tuple[int, ...]:
    """1/k to the k seats that share first place, in parts of SHARES; nothing to anyone if all forfeited."""
    if len(row.forfeited) == len(row.bots):
        return tuple(0 for _ in row.bots)
    share = SHARES // row.places.count(1)
    return tuple(share if place == 1 else 0 for place in row.places)


def achieved(sums: _Sums, outcome: Outcome) -> tuple[bool, Fraction]:
    """What ranks a bot. Bots with nothing to measure come after all others, by their match points.

    So a bot whose opponents all failed to start is not level with them.
    """
    estimate = {"win": sums.win, "score": sums.score, "match": sums.match}[outcome].estimate()
    if estimate is not None:
        return True, estimate.value
    points = sums.match.estimate()
    return False, points.value if points is not None else Fraction(-1)


def line(rank: int, bot: str, sums: _Sums, seats: int) -> Standing:
    return Standing(
        rank=rank,
        bot=bot,
        matches=sums.matches,
        rounds=sums.rounds,
        win=sums.win.estimate(),
        score=sums.score.estimate(seats),
        match=sums.match.estimate(SHARES),
        forfeits=sums.forfeits,
        strikes=sums.strikes,
        faults=dict(sorted(sums.faults.items())),
    )
