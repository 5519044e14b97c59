"""What one seed makes of an evening: tables, players with their limits and characters, matches, and accidents.

Draws lots and does nothing else; `simulation` plays what is drawn here.
"""

from pathlib import Path
from random import Random
from typing import Any

import msgspec

from lastcard.engine import EDITIONS, Rules
from lastcard.referee.limits import Idle, Limits
from tests.checker.logs import options_by_lot
from tests.fuzz.sim_bots import FEATURES, Character

FULL_DISK = Path("/dev/full")
"""Whatever is written there fails, where the system has it."""


class PlayerPlan(msgspec.Struct, kw_only=True):
    """A player, and what will happen to its processes."""

    name: str
    limits: Limits
    character: Character
    idle: Idle
    lives: dict[int, float]
    """Process number to seconds until it is killed."""
    failing: dict[int, bool]
    """Process number to whether its failing start is the host's fault."""


class MatchPlan(msgspec.Struct, kw_only=True):
    """A match, and the pause before it."""

    rules: Rules
    seed: str
    order: tuple[int, ...]
    pause: float
    full_disks: int
    """So many attempts find the disk full."""


class TablePlan(msgspec.Struct, kw_only=True):
    """Players who sit together over some matches."""

    players: list[PlayerPlan]
    matches: list[MatchPlan]
    pause: float


def limits_by_lot(chance: Random, *, timed: bool) -> Limits:
    """Limits that a user could set; `timed` leaves nobody waiting for ever."""
    move, bank = chance.choice([(None, None), (1, 0), (50, 300), (1000, None), (200, 2000), (None, 3000), (5, 50)])
    return Limits(
        move_ms=move,
        bank_ms=bank,
        start_ms=chance.choice([100, 5000]),
        strikes=chance.choice([1, 2, 3, 3, 8]),
        margin_ms=chance.choice([0, 50]),
        seat_ms=chance.choice([600_000, 600_000, 600_000, 900]),
        restarts=chance.choice([0, 0, 1, 3]),
        enforced=timed or chance.random() < 0.5,
    )


def player_by_lot(chance: Random, name: str) -> PlayerPlan:
    """Most are honest; of the others some are so nearly always."""
    evil = chance.choice([0.0, 0.0, 0.0, 0.03, 0.1, 0.3])
    accident = chance.random() < 0.25
    seed = f"{chance.random()}"
    return PlayerPlan(
        name=name,
        limits=limits_by_lot(chance, timed=evil > 0),
        character=Character(
            seed=seed,
            evil=evil,
            features=tuple(feature for feature in FEATURES if chance.random() < 0.4),
            slow=chance.choice([0.0, 0.2, 0.6]),
            lazy_end=chance.random() < 0.1,
        ),
        idle=chance.choice([Idle.RUN, Idle.RUN, Idle.FREEZE]),
        lives={number: chance.expovariate(1) * chance.choice([0.1, 1, 10, 100]) for number in range(4 * accident)},
        failing={chance.randrange(4): chance.random() < 0.3} if chance.random() < 0.05 else {},
    )


def match_by_lot(chance: Random, seed: str, seats: int) -> MatchPlan:
    """A short match in any edition, with any options."""
    edition = chance.choice(sorted(EDITIONS))
    options: dict[str, Any] = options_by_lot(edition, chance, often=chance.choice([0.0, 0.3]))
    options |= {"turn_cap": chance.choice([12, 30, 80]), "max_rounds": chance.choice([1, 1, 2]), "void_limit": 1}
    order = list(range(seats))
    chance.shuffle(order)
    return MatchPlan(
        rules=Rules.of(edition, options),
        seed=seed,
        order=tuple(order),
        pause=chance.uniform(0.01, chance.choice([0.1, 3])),
        full_disks=int(chance.random() < 0.02 and FULL_DISK.exists()),
    )


def table_by_lot(chance: Random, name: str) -> TablePlan:
    """Two to six players, seldom ten, and one to three matches."""
    seats = chance.choice([2, 2, 2, 3, 3, 3, 4, 4, 5, 6, chance.choice([6, 10])])
    return TablePlan(
        players=[player_by_lot(chance, f"{name}{place}") for place in range(seats)],
        matches=[match_by_lot(chance, f"{name}-{chance.random()}", seats) for _ in range(chance.choice([1, 1, 2, 3]))],
        pause=chance.choice([0.0, chance.random()]),
    )


def tables_by_lot(seed: int) -> list[TablePlan]:
    """The evening of this seed."""
    chance = Random(seed)
    return [table_by_lot(chance, "abc"[number]) for number in range(chance.choice([1, 1, 1, 2, 3]))]
