"""A token is blotted out of all that its owner says, however it is spelled and cut; nothing else is touched."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcard.referee.net.blot import BLOT, Blotter

TOKEN = "aAbB-_0123456789aaabbb"
PLAIN = TOKEN.encode()
BLOTTED = BLOT.encode()


def spelled(mask: int, *, upper: bool = False) -> bytes:
    """The token in JSON, with those characters escaped whose bit is set."""
    number = "\\u%04X" if upper else "\\u%04x"
    return "".join(number % ord(letter) if mask >> at & 1 else letter for at, letter in enumerate(TOKEN)).encode()


def cleaned(data: bytes, cuts: list[int]) -> bytes:
    """What is left of it, read in pieces."""
    blotter = Blotter(TOKEN)
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return b"".join(blotter.clean(data[start:end]) for start, end in pairwise(edges))


@given(mask=st.integers(0, 2**22 - 1), upper=st.booleans(), cuts=st.lists(st.integers(0, 200), max_size=8))
def test_however_it_is_spelled_and_cut(mask: int, upper: bool, cuts: list[int]) -> None:
    said = b'{"note":"a' + spelled(mask, upper=upper) + b'a"}\n'
    assert json.loads(said)["note"] == f"a{TOKEN}a"
    assert cleaned(said, cuts) == b'{"note":"a' + BLOTTED + b'a"}\n'


@given(
    words=st.lists(st.sampled_from([PLAIN, PLAIN[:9], PLAIN[9:], b"a", b"\\u0061", b"\\u00", b"\\", b"\n", b"x"])),
    cuts=st.lists(st.integers(0, 400), max_size=9),
)
def test_nothing_else_is_touched(words: list[bytes], cuts: list[int]) -> None:
    """What is said in pieces is what is said at once, and that holds no token."""
    said = b"".join(words) + b"\n"
    once = Blotter(TOKEN).clean(said)
    assert cleaned(said, cuts) == once
    assert PLAIN not in once
    if PLAIN not in said and b"\\u0061" not in said:
        assert once == said


@pytest.mark.parametrize("part", [b'{"type":"act","id":1', b"aAbB-_x", b"aa", b"\\u0061\\u0042"])
def test_what_cannot_become_the_token_is_not_held_back(part: bytes) -> None:
    """An author who forgets the LF has to see what he sent."""
    blotter = Blotter(TOKEN)
    kept = blotter.clean(part)
    assert part.startswith(kept)
    assert len(part) - len(kept) <= 1


def test_a_decoded_text() -> None:
    assert Blotter(TOKEN).text(f"x {TOKEN}{TOKEN}") == f"x {BLOT}{BLOT}"
