"""A bot at the level basic, and one that is only caged: command lines without bubblewrap. It starts nothing."""

from collections.abc import Mapping, Sequence

from lastcard.referee.sandbox.cage_limits import CageLimits
from lastcard.referee.sandbox.chain import (
    environment_words,
    join_words,
    limit_words,
    powerless_words,
    privilege_words,
)
from lastcard.referee.sandbox.levels import Sandbox


def basic_words(
    argv: Sequence[str],
    environment: Mapping[str, str],
    sandbox: Sandbox,
    cage: CageLimits | None,
    *,
    uid: int | None,
    root: bool,
    way: Sequence[str] = (),
) -> tuple[str, ...]:
    """With a uid the bot runs under it; without, root keeps its number and loses its capabilities.

    `way` leads to files that the uid could not reach (see `clearing.py`).
    """
    return (
        *join_words(cage.joins if cage else ()),
        *way,
        *(powerless_words() if root and uid is None else privilege_words(uid)),
        *limit_words(
            sandbox,
            memory=not (cage and cage.limits_memory),
            # The limit counts all that the user runs, a whole desktop perhaps, and does not bind root.
            processes=uid is not None and not (cage and cage.limits_processes),
        ),
        *environment_words(environment, argv),
    )


def caged_words(argv: Sequence[str], environment: Mapping[str, str], cage: CageLimits) -> tuple[str, ...]:
    """No limits: the cage is there to end what the bot leaves behind."""
    return (*join_words(cage.joins), *environment_words(environment, argv))
