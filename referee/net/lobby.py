"""Who is here of the remote bots that a referee waits for, and which of them plays; it knows no socket and no match.

A bot is here while its last login is open. The newest login has the place: who logs in with a token that is in use
takes over, and the connection before it is told so and closed. Whoever has lost its line comes back at once that
way, long before the system would have noticed that the old line is dead.
"""

import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from math import inf

import trio

from lastcard.protocol import Bye, encode
from lastcard.referee.net.door import Login

REPLACED = "a newer connection has logged in with this token"

OVER = "the run is over"

SAID_AT_ONCE = 3
SAID_EVERY = 10.0
"""Seconds between two lines about one bot that comes in again and again, once it has done so a few times."""


class Place:
    """One remote bot's place: here or not, playing or free."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.login: Login | None = None
        self.logins = 0
        """How often it has come in."""
        self.said_at = -inf
        self._came = trio.Event()

    @property
    def here(self) -> bool:
        """Whether it has a connection that has not been seen to end."""
        return self.login is not None and not self.login.channel.ended

    def take(self, login: Login) -> None:
        """It has come in; what it had before is told so and closed."""
        before, self.login = self.login, login
        self.logins += 1
        if before is not None:
            # Not said by its conversation: a match may be in the middle of it, and finds out by the line's end.
            before.channel.drop(encode(Bye(REPLACED)))
        self._came.set()
        self._came = trio.Event()

    async def newer_than(self, login: Login | None, deadline: float) -> Login | None:
        """The first login after this one, waited for until the deadline, in the time of channels."""
        with trio.move_on_after(max(0.0, deadline - time.perf_counter())):
            while self.login is login or not self.here:
                await self._came.wait()
        return self.login if self.login is not login and self.here else None


class Lobby:
    """All places."""

    def __init__(self, names: Iterable[str], say: Callable[[str], None]) -> None:
        self.places = {name: Place(name) for name in names}
        self._say = say
        self._playing: set[str] = set()
        self._freed = trio.Event()
        self._arrived = trio.Event()
        self._over = False

    def let_in(self, login: Login) -> None:
        """A bot has logged in."""
        if self._over:
            login.channel.drop(encode(Bye(OVER)))
            return
        place = self.places[login.name]
        place.take(login)
        self._say_that_it_came(place, login)
        self._arrived.set()
        self._arrived = trio.Event()

    def _say_that_it_came(self, place: Place, login: Login) -> None:
        now = trio.current_time()
        if place.logins <= SAID_AT_ONCE or now >= place.said_at + SAID_EVERY:
            place.said_at = now
            again = " again" if place.logins > 1 else ""
            self._say(f"{login.name} has come in{again} from {login.address}")

    def missing(self) -> list[str]:
        """Who is not here."""
        return [name for name, place in self.places.items() if not place.here]

    async def gather(self, patience: float) -> list[str]:
        """Wait until all are here at one time, at most so many seconds; who is missing."""
        with trio.move_on_after(patience):
            while self.missing():
                await self._arrived.wait()
        return self.missing()

    @asynccontextmanager
    async def reserved(self, names: Collection[str]) -> AsyncGenerator[None]:
        """These bots for one table alone, taken all at once, so that no two tables wait for each other."""
        while not self._playing.isdisjoint(names):
            await self._freed.wait()
        self._playing |= set(names)
        try:
            yield
        finally:
            self._playing -= set(names)
            self._freed.set()
            self._freed = trio.Event()

    async def part(self, patience: float) -> None:
        """Say to all that the run is over, and to whoever logs in after this."""
        self._over = True
        async with trio.open_nursery() as nursery:
            for place in self.places.values():
                if place.login is not None:
                    if place.here:
                        place.login.channel.write_now(encode(Bye(OVER)))
                    nursery.start_soon(place.login.channel.part, patience)
