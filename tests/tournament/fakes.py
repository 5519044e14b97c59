"""A MatchPlayer that makes results up, for the tests of tournaments and for the child that they kill."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

import trio

from lastcard.referee.tournament import Bot, FaultRecord, MatchCall, MatchRecord

WriteConfig = Callable[..., Path]
Script = Callable[[MatchCall, tuple[str, ...]], MatchRecord]


def record_of(
    *,
    scores: Sequence[int],
    rounds: Sequence[int | None],
    faults: Sequence[FaultRecord] = (),
    forfeited: Sequence[int] = (),
    digest: str = "",
) -> MatchRecord:
    """A record whose places are the competition ranks of the scores."""
    return MatchRecord(
        places=tuple(1 + sum(other > score for other in scores) for score in scores),
        scores=tuple(scores),
        rounds=tuple(rounds),
        reason="rounds",
        faults=tuple(faults),
        forfeited=tuple(forfeited),
        digest=digest,
    )


def by_lot(call: MatchCall, names: tuple[str, ...]) -> MatchRecord:
    """A result that depends on the deal and on who sits where, and on nothing else."""
    digest = sha256(f"{call.seed} {names}".encode())
    lot = digest.digest()
    winner = lot[0] % len(names)
    scores = [lot[1] if seat == winner else 0 for seat in range(len(names))]
    faults = [FaultRecord(seat=winner, kind="timeout", strike=True)] if lot[2] < 64 else []
    return record_of(scores=scores, rounds=[winner], faults=faults, digest=digest.hexdigest())


class FakeTable:
    """Bots that were started together; it checks that none of them sees a deal twice."""

    def __init__(self, player: "FakePlayer", names: tuple[str, ...]) -> None:
        self.player = player
        self.names = names
        self.seeds: list[str] = []

    async def play(self, call: MatchCall) -> MatchRecord:
        """Wait as long as a match takes, and make a result up."""
        assert call.seed not in self.seeds, "a process saw a deal twice"
        self.seeds.append(call.seed)
        call.log_path.write_text(f"{call.match_id}\n")
        self.player.running += 1
        self.player.most_running = max(self.player.most_running, self.player.running)
        try:
            await trio.sleep(self.player.seconds)
        finally:
            self.player.running -= 1
        self.player.calls.append(call)
        return self.player.script(call, tuple(self.names[place] for place in call.bots))


class FakePlayer:
    """Tables of made-up bots. `tables` are all that were opened, `calls` all matches that came to an end."""

    def __init__(self, script: Script = by_lot, seconds: float = 1.0) -> None:
        self.script = script
        self.seconds = seconds
        self.tables: list[FakeTable] = []
        self.calls: list[MatchCall] = []
        self.seated = self.running = self.most_running = 0

    def problem(self, bot: Bot) -> str | None:
        """Only bots without a program cannot be started."""
        return f"{bot.command}: there is no such program" if bot.command == "missing" else None

    @asynccontextmanager
    async def opened(self, say: Callable[[str], None]) -> AsyncIterator[None]:
        """Always ready."""
        del say
        yield

    @asynccontextmanager
    async def open_table(self, bots: Sequence[Bot]) -> AsyncIterator[FakeTable]:
        """A table of these bots."""
        table = FakeTable(self, tuple(bot.name for bot in bots))
        self.tables.append(table)
        self.seated += len(bots)
        try:
            yield table
        finally:
            self.seated -= len(bots)
