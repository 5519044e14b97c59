"""Keeps head and tail of what a bot writes to standard error in each match; it never reads a meaning into it.

A bot may write gigabytes there. The drain takes one pipeful at a time, rests after each full one so that
a flood costs the loop little (the flood waits in the bot), and holds a bounded part in memory.
"""

import os
from contextlib import suppress

import trio

from lastcard.referee.channel import MAX_READ

HEAD = 4096
TAIL = 65536

BEFORE = 4096
"""Bytes that are kept of what came before the match: a bot may have died between two."""

REST = 0.001
"""Seconds between two full reads: at most 64 MB a second are read, for a few per cent of one core."""

EARLIER = b"\n[all this was said before the match]\n"

LAST_READS = 16
"""Reads that are made for the evidence after the bot's end: a pipe holds 1 MiB at most."""


class StderrTail:
    """The reading end of one bot's standard error. Owns the descriptor."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._open = True
        self._head = bytearray()
        self._tail = bytearray()
        self._before = b""
        """The end of what it said until this match."""
        self.count = 0
        """All bytes read in this match, kept or not."""

    async def drain(self) -> None:
        """Read until the end, or until `close`: the task that keeps a talkative bot from blocking."""
        while self._open:
            try:
                await trio.lowlevel.wait_readable(self._fd)
            except trio.ClosedResourceError:
                return
            data = self._read()
            if data == b"":
                return
            if data is not None and len(data) == MAX_READ:
                await trio.sleep(REST)

    def _read(self) -> bytes | None:
        if not self._open:
            return b""
        try:
            data = os.read(self._fd, MAX_READ)
        except BlockingIOError:
            return None
        self._keep(data)
        return data

    def _keep(self, data: bytes) -> None:
        self.count += len(data)
        room = HEAD - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room else data
        if len(self._tail) > 2 * TAIL:  # cut seldom, so that each byte is moved once
            del self._tail[:-TAIL]

    def catch_up(self) -> None:
        """Read what is in the pipe by now, without waiting: the last words of a bot that has just died."""
        for _ in range(LAST_READS):
            if not self._read():
                return

    def new_match(self) -> None:
        """Another match begins: not the bot's first, to which belongs all that it said while it started up."""
        self.catch_up()
        if self.count:
            self._before = self.kept[-BEFORE:]
            self._head.clear()
            self._tail.clear()
            self.count = 0

    @property
    def kept(self) -> bytes:
        """Head and tail of this match, with a line in between that counts what was left out.

        While nothing has been said in it: the end of what came before, and a line that says so.
        """
        if not self.count:
            return self._before.rstrip(b"\n") + EARLIER if self._before else b""
        tail = bytes(self._tail[-TAIL:])
        lost = self.count - len(self._head) - len(tail)
        gap = f"\n[{lost} bytes left out]\n".encode() if lost else b""
        return bytes(self._head) + gap + tail

    def close(self) -> None:
        """Stop reading: whoever still writes there gets a broken pipe."""
        if self._open:
            self._open = False
            with suppress(RuntimeError):  # outside of a trio run nobody can be waiting
                trio.lowlevel.notify_closing(self._fd)
            os.close(self._fd)
