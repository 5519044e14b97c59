"""What a Ctrl-C does, from the first import to the last line. Knows no command.

While modules are being imported it ends the program on the spot: an exception there may be raised inside a callback
of the import system, which prints a traceback and goes on. Nothing has been begun yet that would have to be ended.
"""

import os
import signal
from types import FrameType

STOPPED = 3


def stop_at_once(_number: int, _frame: FrameType | None) -> None:
    """The handler for as long as there is nothing to be tidied up."""
    try:
        os.write(2, b"lastcard: stopped\n")
    finally:
        os._exit(STOPPED)


def while_importing() -> None:
    """Stop at once, unless the shell has us ignore interrupts (`nohup`, `&`)."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop_at_once)


def when_imported() -> None:
    """From here on a Ctrl-C is a KeyboardInterrupt, as everywhere in Python."""
    if signal.getsignal(signal.SIGINT) is stop_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def when_done() -> None:
    """What is left is short and has to be done: the last look for processes of bots."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
