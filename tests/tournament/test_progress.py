"""Progress: a bar on a terminal, lines elsewhere, never both, and not too many of either."""

import io

import pytest

from lastcard.referee.tournament.progress import BarProgress, PlainProgress, choose_progress, duration


class Terminal(io.StringIO):
    """A text stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_lines_come_every_few_seconds_and_at_the_end() -> None:
    stream, clock = io.StringIO(), Hands()
    progress = PlainProgress(stream, clock)
    progress.begin(200, 20)
    for _ in range(100):
        clock.now += 0.125
        progress.advance(0)
    clock.now += 60
    progress.tick()
    clock.now += 60
    progress.tick()
    progress.advance(2)
    progress.end()
    progress.end()
    assert stream.getvalue().splitlines() == [
        "200 matches, 20 of them played before",
        "60 of 200 matches (30 %), 8.0/s, about 18 s left",
        "100 of 200 matches (50 %), 8.0/s, about 12 s left",
        "120 of 200 matches (60 %), 1.4/s, about 58 s left",
        "121 of 200 matches (60 %), 0.8/s, about 1 min 44 s left, 2 faults",
    ]


def test_a_reader_who_has_gone_away_does_not_end_the_run() -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    PlainProgress(Closed()).begin(5, 0)


def test_a_bar_is_drawn_a_few_times_a_second_and_vanishes() -> None:
    stream, clock = Terminal(), Hands()
    progress = BarProgress(stream, clock)
    progress.begin(100, 0)
    drawn = stream.getvalue()
    for _ in range(50):
        progress.advance(1)
    assert stream.getvalue() == drawn
    clock.now += 1
    progress.tick()
    assert "50/100" in stream.getvalue()
    assert "50 faults" in stream.getvalue()
    progress.say("[bold]a bot[/bold] is suspended")
    assert "[bold]a bot[/bold] is suspended\n" in stream.getvalue()
    progress.end()
    assert stream.getvalue().endswith("\x1b[2K")


def test_the_stream_chooses() -> None:
    assert isinstance(choose_progress(Terminal(), plain=False, dumb=False), BarProgress)
    assert isinstance(choose_progress(Terminal(), plain=True, dumb=False), PlainProgress)
    assert isinstance(choose_progress(Terminal(), plain=False, dumb=True), PlainProgress)
    assert isinstance(choose_progress(io.StringIO(), plain=False, dumb=False), PlainProgress)


def test_lines_and_bars_exclude_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    progress = choose_progress(stream, plain=False, dumb=False)
    progress.begin(3, 0)
    progress.advance(0)
    progress.end()
    assert "\x1b" not in stream.getvalue()


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.4, 59.4, 61, 3600 * 5 + 120)] == [
        "0 s",
        "59 s",
        "1 min 1 s",
        "5 h 2 min",
    ]
