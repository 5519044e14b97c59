"""Means and intervals: against known values, against hand computation, and by their coverage."""

from fractions import Fraction
from math import sqrt
from random import Random

import pytest

from lastcard.referee.tournament.estimates import BlockSums, t_quantile
from lastcard.referee.tournament.rows import MatchRow
from lastcard.referee.tournament.standings import compute

# Quantiles of Student's t for 0.975 from published tables.
KNOWN = {
    1: 12.7062047364,
    2: 4.30265272991,
    3: 3.18244630528,
    4: 2.77644510520,
    5: 2.57058183661,
    10: 2.22813885196,
    30: 2.04227245630,
    100: 1.98397151845,
    200: 1.97189622363,
    1000: 1.96233908083,
    10**9: 1.95996398690,
}


@pytest.mark.parametrize("degrees", KNOWN)
def test_t_quantile_against_tables(degrees: int) -> None:
    assert t_quantile(0.975, degrees) == pytest.approx(KNOWN[degrees], abs=5e-9)


def test_the_two_ways_to_the_quantile_meet() -> None:
    assert t_quantile(0.975, 200) - t_quantile(0.975, 201) == pytest.approx(5.97e-5, abs=1e-7)


def test_a_ratio_against_hand_computation() -> None:
    # Ratio 6/8; residuals 3 - 0.75*3, 1 - 0.75*3, 2 - 0.75*2 = 0.75, -1.25, 0.5; squares sum to 2.375
    sums = BlockSums()
    for y, x in ((3, 3), (1, 3), (2, 2)):
        sums.add(y, x)
    estimate = sums.estimate()
    assert estimate is not None
    assert estimate.value == Fraction(3, 4)
    error = sqrt(2.375 * 3 / 2) / 8
    assert estimate.error == pytest.approx(error)
    assert estimate.low == pytest.approx(0.75 - 4.30265272991 * error)
    assert estimate.high == pytest.approx(0.75 + 4.30265272991 * error)


def test_blocks_of_one_size_give_the_plain_error_of_a_mean() -> None:
    sums = BlockSums()
    for y in (1, 2, 4, 4):
        sums.add(y, 4)
    estimate = sums.estimate()
    assert estimate is not None
    means = [0.25, 0.5, 1.0, 1.0]
    centre = sum(means) / 4
    assert estimate.error == pytest.approx(sqrt(sum((mean - centre) ** 2 for mean in means) / 3 / 4))


def test_nothing_and_one_block_have_no_interval() -> None:
    sums = BlockSums()
    assert sums.estimate() is None
    sums.add(0, 0)
    assert sums.estimate() is None
    sums.add(1, 4)
    assert sums.estimate() == (Fraction(1, 4), None, None, None)


SEATS = 3
STRENGTH = (0.45, 0.33, 0.22)
LUCK = (-0.15, 0.0, 0.15)
"""Added to the chances of the seats in some order, the same in all rotations of a deal; the mean is 0."""


def simulated(random: Random, blocks: int) -> list[MatchRow]:
    rows: list[MatchRow] = []
    for block in range(blocks):
        luck = random.sample(LUCK, SEATS)
        for rotation in range(SEATS):
            bots = [(seat + rotation) % SEATS for seat in range(SEATS)]
            chances = [STRENGTH[bot] + luck[seat] for seat, bot in enumerate(bots)]
            rounds = random.choice((1, 1, 2))
            won = random.choices(range(SEATS), chances, k=rounds)
            rows.append(row(block, rotation, [f"b{bot}" for bot in bots], won))
    return rows


def row(block: int, rotation: int, bots: list[str], won: list[int]) -> MatchRow:
    wins = tuple(won.count(seat) for seat in range(len(bots)))
    return MatchRow(
        block=block,
        rotation=rotation,
        match_id="m",
        seed="s",
        bots=tuple(bots),
        places=tuple(1 if count == max(wins) else 2 for count in wins),
        scores=tuple(100 * count for count in wins),
        wins=wins,
        rounds=len(won),
        reason="rounds",
        forfeited=(),
        faults=tuple({} for _ in bots),
        strikes=tuple(0 for _ in bots),
    )


def test_ninety_five_percent_intervals_cover_in_ninety_five_percent() -> None:
    """In 2000 seeded tournaments whose deals favour seats the truth is inside in 93 to 97 %."""
    random = Random(20)
    names = [f"b{bot}" for bot in range(SEATS)]
    covered = dict.fromkeys(names, 0)
    tournaments = 2000
    for _ in range(tournaments):
        rows = simulated(random, blocks=15)
        for line in compute(rows, names, seats=SEATS, blocks=15, outcome="win").lines:
            assert line.win is not None
            assert line.win.low is not None
            assert line.win.high is not None
            truth = STRENGTH[names.index(line.bot)]
            covered[line.bot] += line.win.low <= truth <= line.win.high
    assert all(0.93 <= count / tournaments <= 0.97 for count in covered.values()), covered
