"""What a start needs to know of a bot's cgroup; it knows no file of the kernel (see `referee/cages.py`)."""

from typing import Protocol


class CageLimits(Protocol):
    """The part of a cage that decides how a bot is started."""

    @property
    def joins(self) -> tuple[str, ...]:
        """The files into which a process writes its number to join."""
        ...

    @property
    def limits_memory(self) -> bool:
        """Whether the cage enforces the limit of memory; else a limit of the process has to."""
        ...

    @property
    def limits_processes(self) -> bool:
        """The same for the number of processes."""
        ...
