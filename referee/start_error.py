"""The error of a bot that could not be started; it knows nothing else, so that everything may import it."""

import errno
import os

OUR_FAULT = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""Errors of a start that say nothing about the bot."""


class StartError(Exception):
    """A bot could not be started. The text is one sentence; `host` says that the machine is to blame."""

    def __init__(self, sentence: str, *, host: bool = False) -> None:
        super().__init__(sentence)
        self.host = host


def refused(name: str, program: str, error: OSError) -> StartError:
    """What it means for a bot that the system does not start its program."""
    what = os.strerror(error.errno) if error.errno else str(error)
    return StartError(f"bot {name}: cannot start {program}: {what}", host=error.errno in OUR_FAULT)
