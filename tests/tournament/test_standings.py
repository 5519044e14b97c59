"""The standings against values computed by hand, whatever the order of the rows and however few they are."""

from fractions import Fraction
from random import Random

import pytest

from lastcard.referee.tournament.config import Outcome
from lastcard.referee.tournament.plan import PlannedMatch
from lastcard.referee.tournament.rows import MatchRow, unplayed_row
from lastcard.referee.tournament.standings import compute
from lastcard.referee.tournament.tables import table


def match(
    block: int,
    rotation: int,
    bots: str,
    scores: tuple[int, ...],
    wins: tuple[int, ...],
    *,
    forfeited: tuple[int, ...] = (),
    places: tuple[int, ...] | None = None,
    faults: tuple[dict[str, int], ...] | None = None,
) -> MatchRow:
    """A row of bots named by single letters."""
    return MatchRow(
        block=block,
        rotation=rotation,
        match_id="m",
        seed="s",
        bots=tuple(bots),
        places=places or tuple(1 + sum(other > score for other in scores) for score in scores),
        scores=scores,
        wins=wins,
        rounds=sum(wins),
        reason="rounds",
        forfeited=forfeited,
        faults=faults or tuple({} for _ in bots),
        strikes=tuple(0 for _ in bots),
    )


# Two blocks of two seats, a third of which only half is there.
ROWS = [
    match(0, 0, "ab", (30, 10), (2, 1)),
    match(0, 1, "ba", (5, 20), (0, 1), faults=({"timeout": 2}, {})),
    match(1, 0, "ab", (0, 40), (0, 1), forfeited=(0,), places=(2, 1), faults=({"crash": 1}, {})),
    match(1, 1, "ba", (10, 10), (1, 1)),
    match(2, 0, "ab", (500, 0), (1, 0), faults=({}, {"illegal": 9})),
]


def test_hand_computed() -> None:
    standings = compute(ROWS, ["a", "b"], seats=2, blocks=3, outcome="win")
    first, second = standings.lines
    assert (first.bot, first.rank, first.matches, first.rounds, first.forfeits) == ("a", 1, 4, 7, 1)
    assert (second.bot, second.rank, second.matches, second.rounds, second.forfeits) == ("b", 2, 4, 7, 0)
    assert first.win is not None
    assert first.win.value == Fraction(4, 7)
    # Margins of a: 10, 7.5, -20, 0 over 7 rounds
    assert first.score is not None
    assert first.score.value == Fraction(-5, 14)
    assert second.score is not None
    assert second.score.value == Fraction(5, 14)
    # Points of a: 1, 1, 0, 1/2
    assert first.match is not None
    assert first.match.value == Fraction(5, 8)
    # Residuals of a's wins by block: 3 - 4 * 4/7 = 5/7 and 1 - 3 * 4/7 = -5/7; times 2/1 over 7 squared
    assert first.win.error == pytest.approx((2 * 25 / 49 * 2) ** 0.5 / 7)
    assert (first.faults, second.faults) == ({"crash": 1}, {"timeout": 2})
    assert (standings.blocks, standings.left_out_blocks, standings.left_out_matches) == (2, 1, 1)


TABLE = """\
rank  bot  matches  rounds         win rate %       score a round          match points  forfeits  faults
   1  a          4       7  57.1 [0.0, 100.0]  -0.4 [-69.1, 68.4]  0.625 [0.000, 1.000]         1  crash 1
   2  b          4       7  42.9 [0.0, 100.0]   0.4 [-68.4, 69.1]  0.375 [0.000, 1.000]         0  timeout 2

Ranked by win rate, from 2 of 3 blocks (provisional).
Left out: 1 match of 1 incomplete block.
In brackets: 95 % intervals, clustered by block; with fewer than 30 blocks they are rough."""


def test_the_table_as_people_see_it() -> None:
    assert table(compute(ROWS, ["a", "b"], seats=2, blocks=3, outcome="win")) == TABLE


@pytest.mark.parametrize(("outcome", "order"), [("win", "ab"), ("score", "ba"), ("match", "ab")])
def test_the_outcome_of_the_file_ranks(outcome: Outcome, order: str) -> None:
    standings = compute(ROWS, ["a", "b"], seats=2, blocks=3, outcome=outcome)
    assert "".join(line.bot for line in standings.lines) == order


