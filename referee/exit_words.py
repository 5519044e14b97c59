"""How a process ended, in words, and which of its limits it had reached; it asks the system nothing."""

import signal

from lastcard.referee.sandbox.levels import Level, Sandbox

UNLIMITED = Sandbox()

BY_WRAPPER = 128
"""A program that waits for the bot and is no bot itself exits with 128+N when signal N has killed the bot."""


def exit_code_of(code: int, *, wrapped: bool) -> int:
    """The bot's return code as `subprocess` gives it, out of that of its wrapper."""
    return BY_WRAPPER - code if wrapped and code > BY_WRAPPER else code


def exit_words(code: int, sandbox: Sandbox = UNLIMITED, *, out_of_memory: bool = False) -> str:
    """How a process ended, from a return code as `subprocess` gives it."""
    words = f"exit status {code}" if code >= 0 else f"killed by {_signal_name(-code)}"
    why = _limit_reached(-code, sandbox, out_of_memory)
    return f"{words}, {why}" if why else words


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _limit_reached(number: int, sandbox: Sandbox, out_of_memory: bool) -> str | None:
    if out_of_memory:
        return f"out of memory: its limit is {sandbox.memory_mb} MB"
    if sandbox.level is Level.NONE:
        return None
    if number == signal.SIGXCPU:
        return f"its CPU limit of {sandbox.cpu_s} s"
    if number == signal.SIGXFSZ:
        return f"its file limit of {sandbox.file_mb} MB"
    return None
