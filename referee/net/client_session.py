"""One life of a stdio bot behind `lastcard connect`: one referee, and as many connections as it takes.

To the bot it looks like one conversation over pipes: it says hello once, gets whole lines only, and finds the open
ask repeated when a connection was lost. To the referee it looks like a remote bot: the client adds the token to the
bot's hello, and says that hello again by itself on every later connection.

Four tasks a bot: one follows the referee, one hands its lines on, one hears the bot, one waits for the bot's end.
"""

from typing import Final, NamedTuple

import trio
from msgspec.structs import replace

from lastcard.protocol import REFEREE_LINES, Bye, encode
from lastcard.referee.net.client_bot import Bot
from lastcard.referee.net.client_call import LONGEST_REASON
from lastcard.referee.net.client_calls import LONGEST_PAUSE, Calls, GaveUp, Say
from lastcard.referee.net.client_link import Link, Lost
from lastcard.referee.net.client_output import BotOutput
from lastcard.referee.net.client_waiting import WaitingLines
from lastcard.referee.net.door import REFUSED
from lastcard.referee.net.lobby import REPLACED
from lastcard.referee.processes import GRACE, STATUS_PATIENCE

DONE, FAILED, STOPPED = 0, 1, 3

PROMPT: Final = 2.0
"""Seconds that the bot's first hello may take on the connection that asked for it. The referee closes it after five:
a bot that takes longer to start is logged in by the next one, with a hello that is known by then."""

LEAST_START: Final = 1.0

CHECK: Final = {
    REFUSED: "check that the token is the one that this referee's organiser has from you",
    REPLACED: "does the same bot run elsewhere too?",
}
"""What to look at when the referee sends a bot away, by its reason."""

CHECK_ALL: Final = "check the token, the address, and that no other connection uses the same token"


class Ending(NamedTuple):
    """How it ended: the exit code, one sentence, and whether the bot is to be started anew."""

    code: int
    words: str
    again: bool = False


class Session:
    """One life of the bot, from its start until nothing more is to be said to it."""

    def __init__(self, bot: Bot, calls: Calls, token: str, say: Say) -> None:
        self._bot = bot
        self._calls = calls
        self._token = token
        self._say = say
        self._waiting = WaitingLines[Link]()
        self._output = BotOutput(bot.receive, self._hearer, say)
        self._link: Link | None = None
        self._logins = 0
        self._greeted = False
        self._hello = b""
        self._introduced = trio.Event()
        self._logged_in = trio.Event()
        self._all_heard = trio.Event()
        self._scope = trio.CancelScope()
        self._ending: Ending | None = None
        self._bye_at: float | None = None

    @property
    def leaves_at(self) -> float:
        """Until when the bot may leave by itself."""
        return (trio.current_time() if self._bye_at is None else self._bye_at) + GRACE

    async def run(self) -> Ending:
        """From the bot's start to the last word."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._await_end)
                    nursery.start_soon(self._hand_on)
                    nursery.start_soon(self._hear)
                    await self._follow()
            assert self._ending is not None, "whoever cancels says why first"
            if self._link is not None and self._bye_at is None:
                await self._link.part()
            return self._ending
        finally:
            if self._link is not None:
                await self._link.drop()

    def _end(self, code: int, words: str) -> None:
        """The first reason counts."""
        self._ending = self._ending or Ending(code, words)
        self._scope.cancel()

    # ---- the referee

    async def _follow(self) -> None:
        """Stay connected until the referee says bye, and let the bot hear it."""
        try:
            link, bye = await self._until_bye()
        except GaveUp as end:
            self._end(FAILED if end.hopeless else STOPPED, str(end))
            return
        self._bye_at = trio.current_time()
        self._ending = _ended_by(bye, let_in=link.proved)
        await link.drop()
        self._waiting.end()
        with trio.move_on_after(GRACE):
            await self._bot.gone()
        self._scope.cancel()

    async def _until_bye(self) -> tuple[Link, Bye]:
        while True:
            self._link = link = await self._calls.connected()
            try:
                if await self._log_in(link):
                    return link, await self._listen(link)
            except Lost as lost:
                if trio.current_time() - link.since >= LONGEST_PAUSE:
                    self._calls.stood()
                self._calls.failed(f"the connection is lost ({lost})")
            self._link = None
            await link.drop()

    async def _log_in(self, link: Link) -> bool:
        """Exchange hellos. False if the bot took so long for its own that the next connection has to say it."""
        if not self._greeted:
            self._greeted = True
            await self._waiting.put(link, link.hello)
        begun, limit = trio.current_time(), max(link.start_s, LEAST_START)
        with trio.move_on_after(limit):
            await self._introduced.wait()
        if not self._introduced.is_set():
            self._end(FAILED, f"the bot said no hello within {limit:g} s")
        if trio.current_time() - begun > PROMPT:
            self._calls.stood()  # what follows is no trouble with the referee
            return False
        await link.send(self._hello)
        self._say(f"connected to {self._calls.where}{' again' if self._logins else ''}")
        link.hears = not self._logins
        self._logins += 1
        self._logged_in.set()
        return True

    async def _listen(self, link: Link) -> Bye:
        """Take its lines for the bot until one is bye."""
        while True:
            line = await link.next_line()
            bye = _as_bye(line)
            if bye is None and not link.proved:
                link.proved = True
                self._calls.stood()
            await self._waiting.put(link, line + b"\n")
            if bye is not None:
                return bye

    # ---- the bot

    async def _hand_on(self) -> None:
        """Give the bot what waits for it."""
        while (item := await self._waiting.take()) is not None:
            link, line = item
            try:
                await self._bot.send(line)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                await self._bot_left("has closed its input")
                return
            # What it says before that was meant for a connection that is lost.
            link.hears = link.hears or (link is self._link and line is not link.hello)
        self._bot.close_input()

    async def _hear(self) -> None:
        """Take the bot's hello, and pass on what follows."""
        hello = await self._output.hello()
        if isinstance(hello, str):
            self._end(FAILED, hello)
        elif hello is not None:
            self._hello = encode(replace(hello, token=self._token))
            self._introduced.set()
            await self._logged_in.wait()  # what came along with the hello goes where the hello goes
            await self._output.pass_on()
        self._all_heard.set()
        await self._bot_left("has closed its output")

    def _hearer(self) -> Link | None:
        return self._link if self._link is not None and self._link.hears else None

    async def _await_end(self) -> None:
        """Notice the end of the bot's process, though its children may hold its pipes open."""
        await self._bot.gone()
        await self._bot_left("ended")

    async def _bot_left(self, how: str) -> None:
        """Whichever task has noticed it: the bot's last words go out first."""
        with trio.move_on_after(STATUS_PATIENCE):
            await self._bot.gone()
            await self._all_heard.wait()
        before = "" if self._introduced.is_set() else " before its hello"
        status = self._bot.exit_status()
        self._end(FAILED, f"the bot ended{before} ({status})" if status else f"the bot {how}{before}")


def _as_bye(line: bytes) -> Bye | None:
    if b"bye" not in line:  # nearly every line
        return None
    message = REFEREE_LINES.decode(line)
    return message if isinstance(message, Bye) else None


def _ended_by(bye: Bye, *, let_in: bool) -> Ending:
    reason = bye.reason[:LONGEST_REASON]
    if bye.again is True or let_in:
        return Ending(DONE, f"the referee says bye: {reason}", again=bye.again is True)
    return Ending(FAILED, f"not let in: {reason}; {CHECK.get(reason, CHECK_ALL)}")
