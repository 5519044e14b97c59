"""How a run shows that it goes on: a bar on a terminal, else lines, never both. Knows numbers, no match."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lastcard.referee.escape import escaped

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_FRAMES = 0.2

Clock = Callable[[], float]


class Reporter(Protocol):
    """What the runner tells while it runs."""

    def begin(self, total: int, done: int) -> None:
        """So many matches are planned and so many were played before."""

    def advance(self, faults: int) -> None:
        """One more match is in the ledger, with so many faults."""

    def say(self, text: str) -> None:
        """Something that a person should know."""

    def tick(self) -> None:
        """Time has passed."""

    def end(self) -> None:
        """Nothing more will be played."""


class PlainProgress:
    """A line every few seconds, if something has happened since, and one at the end."""

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._total = self._before = self._faults = 0
        self._done: int = 0
        self._shown: int = 0
        self._begun = self._last = 0.0

    def begin(self, total: int, done: int) -> None:
        """Show what there is to do."""
        self._total, self._done, self._before, self._shown = total, done, done, done
        self._begun = self._last = self._clock()
        self.say(f"{total} matches" + (f", {done} of them played before" if done else ""))

    def advance(self, faults: int) -> None:
        """Count a match, and show a line if it is time."""
        self._done += 1
        self._faults += faults
        self.tick()

    def say(self, text: str) -> None:
        """Write a line. A reader who has gone away does not end the run."""
        with suppress(BrokenPipeError):
            print(escaped(text), file=self._stream, flush=True)

    def tick(self) -> None:
        """Show a line if the last one is old enough and no longer true."""
        if self._clock() - self._last >= SECONDS_BETWEEN_LINES:
            self._show()

    def end(self) -> None:
        """Show the last line if it is not there yet."""
        self._show()

    def _show(self) -> None:
        if self._done == self._shown:
            return
        self._shown, self._last = self._done, self._clock()
        rate = (self._done - self._before) / max(self._last - self._begun, 1e-3)
        left = (self._total - self._done) / rate
        faults = f", {self._faults} faults" if self._faults else ""
        rest = f", about {duration(left)} left" if left else ""
        share = 100 * self._done // self._total
        self.say(f"{self._done} of {self._total} matches ({share} %), {rate:.1f}/s{rest}{faults}")


class BarProgress:
    """A bar that is drawn anew a few times a second and vanishes at the end."""

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._last = 0.0
        self._faults = 0
        self._console = Console(file=stream, force_terminal=True, highlight=False, markup=False, emoji=False)
        columns = (
            TextColumn("matches"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[faults]} faults"),
        )
        # No thread of its own: frames are drawn in advance and tick
        self._bar = Progress(*columns, console=self._console, auto_refresh=False, transient=True, expand=True)
        self._task = self._bar.add_task("matches", total=None, faults=0)

    def begin(self, total: int, done: int) -> None:
        """Draw the bar."""
        self._bar.update(self._task, total=total, completed=done)
        self._bar.start()
        self._draw()

    def advance(self, faults: int) -> None:
        """Move the bar, and draw it if it is time."""
        self._faults += faults
        self._bar.update(self._task, advance=1, faults=self._faults)
        self.tick()

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self._console.print(escaped(text), soft_wrap=True)

    def tick(self) -> None:
        """Draw the bar if the last frame is old enough."""
        if self._clock() - self._last >= SECONDS_BETWEEN_FRAMES:
            self._draw()

    def end(self) -> None:
        """Take the bar away."""
        self._bar.stop()

    def _draw(self) -> None:
        self._last = self._clock()
        self._bar.refresh()


def duration(seconds: float) -> str:
    """A span of time in the two units that matter."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def choose_progress(stream: TextIO, *, plain: bool, dumb: bool) -> Reporter:
    """A bar if the stream is a terminal that can draw one and nobody asked for lines."""
    if plain or dumb or not stream.isatty():
        return PlainProgress(stream)
    return BarProgress(stream)
