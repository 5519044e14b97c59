"""The plan: exact balance of seats and neighbours, near balance of line-ups, and no state."""

import time
from collections import Counter
from hashlib import sha256
from itertools import combinations

import pytest

from lastcard.referee.tournament.lineups import line_ups
from lastcard.referee.tournament.orders import circular_orders
from lastcard.referee.tournament.plan import Plan


def neighbours(order: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(order[place - 1], order[place]) for place in range(len(order))]


@pytest.mark.parametrize("seats", range(2, 11))
def test_orders_are_balanced_in_directed_neighbours(seats: int) -> None:
    orders = circular_orders(seats)
    assert all(sorted(order) == list(range(seats)) for order in orders)
    together = Counter(pair for order in orders for pair in neighbours(order))
    twice = seats in (4, 6)
    assert len(together) == seats * (seats - 1)
    assert set(together.values()) == {2 if twice else 1}
    assert len(orders) == (seats - 1) * (2 if twice else 1)


def test_four_seats_go_through_all_six_circular_orders() -> None:
    assert len({order for order in circular_orders(4) if order[0] == 0}) == 6


@pytest.mark.parametrize(("bots", "seats", "blocks"), [(2, 2, 5), (4, 4, 6), (5, 3, 40), (12, 4, 30), (40, 10, 8)])
def test_every_block_has_every_bot_in_every_seat_once(bots: int, seats: int, blocks: int) -> None:
    plan = Plan(bots=bots, seats=seats, blocks=blocks, seed="s")
    for block in range(blocks):
        tables = [plan.match(block, rotation).bots for rotation in range(seats)]
        assert all(sorted(table) == list(plan.line_up(block)) for table in tables)
        assert all(sorted(column) == list(plan.line_up(block)) for column in zip(*tables, strict=True))
        assert len({tuple(sorted(neighbours(table))) for table in tables}) == 1


@pytest.mark.parametrize(("bots", "seats", "blocks"), [(4, 4, 12), (3, 3, 4), (6, 4, 15 * 6), (7, 7, 6), (5, 4, 30)])
def test_a_whole_cycle_of_blocks_balances_directed_neighbours_of_bots(bots: int, seats: int, blocks: int) -> None:
    plan = Plan(bots=bots, seats=seats, blocks=blocks, seed="s")
    together = Counter(pair for block in range(blocks) for pair in neighbours(plan.match(block, 0).bots))
    assert len(together) == bots * (bots - 1)
    assert len(set(together.values())) == 1


@pytest.mark.parametrize(("bots", "seats"), [(5, 3), (6, 4), (8, 2), (10, 8)])
def test_few_subsets_are_all_played_in_turn(bots: int, seats: int) -> None:
    cycle = line_ups(bots, seats, 1000, "s")
    assert sorted(cycle) == list(combinations(range(bots), seats))


@pytest.mark.parametrize(
    ("bots", "seats", "blocks"),
    [(20, 4, 200), (20, 4, 10_000), (9, 4, 20), (30, 6, 500), (100, 10, 300), (13, 5, 99)],
)
def test_many_subsets_are_chosen_in_balance_wherever_the_plan_is_cut_off(bots: int, seats: int, blocks: int) -> None:
    cycle = line_ups(bots, seats, blocks, "s")
    assert all(len(set(line_up)) == seats for line_up in cycle)
    issued = Counter(dict.fromkeys(range(bots), 0))
    for line_up in cycle:
        issued.update(line_up)
        assert max(issued.values()) - min(issued.values()) <= 1
    assert len(set(issued.values())) == 1
    pairs = Counter(pair for line_up in cycle for pair in combinations(line_up, 2))
    mean = len(cycle) * seats * (seats - 1) / (bots * (bots - 1))
    assert max(pairs.values()) <= mean + 3


def test_the_choice_is_a_matter_of_the_seed_alone() -> None:
    line_ups.cache_clear()
    first = line_ups(20, 4, 200, "s")
    line_ups.cache_clear()
    assert line_ups(20, 4, 200, "s") == first
    assert line_ups(20, 4, 200, "t") != first


