"""Plays bots against each other in one process, without pipes, to measure how strong they are.

    python -m tests.sample_bots.arena [ROUNDS]

prints how often `greedy` wins against `random`. Knows the engine's public names and the bots' `choose`.
"""

import random
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lastcard.engine import Match, Rules
from lastcard.sample_bots import greedy_bot, random_bot

Choose = Callable[[dict[str, Any]], str]
MakeBot = Callable[[str], Choose]  # from a text to take chance from

Z = 1.96  # two-sided 95 %


class Strength(NamedTuple):
    """Share of the rounds that somebody won, with an interval that takes each deal as one observation."""

    won: int
    decided: int
    rate: float
    low: float
    high: float


def make_random(seed: str) -> Choose:
    chance = random.Random(seed)
    return lambda ask: random_bot.choose(ask, chance)


def make_greedy(seed: str) -> Choose:
    return greedy_bot.choose


def play_round(rules: Rules, seed: str, bots: Sequence[Choose]) -> int | None:
    """The seat that won the first round of a match, or None. Forced decisions are not asked."""
    match = Match(rules, len(bots), seed)
    match.deal()
    while match.decision is not None:
        decision = match.decision
        given: dict[int, str] = {}
        for seat in decision.seats:
            legal = list(match.legal(seat))
            state = match.view(seat)
            ask = {"type": "ask", "id": 1, "kind": decision.kind, "legal": legal, "state": state, "events": []}
            given[seat] = legal[0] if len(legal) == 1 else bots[seat](ask)
        match.act(given)
    return match.round_winner


def strength(
    edition: str, seats: int, rounds: int, one: MakeBot = make_greedy, others: MakeBot = make_random
) -> Strength:
    """How often one bot wins against a table of others: deal after deal, each from every seat."""
    rules = Rules.of(edition, {"rounds": 1})
    blocks: list[list[bool]] = []
    for deal in range(rounds // seats):
        block: list[bool] = []
        for place in range(seats):
            bots = [(one if seat == place else others)(f"{deal}.{seat}") for seat in range(seats)]
            winner = play_round(rules, f"arena.{deal}", bots)
            if winner is not None:
                block.append(winner == place)
        blocks.append(block)
    won, decided = sum(map(sum, blocks)), sum(map(len, blocks))
    rate = won / decided
    # A ratio of sums, clustered by deal: the rounds of one deal are not independent of each other.
    spread = statistics.stdev(sum(block) - rate * len(block) for block in blocks)
    margin = Z * spread * len(blocks) ** 0.5 / decided
    return Strength(won, decided, rate, rate - margin, rate + margin)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 800
    for edition in ("mario-kart", "classic"):
        for seats in (2, 4):
            found = strength(edition, seats, rounds)
            share = f"{found.rate:.1%} ({found.low:.1%} to {found.high:.1%}) of {found.decided} rounds"
            print(f"{edition:<10} {seats} seats: greedy wins {share}", flush=True)


if __name__ == "__main__":
    main()
