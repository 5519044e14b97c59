"""The rules of UNO-family card games: pure, deterministic, synchronous. Knows no clock, no I/O and no bot.

rules = Rules.of("mario-kart", {"rounds": 1})
match = Match(rules, seats=3, seed="abc")
while not match.over:
    if match.decision is None:
        events = match.deal()
    else:
        events = match.act({seat: match.legal(seat)[-1] for seat in match.decision.seats})
"""

from lastcard.engine import attack as attack  # the effects of both join the table before rules are compiled
from lastcard.engine import items as items
from lastcard.engine.chance import SEED, Stream
from lastcard.engine.decisions import LEAST_SEATS, MOST_SEATS, Decision, Kind
from lastcard.engine.editions import EDITIONS, Edition, edition
from lastcard.engine.errors import (
    EditionError,
    IllegalAction,
    LastcardError,
    NotationError,
    OptionError,
    PositionError,
)
from lastcard.engine.events import Event, MatchReason, seen_by, sees_more
from lastcard.engine.match import Match
from lastcard.engine.options import OPTIONS
from lastcard.engine.positions import from_setup
from lastcard.engine.rules import Rules
from lastcard.engine.vectors import VectorError
from lastcard.engine.vectors import check as check_vector
from lastcard.engine.vectors import load as load_vectors
from lastcard.engine.views import View

__all__ = [
    "EDITIONS", "LEAST_SEATS", "MOST_SEATS", "OPTIONS", "SEED",
    "Decision", "Edition", "EditionError", "Event", "IllegalAction", "Kind", "LastcardError", "Match", "MatchReason",
    "NotationError", "OptionError", "PositionError", "Rules", "Stream", "VectorError", "View", "check_vector",
    "edition", "from_setup", "load_vectors", "seen_by", "sees_more",
]  # fmt: skip
