"""Who has to leave the crowd at the door, and whose place nobody else gets."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcard.referee.net.crowd import MOST, MOST_KNOWN, MOST_OF_ONE, RESERVED, Crowd, Visitor, household


class Street:
    """A crowd, and who was sent away from it, by number."""

    def __init__(self, *limits: int) -> None:
        self.crowd = Crowd(*limits)
        self.left: list[int] = []
        self.visitors: list[Visitor] = []

    def come(self, address: str, *, crowded: bool = False) -> Visitor:
        number = len(self.visitors)
        visitor = Visitor(address, lambda: self.left.append(number))
        self.visitors.append(visitor)
        self.crowd.come(visitor, crowded=crowded)
        return visitor

    def bot(self, address: str) -> None:
        self.crowd.logged_in(self.come(address))


def test_the_limits_are_those_of_the_table() -> None:
    """T-07."""
    assert (MOST, MOST_OF_ONE, RESERVED) == (192, 32, 64)


def test_the_oldest_of_an_address_leaves() -> None:
    street = Street(10, 2, 3)
    for address in "aabaa":
        street.come(address)
    assert street.left == [0, 1]
    assert len(street.crowd) == 3
    assert street.crowd.pushed_out == 2


def test_the_oldest_of_the_address_with_most_leaves() -> None:
    street = Street(4, 3, 0)
    for address in "abbcd":
        street.come(address)
    assert street.left == [1]


def test_known_addresses_have_places_of_their_own() -> None:
    street = Street(2, 9, 2)
    street.bot("k")
    for address in "abkk":
        street.come(address)
    assert street.left == []
    street.come("k")
    assert street.left == [1]  # the strangers' oldest
    street.come("c")
    assert street.left == [1, 2]


def test_among_bots_alone_the_oldest_leaves() -> None:
    street = Street(1, 9, 1)
    street.bot("k")
    for _ in range(4):
        street.come("k")
    assert street.left == [1, 2]


def test_a_crowded_door_keeps_the_newest() -> None:
    """T-09."""
    street = Street(10, 9, 0)
    street.come("a", crowded=True)
    assert street.left == [0]
    street.come("a")
    street.come("b", crowded=True)
    assert street.left == [0, 1]


def test_who_has_gone_is_not_sent_away() -> None:
    street = Street(1, 9, 0)
    street.crowd.go(street.come("a"))
    street.crowd.go(street.visitors[0])
    street.come("b")
    assert street.left == []


def test_so_many_addresses_are_remembered() -> None:
    street = Street(0, 9, 1)
    for number in range(MOST_KNOWN + 1):
        street.bot(str(number))
    street.left.clear()
    street.come("1")
    assert street.left == []
    street.come("0")  # forgotten: a stranger again
    assert len(street.left) == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:0:ffff::1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("::1", "::1", True),
    ],
)
def test_a_network_of_ipv6_counts_as_one_address(one: str, other: str, same: bool) -> None:
    """T-07."""
    assert (household(one) == household(other)) is same


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from(["come", "go", "bot", "crowded"]))))
def test_the_books_are_right(steps: list[tuple[str, str]]) -> None:
    street = Street(4, 2, 2)
    present: list[int] = []
    for address, step in steps:
        before = len(street.left)
        match step:
            case "go" if present:
                street.crowd.go(street.visitors[present.pop(0)])
            case "bot":
                street.bot(address)
            case _:
                street.come(address, crowded=step == "crowded")
                present.append(len(street.visitors) - 1)
        assert len(street.left) <= before + 1
        present = [number for number in present if number not in street.left]
        assert len(street.crowd) == len(present) <= 6
        of = Counter(street.visitors[number].address for number in present)
        assert max(of.values(), default=0) <= 2
        assert +street.crowd._of == of
