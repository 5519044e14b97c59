"""Lines out of bytes, however they were cut; a line that is too long costs one report and no memory."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastcard.protocol import LineBuffer, Overflow

SHORT, HUGE = 8, 32


def taken(buffer: LineBuffer) -> list[bytes | Overflow]:
    """All that the buffer gives now."""
    lines: list[bytes | Overflow] = []
    while (line := buffer.next_line()) is not None:
        lines.append(line)
    return lines


def over(head: bytes) -> Overflow:
    return Overflow(huge=False, head=head)


CASES: list[tuple[str, bytes, list[bytes | Overflow], tuple[bytes, int]]] = [
    ("nothing", b"", [], (b"", 0)),
    ("one line", b"abc\n", [b"abc"], (b"", 0)),
    ("blank line", b"\n", [b""], (b"", 0)),
    ("several lines and a rest", b"a\nb\n\nc", [b"a", b"b", b""], (b"c", 1)),
    ("CR before LF is dropped, once", b"a\r\nb\r\r\n", [b"a", b"b\r"], (b"", 0)),
    ("CR alone ends nothing", b"a\rb\rc", [], (b"a\rb\rc", 5)),
    ("other line ends", b"a\xe2\x80\xa8b\n\x0b\x1e\n", [b"a\xe2\x80\xa8b", b"\x0b\x1e"], (b"", 0)),
    ("exactly the limit", b"12345678\nx\n", [b"12345678", b"x"], (b"", 0)),
    ("one over the limit", b"123456789\nx\n", [over(b"123456789"), b"x"], (b"", 0)),
    ("one over, no LF yet", b"123456789", [over(b"123456789")], (b"123456789", 9)),
    ("a CR counts", b"12345678\r\nx\n", [over(b"12345678\r"), b"x"], (b"", 0)),
    ("long line, once", b"y" * 30 + b"\nx\n", [over(b"y" * 9), b"x"], (b"", 0)),
    ("exactly huge", b"y" * 32 + b"\nx\n", [over(b"y" * 9), b"x"], (b"", 0)),
    ("over huge", b"y" * 33 + b"\nx\n", [over(b"y" * 9), Overflow(True, b"y" * 9), b"x"], (b"", 0)),
    ("over huge, no LF yet", b"y" * 40, [over(b"y" * 9), Overflow(True, b"y" * 9)], (b"y" * 9, 40)),
    ("two long lines", b"y" * 9 + b"\n" + b"z" * 9 + b"\n", [over(b"y" * 9), over(b"z" * 9)], (b"", 0)),
]  # fmt: skip


@pytest.mark.parametrize(("data", "lines", "rest"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_lines_of(data: bytes, lines: list[bytes | Overflow], rest: tuple[bytes, int]) -> None:
    buffer = LineBuffer(SHORT, HUGE)
    buffer.feed(data)
    assert taken(buffer) == lines
    assert buffer.rest() == rest


@given(st.lists(st.sampled_from([b"\n", b"\r", b"a", b"bcdefgh", b"y" * 20]), max_size=20), st.data())
def test_cutting_the_bytes_anywhere_gives_the_same_lines(pieces: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(pieces)
    buffer = LineBuffer(SHORT, HUGE)
    buffer.feed(whole)
    expected = taken(buffer)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    buffer, found = LineBuffer(SHORT, HUGE), []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        buffer.feed(whole[start:end])
        if data.draw(st.booleans()):
            found += taken(buffer)
    found += taken(buffer)
    assert found == expected


def test_lines_that_lay_here_are_told_from_later_ones() -> None:
    buffer = LineBuffer(SHORT, HUGE)
    buffer.feed(b"a\nb\nc")
    assert buffer.next_line() == b"a"
    buffer.mark()
    buffer.feed(b"d\ne\n")
    early = []
    while (line := buffer.next_line()) is not None:
        early.append((line, buffer.early))
    assert early == [(b"b", True), (b"cd", False), (b"e", False)]
    buffer.feed(b"f\n")
    assert (buffer.next_line(), buffer.early) == (b"f", False)


def test_an_endless_line_takes_no_memory() -> None:
    buffer, chunk, found = LineBuffer(), b"y" * 65_536, []
    tracemalloc.start()
    try:
        for _ in range(400):
            buffer.feed(chunk)
            found += taken(buffer)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [line.huge for line in found if isinstance(line, Overflow)] == [False, True]
    assert peak < 4 * len(chunk)
    buffer.feed(b"y\nplay on\n")
    assert taken(buffer) == [b"play on"]
    assert buffer.rest() == (b"", 0)


def test_a_dribbled_line_is_searched_once() -> None:
    """Byte by byte, 64 KiB must not become 64 KiB squared: it takes hundredths of a second, not a minute."""
    buffer = LineBuffer()
    for _ in range(65_536):
        buffer.feed(b"y")
        assert buffer.next_line() is None
    buffer.feed(b"\n")
    assert buffer.next_line() == b"y" * 65_536
