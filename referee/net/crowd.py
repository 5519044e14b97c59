"""Who stands at the door and has not said who it is: so many in all and from one address. Knows no socket.

A place is never refused to the newest: it is taken from whoever has stood longest, of the same address if that has
its fill, else of the address with most. So a thousand silent connections push out each other, and a bot that says
hello at once is through before its turn comes. Addresses from which a bot has logged in before have places of
their own, which strangers do not get. An IPv6 network of 64 bits, which is what one household has, counts as one
address.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address
from typing import Final

MOST: Final = 192
MOST_OF_ONE: Final = 32
RESERVED: Final = 64
"""Further places, for addresses that a bot has logged in from."""

MOST_KNOWN: Final = 1024

HOUSEHOLD: Final = 64
"""Bits of an IPv6 address that its owner chooses as he likes."""


class Visitor:
    """One connection that has not logged in. `leave` is what ends it."""

    __slots__ = ("address", "leave")

    def __init__(self, address: str, leave: Callable[[], None]) -> None:
        self.address = address
        self.leave = leave


class Crowd:
    """All visitors, in the order of their coming."""

    def __init__(self, most: int = MOST, most_of_one: int = MOST_OF_ONE, reserved: int = RESERVED) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._reserved = reserved
        self._visitors: OrderedDict[Visitor, None] = OrderedDict()
        self._of: Counter[str] = Counter()
        self._known: OrderedDict[str, None] = OrderedDict()
        self.pushed_out = 0

    def __len__(self) -> int:
        return len(self._visitors)

    def come(self, visitor: Visitor, *, crowded: bool = False) -> None:
        """Another one stands at the door; somebody may have to leave for it, and has to if it is `crowded`."""
        self._visitors[visitor] = None
        self._of[visitor.address] += 1
        most = self._most + (self._reserved if visitor.address in self._known else 0)
        if self._of[visitor.address] > self._most_of_one:
            self._push_out(visitor.address)
        elif crowded or len(self) > most:
            strangers = {address: count for address, count in self._of.items() if address not in self._known}
            self._push_out(max(strangers or self._of, key=self._of.__getitem__))

    def go(self, visitor: Visitor) -> None:
        """It has logged in, or left; a second call does nothing."""
        if visitor in self._visitors:
            del self._visitors[visitor]
            self._of[visitor.address] -= 1
            if not self._of[visitor.address]:
                del self._of[visitor.address]

    def logged_in(self, visitor: Visitor) -> None:
        """It was a bot: its address is known from now on."""
        self.go(visitor)
        self._known[visitor.address] = None
        self._known.move_to_end(visitor.address)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def _push_out(self, address: str) -> None:
        oldest = next(visitor for visitor in self._visitors if visitor.address == address)
        self.go(oldest)
        self.pushed_out += 1
        oldest.leave()


def household(host: str) -> str:
    """What counts as one address."""
    if ":" not in host:
        return host
    return str(IPv6Address(int(IPv6Address(host.partition("%")[0])) >> HOUSEHOLD << HOUSEHOLD))
