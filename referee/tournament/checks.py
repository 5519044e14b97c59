"""What a row of the ledger may hold, by the stored configuration and the plan. Knows no SQL and no table of results.

A ledger is a file that may be damaged or forged: nothing of it is counted, shown or followed before it fits.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import msgspec

from lastcard.engine import EditionError, MatchReason, OptionError
from lastcard.referee.faults import FaultKind
from lastcard.referee.noise import Noise
from lastcard.referee.sandbox.levels import Sandbox
from lastcard.referee.tournament.config import Config, check_field, check_names
from lastcard.referee.tournament.errors import ConfigError
from lastcard.referee.tournament.keys import BOT_KEYS, LIMIT_KEYS, SANDBOX_KEYS, TOURNAMENT_KEYS, Place, check_table
from lastcard.referee.tournament.plan import Plan
from lastcard.referee.tournament.rows import UNPLAYED, MatchRow, log_name

REASONS = frozenset({*get_args(MatchReason), UNPLAYED})
KINDS = frozenset(kind.value for kind in FaultKind)
DEAL = re.compile(r"[0-9a-f]{32}")
MATCH_ID = re.compile(r"[0-9a-f]{16}")
DIGEST = re.compile(r"([0-9a-f]{64})?")
LARGEST_SCORE = 10**9


@dataclass(frozen=True, slots=True)
class Rule:
    """What one field has to hold, as a test and in words."""

    field: str
    fits: Callable[[MatchRow], bool]
    expected: str


class RowCheck:
    """The check of one tournament's rows. Without `plan`, where the seed is secret, deals and seats count unproved."""

    def __init__(self, config: Config, plan: Plan | None) -> None:
        tournament = config.tournament
        self._seats, self._blocks = tournament.seats, tournament.blocks
        self._names = [bot.name for bot in config.bots]
        self._plan = plan
        self._rounds = int(config.rules().options["max_rounds"])
        self._rules = (*self._where(), *self._result(), *self._record())

    def __call__(self, row: MatchRow) -> str | None:
        """What is wrong with the row, its field first; None if it fits."""
        for rule in self._rules:
            if not rule.fits(row):
                return f"{rule.field}: expected {rule.expected}, got {getattr(row, rule.field)!r}"
        return self._unplanned(row) if self._plan is not None else None

    def _unplanned(self, row: MatchRow) -> str | None:
        assert self._plan is not None
        match = self._plan.match(row.block, row.rotation)
        planned = {
            "match_id": match.match_id,
            "seed": match.seed,
            "bots": tuple(self._names[number] for number in match.bots),
        }
        for field, value in planned.items():
            if getattr(row, field) != value:
                return f"{field}: expected {value!r} by the plan, got {getattr(row, field)!r}"
        return None

    def _where(self) -> tuple[Rule, ...]:
        """Block, rotation, and who plays what: these come first, since the plan is asked by them."""
        blocks, seats, names = self._blocks, self._seats, frozenset(self._names)
        return (
            Rule("block", lambda row: 0 <= row.block < blocks, f"a number from 0 to {blocks - 1}"),
            Rule("rotation", lambda row: 0 <= row.rotation < seats, f"a number from 0 to {seats - 1}"),
            Rule("match_id", lambda row: bool(MATCH_ID.fullmatch(row.match_id)), "16 hexadecimal digits"),
            Rule("seed", lambda row: bool(DEAL.fullmatch(row.seed)), "32 hexadecimal digits"),
            Rule(
                "bots",
                lambda row: len(row.bots) == seats == len(set(row.bots)) and names.issuperset(row.bots),
                f"{seats} different bots of this tournament",
            ),
        )

    def _result(self) -> tuple[Rule, ...]:
        seats, rounds = self._seats, self._rounds
        return (
            Rule(
                "places",
                lambda row: all_within(row.places, seats, 1, seats) and 1 in row.places,
                f"{seats} numbers from 1 to {seats}, a 1 among them",
            ),
            Rule(
                "scores",
                lambda row: all_within(row.scores, seats, -LARGEST_SCORE, LARGEST_SCORE),
                f"{seats} numbers from {-LARGEST_SCORE} to {LARGEST_SCORE}",
            ),
            Rule("rounds", lambda row: 0 <= row.rounds <= rounds, f"a number from 0 to {rounds}"),
            Rule(
                "wins",
                lambda row: all_within(row.wins, seats, 0, row.rounds) and sum(row.wins) == row.rounds,
                f"{seats} numbers whose sum is the number of rounds",
            ),
            Rule("reason", lambda row: row.reason in REASONS, f"one of {', '.join(sorted(REASONS))}"),
            Rule(
                "forfeited",
                lambda row: set(row.forfeited) <= set(range(seats)) and len(set(row.forfeited)) == len(row.forfeited),
                f"different seats from 0 to {seats - 1}",
            ),
        )

    def _record(self) -> tuple[Rule, ...]:
        seats = self._seats
        return (
            Rule(
                "faults",
                lambda row: len(row.faults) == seats and all(map(are_faults, row.faults)),
                f"{seats} tables of fault kinds with how often",
            ),
            Rule(
                "strikes",
                lambda row: (
                    all_within(row.strikes, seats, 0, LARGEST_SCORE)
                    and all(count <= sum(kinds.values()) for count, kinds in zip(row.strikes, row.faults, strict=True))
                ),
                f"{seats} numbers, none above that of the seat's faults",
            ),
            Rule("log", lambda row: row.log == log_of(row), "the name of this match's log"),
            Rule("digest", lambda row: bool(DIGEST.fullmatch(row.digest)), "64 hexadecimal digits"),
            Rule("void_attempts", lambda row: row.void_attempts >= 0, "a number from 0"),
            Rule("wall_ms", lambda row: row.wall_ms >= 0, "a number from 0"),
            Rule("noise", lambda row: row.noise is None or is_noise(row.noise), "times from 0"),
        )


