"""Chance: every test value of `design.md` 4, and streams and piles against plain second ones."""

from hashlib import sha256
from random import Random

import pytest

from lastcard.engine import SEED, LastcardError, Match, Rules, Stream
from lastcard.engine.chance import Pile
from tests.engine import plain

SEED_OF_THE_TESTS = "0123456789abcdef0123456789abcdef"
BELOW = [
    (1, 0), (2, 1), (108, 30), (107, 27), (200, 168), (255, 168), (256, 220), (257, 126), (323, 218), (10_000, 3257),
    (65_536, 27643),
]  # fmt: skip
FIRST_29 = "G5 B8 W Y4 Y4 G7 Y6 R8 WD G6 WD R5 B4 B2 G2 G6 R4 RS B9 B4 Y7 BS R3 B3 YD Y3 G0 R9 YD".split()


def test_stream_begins_as_published() -> None:
    assert Stream(SEED_OF_THE_TESTS, "deal|1").take(16).hex() == "23ac624fb7d121506dd5637f5e1a8d29"


def test_below_gives_the_published_numbers_and_reads_17_bytes() -> None:
    stream = Stream(SEED_OF_THE_TESTS, "test")
    assert [(n, stream.below(n)) for n, _ in BELOW] == BELOW
    read = Stream(SEED_OF_THE_TESTS, "test")
    read.take(17)
    assert stream.take(20) == read.take(20)


def test_deal_gives_the_published_cards() -> None:
    deck = Rules.of("classic").deck
    pile = Pile(list(deck.bits), Stream(SEED_OF_THE_TESTS, "deal|1"))
    assert [deck.code[pile.draw()] for _ in FIRST_29] == FIRST_29


def test_draw_for_dealer_gives_the_published_cards() -> None:
    first = Match(Rules.of("classic"), 4, SEED_OF_THE_TESTS).deal()[0]
    assert first == {"type": "dealer_draw", "cards": [(0, "BS"), (1, "G7"), (2, "G0"), (3, "G9")], "dealer": 3}


def test_bot_seeds_and_commitment_are_as_published() -> None:
    read = [Stream(SEED_OF_THE_TESTS, f"bot|{seat}").take(4) for seat in range(4)]
    numbers = [int.from_bytes(four) & 0x7FFF_FFFF for four in read]
    assert numbers == [939281989, 222030290, 506581511, 1289414430]
    commitment = "aeee017bd643a991d7df8803081ba09dd1b258f511330e32d717779d8dc477ef"
    assert Stream(SEED_OF_THE_TESTS, "commit").take(32).hex() == commitment
    assert sha256(f"lastcard/1|{SEED_OF_THE_TESTS}|commit|0".encode()).hexdigest() == commitment


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([*range(1, 257)], id="one byte"),
        pytest.param([257, 258, 300, 511, 512, 513, 5000, 32_768, 32_769, 65_535, 65_536], id="two bytes"),
        pytest.param([256, 257, 1, 129, 65_536, 2, 40_000, 255], id="mixed"),
    ],
)
def test_below_is_what_a_second_stream_gives(sizes: list[int]) -> None:
    for seed in ("a", "Z-9._", "0" * 64):
        stream, second = Stream(seed, "x|1"), plain.stream(seed, "x|1")
        for n in sizes * 3:
            number = stream.below(n)
            assert number == plain.below(second, n)
            assert 0 <= number < n
        assert list(stream.take(40)) == [next(second) for _ in range(40)]


def test_below_one_reads_nothing() -> None:
    stream = Stream("a", "b")
    assert [stream.below(1) for _ in range(100)] == [0] * 100
    assert stream.take(8) == Stream("a", "b").take(8)


def test_clone_of_a_stream_goes_its_own_way() -> None:
    stream = Stream("a", "b")
    stream.take(30)
    twin = stream.clone()
    ahead = stream.take(50)
    assert twin.take(50) == ahead


@pytest.mark.parametrize("seed", ["", "a b", "a|b", "é", "a\n", "x" * 65, "a/b"])
def test_seeds_that_are_none_are_refused(seed: str) -> None:
    with pytest.raises(LastcardError, match=r"is not 1 to 64 characters of 0-9 A-Z a-z \. _ -$"):
        Match(Rules.of("classic"), 2, seed)
    assert not SEED.fullmatch(seed)


@pytest.mark.parametrize("seed", ["0", "abcXYZ019._-", "x" * 64])
def test_seeds_are_taken(seed: str) -> None:
    assert Match(Rules.of("classic"), 2, seed).seed == seed


@pytest.mark.parametrize("size", [1, 2, 5, 108, 256, 257, 300])
def test_pile_is_what_a_plain_pile_gives(size: int) -> None:
    """Draws, cards shuffled back and cards put back, by lot, down to the last card and beyond."""
    cards = [1 << place for place in range(size)]
    for number in range(40):
        lot = Random(f"pile {size} {number}")
        pile = Pile(cards.copy(), Stream(str(number), "deal|1"))
        second = plain.Pile(list(map(str, cards)), plain.stream(str(number), "deal|1"))
        put_back = 0
        while len(second):
            card = second.draw()
            assert str(pile.draw()) == card
            among_the_rest = len(second) + 1 > put_back  # what comes out after all others stays out
            if among_the_rest and lot.random() < 0.2:
                pile.shuffle_back()
                second.shuffle_back()
            elif among_the_rest and len(second) > put_back and lot.random() < 0.1:
                pile.put_back()
                second.put_back()
                put_back += 1
            assert len(pile) == len(second)
        assert (pile.draw(), second.draw()) == (0, None)


def test_order_of_a_pile_is_the_order_in_which_it_is_drawn() -> None:
    for size in (1, 7, 108, 300):
        pile = Pile([1 << place for place in range(size)], Stream("s", "deal|1"))
        drawn = [pile.draw() for _ in range(size // 3)]
        pile.put_back() if drawn else None
        order = pile.order()
        assert pile.order() == order
        assert [pile.draw() for _ in range(len(pile))] == order


def test_stacked_pile_gives_its_cards_in_order() -> None:
    pile = Pile([4, 1, 2, 8], None)
    assert pile.order() == [4, 1, 2, 8]
    assert pile.draw() == 4
    pile.shuffle_back()
    assert pile.order() == [1, 2, 8, 4]
    assert pile.draw() == 1
    pile.put_back()
    assert pile.order() == [2, 8, 4, 1]
    assert [pile.draw() for _ in range(5)] == [2, 8, 4, 1, 0]


def test_clone_of_a_pile_goes_its_own_way() -> None:
    for stream in (None, Stream("s", "deal|1")):
        pile = Pile([1 << place for place in range(60)], stream)
        pile.draw()
        pile.put_back()
        twin = pile.clone()
        drawn = [pile.draw() for _ in range(60)]
        assert [twin.draw() for _ in range(60)] == drawn


def test_every_card_is_as_likely_in_every_place() -> None:
    """Chi squared over 6 places of 6 cards in 3,000 shuffles: 25 degrees of freedom, 99.9 % below 52.6."""
    counts = [[0] * 6 for _ in range(6)]
    for number in range(3000):
        pile = Pile([1 << place for place in range(6)], Stream(str(number), "x"))
        for place in range(6):
            counts[place][pile.draw().bit_length() - 1] += 1
    assert sum((count - 500) ** 2 / 500 for row in counts for count in row) < 52.6
