"""Where the benchmarks touch the referee for whole matches: it plays them and says what they took.

What it measures begins when the bots have answered hello and ends with the last match wanted, since starting
processes is no part of a decision.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import trio

from bench.kept import Kept, greeted, player
from lastcard.engine import Rules
from lastcard.referee.match_log import MatchLog
from lastcard.referee.player import Player
from lastcard.referee.seating import part_all
from lastcard.referee.table import Table

PLAINLY = Kept()


@dataclass(frozen=True)
class Played:
    """Asked decisions, and the wall-clock and referee CPU seconds that they took."""

    decisions: int
    seconds: float
    cpu_seconds: float


@dataclass
class Hall:
    """Tables that play match after match until enough matches have ended.

    All of them are busy up to that moment; what they have asked in matches that have not ended counts too.
    """

    rules: Rules
    matches: int
    log_folder: Path
    seed: str
    after_match: Callable[[int], None]
    done: trio.CancelScope = field(default_factory=trio.CancelScope)
    ended: int = 0
    asked: int = 0

    async def play(self, seated: Sequence[Sequence[Player]]) -> Played:
        begun, cpu_begun = time.perf_counter(), time.process_time()
        with self.done:
            async with trio.open_nursery() as nursery:
                for table, players in enumerate(seated):
                    nursery.start_soon(self.sit, table, players)
        return Played(self.asked, time.perf_counter() - begun, time.process_time() - cpu_begun)

    async def sit(self, table: int, players: Sequence[Player]) -> None:
        for number in count():
            name = f"{self.seed}-{table}-{number}"
            log = MatchLog(self.log_folder / f"{name}.jsonl")
            match = Table(players, self.rules, name, log, match_id=name)
            try:
                outcome = await match.play()
            finally:
                self.asked += match.asked
                log.close()
            if outcome.faults:
                raise RuntimeError(f"the instant bots made a fault: {outcome.faults[0]}")
            self.ended += 1
            self.after_match(self.ended)
            if self.ended == self.matches:
                self.done.cancel()
                return


async def play_matches(
    commands: Sequence[Sequence[str]],
    rules: Rules,
    matches: int,
    log_folder: Path,
    *,
    tables: int = 1,
    seed: str = "bench",
    kept: Kept = PLAINLY,
    after_match: Callable[[int], None] = lambda _: None,
) -> Played:
    """Plays until `matches` matches have ended, at so many tables at once; bots stay alive all the while.

    `after_match` hears how many have ended so far, from 1.
    """
    with kept.applied() as keeping:
        seated = [
            [player(f"{table}-{seat}", command, keeping) for seat, command in enumerate(commands)]
            for table in range(tables)
        ]
        everybody = [one for players in seated for one in players]
        try:
            async with trio.open_nursery() as nursery:
                for one in everybody:
                    nursery.start_soon(greeted, one)
            return await Hall(rules, matches, log_folder, seed, after_match).play(seated)
        finally:
            with trio.CancelScope(shield=True):
                await part_all(everybody, "the benchmark is over")
