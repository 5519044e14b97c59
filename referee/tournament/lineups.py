"""Which bots play together: the cycle of line-ups that blocks go through. Knows no seat order and no result.

All subsets of N bots if there are few, else a balanced choice. Either way the next line-up is the one whose
bots and pairs have played least (statistics.md 3.6, gomill's rule), so that a plan cut off anywhere is nearly
balanced too.
"""

from functools import lru_cache
from itertools import combinations
from math import comb, gcd

from lastcard.engine import Stream

LineUp = tuple[int, ...]

FEW_SUBSETS = 300
LONGEST_CYCLE = 1_000


class _Issued:
    """How often bots and pairs were given out."""

    def __init__(self, bots: int) -> None:
        self.bots = [0] * bots
        self.pairs = [[0] * bots for _ in range(bots)]

    def add(self, line_up: LineUp) -> None:
        for bot in line_up:
            self.bots[bot] += 1
            for other in line_up:
                self.pairs[bot][other] += 1

    def cost(self, line_up: LineUp) -> tuple[int, int]:
        """What adding the line-up adds to the imbalance of bots, and of pairs."""
        pairs = sum(self.pairs[one][other] for one, other in combinations(line_up, 2))
        return sum(self.bots[bot] for bot in line_up), pairs


@lru_cache(maxsize=8)
def line_ups(bots: int, seats: int, blocks: int, seed: str) -> tuple[LineUp, ...]:
    """The cycle of line-ups; block k is played by the one at k modulo its length."""
    subsets = comb(bots, seats)
    if subsets <= min(FEW_SUBSETS, max(blocks, 1)):
        return all_subsets(bots, seats)
    return balanced_choice(bots, seats, blocks, seed)


def all_subsets(bots: int, seats: int) -> tuple[LineUp, ...]:
    """Every subset once, the least issued first."""
    issued = _Issued(bots)
    left = list(combinations(range(bots), seats))
    chosen: list[LineUp] = []
    while left:
        line_up = min(left, key=issued.cost)
        left.remove(line_up)
        issued.add(line_up)
        chosen.append(line_up)
    return tuple(chosen)


def balanced_choice(bots: int, seats: int, blocks: int, seed: str) -> tuple[LineUp, ...]:
    """A cycle in which every bot plays equally often and pairs nearly so."""
    issued = _Issued(bots)
    stream = Stream(seed, "lineups")
    chosen: list[LineUp] = []
    for _ in range(cycle_length(bots, seats, blocks)):
        line_up = least_issued(issued, seats, stream)
        issued.add(line_up)
        chosen.append(line_up)
    return tuple(chosen)


def cycle_length(bots: int, seats: int, blocks: int) -> int:
    """A multiple of the blocks in which every bot can play equally often.

    Long enough that pairs meet, and short enough, where there are blocks enough, that a line-up plays several
    blocks: bots are started anew for every line-up.
    """
    unit = bots // gcd(bots, seats)
    pairs_meet = -(-bots * (bots - 1) // (seats * (seats - 1)))
    wanted = min(max(pairs_meet, blocks // 16), blocks, LONGEST_CYCLE)
    return unit * -(-wanted // unit)


def least_issued(issued: _Issued, seats: int, stream: Stream) -> LineUp:
    """Bots issued least; among equals those who have met the chosen least; among these by lot."""
    left = {bot: (stream.below(65_536), bot) for bot in range(len(issued.bots))}
    met = [0] * len(issued.bots)
    line_up: list[int] = []
    while len(line_up) < seats:
        bot = min(left, key=lambda bot: (issued.bots[bot], met[bot], left[bot]))
        del left[bot]
        line_up.append(bot)
        met = [count + pair for count, pair in zip(met, issued.pairs[bot], strict=True)]
    return tuple(sorted(line_up))