def all_within(numbers: Sequence[int], count: int, least: int, most: int) -> bool:
    return len(numbers) == count and all(least <= number <= most for number in numbers)


def are_faults(kinds: dict[str, int]) -> bool:
    return KINDS.issuperset(kinds) and all(1 <= count <= LARGEST_SCORE for count in kinds.values())


def is_noise(noise: Noise) -> bool:
    return min(noise.lag_ms, noise.late, noise.wall_ms, noise.stall_ms or 0.0) >= 0


def log_of(row: MatchRow) -> str:
    """The only log that a row may name: what the ledger says is never followed out of the folder."""
    return "" if row.reason == UNPLAYED else log_name(row.block, row.rotation)


def check_config(config: Config) -> None:
    """Raise ConfigError for a stored configuration that no file can mean."""
    fields = {name: value for name, value in msgspec.structs.asdict(config.tournament).items() if value is not None}
    check_table(Place("its configuration", "[tournament]"), fields, TOURNAMENT_KEYS)
    check_table(Place("its configuration", "[limits]"), limit_fields(config.limits), LIMIT_KEYS)
    check_table(Place("its configuration", "[sandbox]"), sandbox_fields(config.sandbox), SANDBOX_KEYS)
    for bot in config.bots:
        place = Place("its configuration", "[[bot]]")
        own = {"name": bot.name, "command": bot.command, "cwd": bot.cwd, **limit_fields(bot.limits)}
        check_table(place, own, BOT_KEYS)
        check_table(place, sandbox_fields(bot.sandbox), SANDBOX_KEYS)
    check_names("its configuration", list(config.bots))
    check_field("its configuration", config)
    try:
        config.rules()
    except (EditionError, OptionError) as error:
        raise ConfigError(f"its configuration: {error}") from None


def limit_fields(limits: msgspec.Struct) -> dict[str, object]:
    """The limits that a file can set, as it would have them."""
    fields = msgspec.structs.asdict(limits)
    return {name: value for name, value in fields.items() if name in LIMIT_KEYS and value is not None}


def sandbox_fields(sandbox: Sandbox) -> dict[str, object]:
    """A sandbox as a file would have it."""
    return {**msgspec.structs.asdict(sandbox), "level": sandbox.level.value, "read": list(sandbox.read)}
