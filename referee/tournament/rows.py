"""The ledger's rows as values: what is kept of a match, a fault, a void. Knows no SQL and no runner."""

from collections import Counter

import msgspec

from lastcard.referee.noise import Noise
from lastcard.referee.tournament.plan import PlannedMatch
from lastcard.referee.tournament.ports import MatchRecord

UNPLAYED = "unplayed"
"""The reason of a match that was closed without being played, since a bot of it was suspended."""

LONGEST_DETAIL = 1_000


def log_name(block: int, rotation: int) -> str:
    """The log of a match as the ledger names it, from the tournament's folder."""
    return f"logs/{block}-{rotation}.jsonl"


class FirstRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a ledger says about itself: the configuration as run, and what is needed to go on with it."""

    name: str
    text: str
    canonical: str
    base: str
    software: str
    begun: str
    commitment: str


class MatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """One match that counts. By seat: `wins` are rounds won, `faults` by kind. `rounds` had a winner."""

    block: int
    rotation: int
    match_id: str
    seed: str
    bots: tuple[str, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...]
    wins: tuple[int, ...]
    rounds: int
    reason: str
    forfeited: tuple[int, ...]
    faults: tuple[dict[str, int], ...]
    strikes: tuple[int, ...]
    log: str = ""
    digest: str = ""
    void_attempts: int = 0
    wall_ms: int = 0
    noise: Noise | None = None


class FaultRow(msgspec.Struct, frozen=True, kw_only=True):
    """One fault, as far as the ledger keeps it."""

    block: int
    rotation: int
    seat: int
    bot: str
    kind: str
    strike: bool
    detail: str


class VoidRow(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a match that counts for nobody; `reason` may be a whole traceback."""

    block: int
    rotation: int
    bots: tuple[str, ...]
    reason: str
    log: str


def match_row(
    match: PlannedMatch, names: tuple[str, ...], record: MatchRecord, *, log: str, voids: int, ms: int
) -> MatchRow:
    """The row of a match that was played."""
    seats = range(len(names))
    winners = Counter(winner for winner in record.rounds if winner is not None)
    faults = [Counter(fault.kind for fault in record.faults if fault.seat == seat) for seat in seats]
    strikes = Counter(fault.seat for fault in record.faults if fault.strike)
    return MatchRow(
        block=match.block,
        rotation=match.rotation,
        match_id=match.match_id,
        seed=match.seed,
        bots=names,
        places=record.places,
        scores=record.scores,
        wins=tuple(winners[seat] for seat in seats),
        rounds=winners.total(),
        reason=record.reason,
        forfeited=tuple(sorted(record.forfeited)),
        faults=tuple(dict(sorted(kinds.items())) for kinds in faults),
        strikes=tuple(strikes[seat] for seat in seats),
        log=log,
        digest=record.digest,
        void_attempts=voids,
        wall_ms=ms,
        noise=record.noise,
    )


def unplayed_row(match: PlannedMatch, names: tuple[str, ...], absent: frozenset[str]) -> MatchRow:
    """The row of a match that suspended bots forfeit unplayed: no rounds, no scores, last place."""
    seats = range(len(names))
    present = sum(name not in absent for name in names)
    zeros = tuple(0 for _ in seats)
    return MatchRow(
        block=match.block,
        rotation=match.rotation,
        match_id=match.match_id,
        seed=match.seed,
        bots=names,
        places=tuple(1 + present if name in absent else 1 for name in names),
        scores=zeros,
        wins=zeros,
        rounds=0,
        reason=UNPLAYED,
        forfeited=tuple(seat for seat in seats if names[seat] in absent),
        faults=tuple({} for _ in seats),
        strikes=zeros,
    )


def fault_rows(row: MatchRow, record: MatchRecord) -> tuple[FaultRow, ...]:
    """The faults of a played match."""
    return tuple(
        FaultRow(
            block=row.block,
            rotation=row.rotation,
            seat=fault.seat,
            bot=row.bots[fault.seat],
            kind=fault.kind,
            strike=fault.strike,
            detail=fault.detail[:LONGEST_DETAIL],
        )
        for fault in record.faults
    )
