"""The engine at random self-play against RLCard's UNO and OpenSpiel's crazy_eights; clone() against deepcopy.

What is counted is a decision of kind `turn` or `drawn`, with its legal moves listed; whatever else a match
needs (the draw for dealer, deals, colors, challenges, scores) is in the time and not in the count. Seconds
are CPU seconds.
"""

import copy
import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from bench.harness import Row, Sample, interleaved, rates, ratios
from bench.rivals import RIVALS, Rival
from lastcard.engine import EDITIONS, Match, Rules

TABLES = (2, 4)
TARGET_EDITION = "classic"
CLONE_TARGET = 100.0
LONGEST_WITHOUT_COLOR = len("play R7")
"""A play that names a color is longer, and is listed four times: once a color."""


def random_play(legal: Sequence[str], chance: Callable[[], float], cards: int) -> str:
    """What `random` of design.md 9 does on a turn: each playable card is equally likely, and it calls UNO."""
    plays = len(legal) - 1
    if not plays:
        return legal[0]
    action = legal[int(chance() * plays)]
    while len(action) > LONGEST_WITHOUT_COLOR and chance() >= 0.25:
        action = legal[int(chance() * plays)]
    return action + " uno" if cards == 2 else action


def play_match(match: Match, source: random.Random) -> int:
    """Plays a match to its end and returns how many `turn` and `drawn` decisions it had."""
    chance, legal_of, act = source.random, match.legal, match.act
    counted = 0
    while True:
        decision = match.decision
        if decision is None:
            if match.over:
                return counted
            match.deal()
            continue
        kind = decision.kind
        if kind in {"turn", "drawn"}:
            counted += 1
            seat = decision.seats[0]
            act({seat: random_play(legal_of(seat), chance, match.hands[seat].bit_count())})
        elif kind == "catch":
            act(dict.fromkeys(decision.seats, "catch"))
        else:
            (seat,) = decision.seats
            legal = legal_of(seat)
            act({seat: legal[int(chance() * len(legal))]})


def random_self_play(rules: Rules, seats: int, decisions: int, seed: int) -> Sample:
    """Plays whole matches until at least `decisions` decisions are counted."""
    source = random.Random(seed)
    counted = number = 0
    begun = time.process_time()
    while counted < decisions:
        number += 1
        counted += play_match(Match(rules, seats=seats, seed=f"bench-{seed}-{number}"), source)
    return Sample(counted, time.process_time() - begun)


def positions(rules: Rules, seats: int, count: int) -> list[Match]:
    """Matches stopped in the middle of a round, each a little further than the one before."""
    stopped: list[Match] = []
    for number in range(count):
        match = Match(rules, seats=seats, seed=f"clone-{number}")
        match.deal()
        for _ in range(5 + number):
            decision = match.decision
            if decision is None:
                break
            match.act({seat: match.legal(seat)[0] for seat in decision.seats})
        stopped.append(match)
    return stopped


def copies(way: Callable[[Match], Match], matches: list[Match], times: int, _: int) -> Sample:
    """Every match copied so many times; nothing here is left to chance."""
    begun = time.process_time()
    for _ in range(times):
        for match in matches:
            way(match)
    return Sample(times * len(matches), time.process_time() - begun)


def speed_rows(rounds: int, decisions: int) -> list[Row]:
    """At each size of table every edition and every yardstick, all of them in one interleaved run."""
    contenders: dict[str, Callable[[int], Sample]] = {}
    for seats in TABLES:
        for name in EDITIONS:
            contenders[f"{name} {seats}"] = partial(random_self_play, Rules.of(name, {}), seats, decisions)
        for rival in RIVALS:
            if rival.installed:
                contenders[f"{rival.name} {seats}"] = partial(rival.play, seats, decisions)
    samples = interleaved(contenders, rounds)
    return [
        compared(name, seats, rival, samples)
        for seats in TABLES
        for name in EDITIONS
        for rival in (RIVALS if name == TARGET_EDITION else RIVALS[:1])
    ]


def compared(edition: str, seats: int, rival: Rival, samples: Mapping[str, list[Sample]]) -> Row:
    ours, yardstick = samples[f"{edition} {seats}"], samples.get(f"{rival.name} {seats}")
    what = f"{edition}, {seats} seats, against {rival.name}"
    target = rival.target if edition == TARGET_EDITION else None
    note = f"{rates(ours).median:,.0f} decisions a CPU second"
    if yardstick is None:
        return Row(what, "times", None, target, note=f"{note}; {rival.package} is not installed")
    note += f", {rates(yardstick).median:,.0f}"
    return Row(what, "times", ratios(ours, yardstick), target, note=note)


def clone_rows(rounds: int, times: int) -> list[Row]:
    table: list[Row] = []
    for seats in TABLES:
        matches = positions(Rules.of(TARGET_EDITION, {}), seats, 20)
        contenders = {
            "clone": partial(copies, Match.clone, matches, times * 50),
            "deepcopy": partial(copies, copy.deepcopy, matches, times),
        }
        samples = interleaved(contenders, rounds)
        microseconds = 1e6 / rates(samples["clone"]).median
        spread = ratios(samples["clone"], samples["deepcopy"])
        what = f"{TARGET_EDITION}, {seats} seats, clone() against deepcopy"
        table.append(Row(what, "times", spread, CLONE_TARGET, note=f"{microseconds:.1f} us a clone"))
    return table


def measure(rounds: int, decisions: int, copies_a_position: int) -> list[Row]:
    return speed_rows(rounds, decisions) + clone_rows(rounds, copies_a_position)
