"""Circular orders of the seats, balanced in who sits directly before whom (statistics.md 3.6). Knows no bot.

A set of N - 1 orders in which every ordered pair is adjacent exactly once exists for every N but 4 and 6. For
a prime N multiplication gives one; those of 8, 9 and 10 were found by search. For 4 all orders are taken and
for 6 ten of them, so that every ordered pair is adjacent twice.
"""

from functools import cache

Order = tuple[int, ...]

PRIMES = frozenset({2, 3, 5, 7})

FOUND = {
    4: "0123 0132 0213 0231 0312 0321",
    6: "013425 014532 041235 032154 023154 025341 045213 035142 052431 051243",
    8: "05637214 04253671 01526473 02743165 06132457 03541762 07512346",
    9: "801726354 812037465 823140576 834251607 845362710 856473021 867504132 870615243",
    10: "0872593146 0321589647 0713654829 0495673812 0162453798 0578619234 0276394185 0697428351 0917526843",
}


@cache
def circular_orders(seats: int) -> tuple[Order, ...]:
    """The orders that blocks of this many seats go through in turn."""
    if seats in PRIMES:
        return tuple(tuple(step * place % seats for place in range(seats)) for step in range(1, seats))
    return tuple(tuple(int(digit) for digit in word) for word in FOUND[seats].split())


def rotated(order: Order, rotation: int) -> Order:
    """Everybody `rotation` seats further back: over all rotations everyone has every seat once."""
    return order[rotation:] + order[:rotation]
