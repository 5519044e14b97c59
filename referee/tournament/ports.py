"""What the tournament asks of whoever seats bots: the calls, and the values that cross. Knows no process.

The runner is written against `MatchPlayer`; `lastcard.referee` provides one that starts real processes, tests
provide one that makes results up.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from lastcard.engine import Rules
from lastcard.referee.limits import Idle, Limits
from lastcard.referee.noise import Noise
from lastcard.referee.sandbox.levels import Sandbox

FAILED_START = frozenset({"startup", "version"})
"""The fault kinds by which a bot has not come to the table at all."""


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """A program as the tournament names it; `cwd` is where it runs and where its paths start.

    `hidden` are files and folders of the tournament that no bot may see.
    """

    name: str
    command: str
    limits: Limits
    env: dict[str, str]
    cwd: Path
    sandbox: Sandbox = Sandbox()
    idle: Idle = Idle.RUN
    hidden: tuple[Path, ...] = ()
    tcp: bool = False
    """It comes over TCP, and nobody here starts it."""


class FaultRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One fault of one seat, as far as the ledger keeps it; the log of the match has all of it."""

    seat: int
    kind: str
    detail: str = ""
    strike: bool = False


class MatchCall(msgspec.Struct, frozen=True, kw_only=True):
    """One match to be played. `bots[s]` is the place, in the table's list, of the bot in seat `s`."""

    match_id: str
    rules: Rules
    seed: str
    bots: tuple[int, ...]
    log_path: Path


class MatchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How a match ended, by seat. `rounds` holds the winner of each round dealt, None for one without.

    `void`: the host or the referee was at fault, nothing of the match counts, and it is played again.
    """

    places: tuple[int, ...] = ()
    scores: tuple[int, ...] = ()
    rounds: tuple[int | None, ...] = ()
    reason: str = ""
    faults: tuple[FaultRecord, ...] = ()
    forfeited: tuple[int, ...] = ()
    digest: str = ""
    noise: Noise | None = None
    void: bool = False
    void_reason: str = ""


class Table(Protocol):
    """Bots that sit together and stay alive over several matches."""

    async def play(self, call: MatchCall) -> MatchRecord:
        """Play one match and return how it ended. The log is written to `call.log_path` from its beginning.

        A bot that died in an earlier match is started anew. Whatever a bot does ends in the record. An
        exception is a fault of ours: the runner counts it as a void attempt.
        """
        ...


class MatchPlayer(Protocol):
    """The room that seats bots."""

    def problem(self, bot: Bot) -> str | None:
        """Why this bot cannot be started, as a sentence; asked before anything starts."""
        ...

    def opened(self, say: Callable[[str], None]) -> AbstractAsyncContextManager[None]:
        """Be ready to seat bots, for a whole run; `say` shows a line to whoever looks on."""
        ...

    def open_table(self, bots: Sequence[Bot]) -> AbstractAsyncContextManager[Table]:
        """Start these bots anew; leaving the context ends them all, also when it is left by cancellation."""
        ...