def test_the_seed_of_a_block_is_the_stream_that_the_design_names() -> None:
    plan = Plan(bots=2, seats=2, blocks=5, seed="any-text")
    assert plan.match(3, 1).seed == sha256(b"lastcard/1|any-text|block|3|0").digest()[:16].hex()
    assert plan.match(3, 0).seed == plan.match(3, 1).seed


def test_a_block_with_a_remote_bot_has_a_seed_for_each_rotation() -> None:
    """Nobody can start that bot anew. Blocks without one have the seeds that they would have had."""
    plan = Plan(bots=3, seats=2, blocks=6, seed="any-text", remote=[2])
    plain = Plan(bots=3, seats=2, blocks=6, seed="any-text")
    for block in range(6):
        seeds = [plan.match(block, rotation).seed for rotation in range(2)]
        if 2 in plan.line_up(block):
            labels = [f"lastcard/1|any-text|block|{block}|{rotation}|0" for rotation in range(2)]
            assert seeds == [sha256(label.encode()).digest()[:16].hex() for label in labels]
        else:
            assert seeds == [plain.match(block, 0).seed] * 2
        assert [plan.match(block, 1).bots, plan.match(block, 1).match_id] == [
            plain.match(block, 1).bots, plain.match(block, 1).match_id
        ]  # fmt: skip
    assert {2 in plan.line_up(block) for block in range(6)} == {True, False}


def test_no_deal_comes_twice_to_a_remote_bot() -> None:
    plan = Plan(bots=4, seats=3, blocks=300, seed="s", remote=[0, 3])
    matches = [plan.match(block, rotation) for block in range(300) for rotation in range(3)]
    for bot in (0, 3):
        seeds = [match.seed for match in matches if bot in match.bots]
        assert len(set(seeds)) == len(seeds)


def test_deals_and_ids_do_not_repeat() -> None:
    plan = Plan(bots=3, seats=3, blocks=1000, seed="s")
    matches = [match for stretch in plan.stretches() for match in stretch.matches]
    assert len({match.seed for match in matches}) == 1000
    assert len({match.match_id for match in matches}) == 3000


def test_a_block_is_a_pure_function_of_the_configuration() -> None:
    one, other = (Plan(bots=20, seats=4, blocks=1000, seed="s") for _ in range(2))
    late = one.match(900, 2)
    assert [other.match(block, 2) for block in range(901)][-1] == late


def test_block_a_million_is_as_quick_as_block_zero() -> None:
    plan = Plan(bots=6, seats=4, blocks=10**9, seed="s")

    def cost(block: int) -> float:
        begun = time.process_time()
        for _ in range(200):
            plan.match(block, 3)
        return time.process_time() - begun

    near, far = (min(cost(block) for _ in range(5)) for block in (0, 10**6))
    assert far < 3 * near


@pytest.mark.parametrize(("bots", "seats", "blocks"), [(2, 2, 3), (4, 4, 100), (5, 3, 333), (20, 4, 70), (2, 2, 1)])
def test_stretches_cover_everything_once_and_show_no_deal_twice(bots: int, seats: int, blocks: int) -> None:
    plan = Plan(bots=bots, seats=seats, blocks=blocks, seed="s")
    keys: list[tuple[int, int]] = []
    for stretch in plan.stretches():
        assert 1 <= len(stretch.matches) <= 16
        assert len({match.rotation for match in stretch.matches}) == 1
        assert len({match.seed for match in stretch.matches}) == len(stretch.matches)
        assert all(sorted(match.bots) == list(stretch.line_up) for match in stretch.matches)
        keys += [(match.block, match.rotation) for match in stretch.matches]
    assert sorted(keys) == [(block, rotation) for block in range(blocks) for rotation in range(seats)]


def test_a_long_plan_has_stretches_of_sixteen_and_hands_them_out_at_once() -> None:
    plan = Plan(bots=4, seats=4, blocks=10**9, seed="s")
    first = next(plan.stretches())
    assert [match.block for match in first.matches] == list(range(16))