def test_the_order_of_rows_changes_no_byte() -> None:
    random = Random(3)
    rows = [
        match(block, rotation, "abc"[rotation:] + "abc"[:rotation], scores, wins)
        for block in range(50)
        for rotation in range(3)
        for scores, wins in [((random.randrange(99), 7, 3), (random.randrange(3), random.randrange(3), 1))]
    ]
    names = ["a", "b", "c"]
    texts: set[str] = set()
    for _ in range(20):
        random.shuffle(rows)
        random.shuffle(names)
        texts.add(table(compute(rows, names, seats=3, blocks=50, outcome="score")))
    assert len(texts) == 1


def test_equals_share_a_rank_and_the_next_is_counted_on() -> None:
    rows = [match(0, seat, bots, (1, 1, 0), (1, 1, 0)) for seat, bots in enumerate(("abc", "bac", "abc"))]
    standings = compute(rows, ["c", "b", "a"], seats=3, blocks=1, outcome="win")
    assert [(line.rank, line.bot) for line in standings.lines] == [(1, "a"), (1, "b"), (3, "c")]


def test_nothing_played_shows_that_there_is_nothing() -> None:
    text = table(compute([], ["a", "b"], seats=2, blocks=5, outcome="win"))
    assert text.splitlines()[1].split() == ["1", "a", "0", "0", "n/a", "n/a", "n/a", "0", "-"]
    assert "from 0 of 5 blocks (provisional)" in text


def test_one_block_has_means_and_no_intervals() -> None:
    text = table(compute(ROWS[:2], ["a", "b"], seats=2, blocks=1, outcome="win"))
    assert "75.0 [n/a]" in text
    assert "provisional" not in text


def test_a_bot_with_nothing_to_measure_comes_last() -> None:
    planned = [PlannedMatch(0, rotation, "m", "s", (0, 1)) for rotation in range(2)]
    rows = [unplayed_row(match, ("a", "b"), frozenset("a")) for match in planned]
    standings = compute([*rows, *ROWS[2:4]], ["a", "b", "z"], seats=2, blocks=2, outcome="win")
    assert [line.bot for line in standings.lines] == ["b", "a", "z"]
    first, second, last = standings.lines
    assert last.win is None
    assert (first.match is not None, second.forfeits) == (True, 3)
    # b has 1 of both unplayed matches, of a's forfeit, and half of the tie
    assert first.match is not None
    assert first.match.value == Fraction(7, 8)


def test_all_forfeited_gives_nothing_to_anyone() -> None:
    rows = [match(0, seat, "ab", (0, 0), (0, 0), forfeited=(0, 1), places=(1, 1)) for seat in range(2)]
    first, second = compute(rows, ["a", "b"], seats=2, blocks=1, outcome="match").lines
    assert (first.match, second.match) == ((Fraction(0), None, None, None),) * 2


def test_bots_that_are_equal_have_no_error_at_all() -> None:
    """A against itself: every block gives each copy exactly its share."""
    rows = [match(block, seat, ("ab", "ba")[seat], (9, 0), (1, 0)) for block in range(40) for seat in range(2)]
    for line in compute(rows, ["a", "b"], seats=2, blocks=40, outcome="win").lines:
        assert line.win is not None
        assert (line.win.value, line.win.error, line.rank) == (Fraction(1, 2), 0.0, 1)


@pytest.mark.parametrize(("wins", "shown"), [((0, 1), "0.0 [n/a]"), ((1, 0), "100.0 [n/a]")])
def test_blocks_that_are_all_alike_have_no_interval_of_no_width(wins: tuple[int, int], shown: str) -> None:
    """0 of 24 is not known to be nothing, nor 24 of 24 to be all."""
    scores = (10 * wins[0], 10 * wins[1])
    rows = [
        match(block, seat, bots, *((scores, wins) if seat == 0 else (scores[::-1], wins[::-1])))
        for block in range(12)
        for seat, bots in enumerate(("ab", "ba"))
    ]
    text = table(compute(rows, ["a", "b"], seats=2, blocks=12, outcome="win"))
    line = next(line for line in text.splitlines() if line.split()[1:2] == ["a"])
    assert shown in line
    assert line.count("[") == line.count("[n/a]") == 3
    assert text.endswith("[n/a]: fewer than two blocks, or blocks that are all alike, show no spread.")
