"""The plan of a round robin: who plays what, where and on which deal, all by counting. Knows no result.

Block k is a pure function of (configuration, k): no state, so that stopping, resuming and auditing are
nothing special and a plan of a billion blocks takes no memory. A *block* is one deal played in all rotations
of the seats; a *stretch* is the work of one set of living bots: blocks of one line-up in one rotation, so
that no process ever sees a deal twice (design.md 8).
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from lastcard.engine import Stream
from lastcard.referee.tournament.lineups import LineUp, line_ups
from lastcard.referee.tournament.orders import circular_orders, rotated

LONGEST_STRETCH = 16


class PlannedMatch(NamedTuple):
    """One match: `bots[s]` is the number, in the file's order, of the bot in seat `s`."""

    block: int
    rotation: int
    match_id: str
    seed: str
    bots: tuple[int, ...]


class Stretch(NamedTuple):
    """Matches that bots started anew play one after the other: all of one line-up and one rotation."""

    line_up: LineUp
    matches: tuple[PlannedMatch, ...]


class Plan:
    """The plan of one tournament. `seed` is the master seed, written in the file or drawn by the system.

    `remote` are the numbers of bots that come over TCP.
    """

    def __init__(self, *, bots: int, seats: int, blocks: int, seed: str, remote: Collection[int] = ()) -> None:
        self.seats = seats
        self.blocks = blocks
        self.matches = blocks * seats
        self._seed = seed
        self._remote = frozenset(remote)
        self._orders = circular_orders(seats)
        self._line_ups = line_ups(bots, seats, blocks, seed)
        # Few blocks a line-up: shorter stretches, so that several jobs find work. Never a matter of how many
        # jobs there are, or a bot that learns from match to match would play differently with other --jobs.
        per_line_up = -(-blocks // len(self._line_ups))
        self._length = max(1, min(LONGEST_STRETCH, per_line_up // 4))

    def deal_seed(self, block: int, rotation: int) -> str:
        """The seed of the block's deal (design.md 4 and 8); one for each rotation if a remote bot plays the block.

        Nobody can start a remote bot anew, so it may never meet a deal twice.
        """
        label = f"block|{block}" if self._remote.isdisjoint(self.line_up(block)) else f"block|{block}|{rotation}"
        return Stream(self._seed, label).take(16).hex()

    def line_up(self, block: int) -> LineUp:
        """Who plays the block, in the file's order."""
        return self._line_ups[block % len(self._line_ups)]

    def match(self, block: int, rotation: int) -> PlannedMatch:
        """The match of this block and rotation. Its id tells nothing without the master seed."""
        visit, place = divmod(block, len(self._line_ups))
        # Line-ups begin at different orders: neighbours are balanced even if each plays a few blocks only
        order = rotated(self._orders[(visit + place) % len(self._orders)], rotation)
        line_up = self._line_ups[place]
        return PlannedMatch(
            block=block,
            rotation=rotation,
            match_id=Stream(self._seed, f"match|{block}|{rotation}").take(8).hex(),
            seed=self.deal_seed(block, rotation),
            bots=tuple(line_up[number] for number in order),
        )

    def stretches(self) -> Iterator[Stretch]:
        """All work in the order in which it is given out: by window, by line-up, by rotation."""
        cycle = len(self._line_ups)
        for start in range(0, self.blocks, cycle * self._length):
            end = min(self.blocks, start + cycle * self._length)
            for first in range(start, min(end, start + cycle)):
                for rotation in range(self.seats):
                    blocks = range(first, end, cycle)
                    yield Stretch(self.line_up(first), tuple(self.match(block, rotation) for block in blocks))
