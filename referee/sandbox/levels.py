"""The levels of confinement and their limits, as values; it knows no program and asks nothing of the machine."""

from enum import StrEnum

from msgspec import Struct


class Level(StrEnum):
    """How far a bot is trusted."""

    NONE = "none"
    """A plain process of the referee's user."""
    BASIC = "basic"
    """Limits, no new privileges, a user of its own where the referee is root."""
    STRICT = "strict"
    """Namespaces of its own: no network, no foreign process, read-only files, and few of them."""


class Sandbox(Struct, frozen=True, kw_only=True):
    """What one bot may do. Without a level the limits do not apply."""

    level: Level = Level.NONE
    memory_mb: int = 1024
    processes: int = 64
    file_mb: int = 16
    """The largest file that it may write; in strict its /tmp holds no more either."""
    cpu_s: int = 3600
    """CPU seconds of one process."""
    read: tuple[str, ...] = ()
    """Further paths that a strict bot may read."""


LIMIT_RANGES = {
    "memory_mb": (16, 1_048_576),
    "processes": (1, 32_768),
    "file_mb": (1, 1_048_576),
    "cpu_s": (1, 31_536_000),
}
"""The numbers among its limits: the least and the most that a user may ask for."""
