"""When a client calls again: ever more seldom, until its patience is at an end. Knows no socket and no bot."""

import random
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from lastcard.referee.net.client_call import CallFailed
from lastcard.referee.net.client_link import Link

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 10.0
JITTER: Final = 0.25
"""A pause is longer or shorter by up to this part of it: the bots of a league must not all call at one moment."""

PATIENCE: Final = 300

Say = Callable[[str], None]


class GaveUp(Exception):
    """No referee can be reached. The text is one sentence; `hopeless` says that waiting would not have helped."""

    def __init__(self, sentence: str, *, hopeless: bool = False) -> None:
        super().__init__(sentence)
        self.hopeless = hopeless


class Calls:
    """Calls until somebody answers. Trouble begins with the first call or a loss, and ends with `stood`."""

    def __init__(
        self, where: object, call: Callable[[], Awaitable[Link]], say: Say, *, patience: float = PATIENCE
    ) -> None:
        self.where = where
        """Whom it calls, for messages."""
        self._call = call
        self._say = say
        self._patience = patience
        self._pause = 0.0
        self._give_up_at: float | None = None
        self._told: set[str] = set()
        self._failure = ""
        """What went wrong last in this trouble."""
        self._has_stood = False

    async def connected(self) -> Link:
        """The next connection. Raises GaveUp."""
        if self._give_up_at is None:
            self._give_up_at = trio.current_time() + self._patience
        while True:
            if self._failure and trio.current_time() >= self._give_up_at:
                raise GaveUp(f"no connection for {self._patience:g} s: {self._failure}")
            await self._rest(self._give_up_at)
            try:
                return await self._call()
            except CallFailed as failure:
                # One that was there before may be anything for a while: its certificate is just renewed, say.
                if failure.hopeless and not self._has_stood:
                    raise GaveUp(str(failure), hopeless=True) from failure
                self.failed(str(failure))

    def stood(self) -> None:
        """The connection is good: patience and pauses begin anew when it is lost."""
        self._has_stood = True
        self._pause = FIRST_PAUSE
        self._give_up_at = None
        self._failure = ""
        self._told.clear()

    def failed(self, words: str) -> None:
        """There is no connection, or none any more, because of this. Each reason is said once."""
        self._failure = words
        if words not in self._told:
            waits = "" if self._told else f"; calling again, for up to {self._patience:g} s"
            self._told.add(words)
            self._say(words + waits)

    async def _rest(self, until: float) -> None:
        pause, self._pause = self._pause, min(LONGEST_PAUSE, 2 * self._pause or FIRST_PAUSE)
        if pause:
            pause *= random.uniform(1 - JITTER, 1 + JITTER)
            await trio.sleep(min(pause, max(0.0, until - trio.current_time())))
