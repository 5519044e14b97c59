"""The client behind `lastcard connect`: a bot of this machine, started as often as the referee wants it, and stopped.

Knows no message and no connection; `client_session` does.
"""

from collections.abc import Callable

import trio

from lastcard.referee.net.client_bot import Bot
from lastcard.referee.net.client_calls import Calls, Say
from lastcard.referee.net.client_session import FAILED, STOPPED, Ending, Session
from lastcard.referee.start_error import StartError


class Client:
    """Runs the bot until the referee, the bot or the user ends it."""

    def __init__(self, start: Callable[[], Bot], calls: Calls, token: str, say: Say) -> None:
        self._start = start
        self._calls = calls
        self._token = token
        self._say = say
        self._running = trio.CancelScope()
        self._parting = trio.CancelScope()
        self._stopped_by = ""

    async def run(self) -> Ending:
        """The whole of it. The bot is gone when this returns, or raises."""
        with self._running:
            while (ending := await self._one_life()).again:
                self._calls.failed(f"{ending.words}; the bot is started anew")
            return ending
        return Ending(STOPPED, f"stopped by {self._stopped_by}; the same command goes on")

    def stop(self, why: str) -> None:
        """The first call ends it in good order, the second without waiting for the bot to leave."""
        if self._running.cancel_called:
            self._parting.cancel()
        self._stopped_by = self._stopped_by or why
        self._running.cancel()

    async def _one_life(self) -> Ending:
        try:
            bot = self._start()
        except StartError as error:
            return Ending(FAILED, str(error))
        session = Session(bot, self._calls, self._token, self._say)
        try:
            return await session.run()
        finally:
            self._parting = trio.CancelScope(shield=True)
            with self._parting:
                await bot.close(max(0.0, session.leaves_at - trio.current_time()))
