"""The files of a strict bot as words for bubblewrap: what is shown, in which order, and what is masked.

The root is an empty folder in memory; what a bot needs is bound into it read-only, hidden paths are covered
last, and in the end nothing but /tmp and /dev/shm can be written to.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lastcard.referee.sandbox.visible import SYSTEM, etc_places, is_within

MASK_BYTES = 4096


def file_words(shown: Sequence[Path], hidden: Sequence[Path], size: int) -> list[str]:
    """Everything about files: the system's, the bot's, and how much it may write."""
    made: set[Path] = {Path("/"), Path("/tmp"), Path("/etc")}
    words = [*_system(), "--proc", "/proc", "--dev", "/dev"]
    words += ["--perms", "1777", "--size", str(size), "--tmpfs", "/dev/shm"]
    words += ["--perms", "1777", "--size", str(size), "--tmpfs", "/tmp"]
    for path in shown:
        if not any(is_within(path, place) for place in hidden):
            words += [*_folders_above(path, made), *_show(path)]
    for place in hidden:
        for mask in _masked_at(place, shown):
            words += _mask(mask)
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/"]


def _system() -> Iterator[str]:
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)
    yield from ("--perms", "0755", "--dir", "/etc")
    for path in etc_places():
        yield from _show(path)


def _show(path: Path) -> tuple[str, ...]:
    # A link stays a link: a program may look at where it is to find its libraries.
    if path.is_symlink() and not path.is_dir():
        return ("--symlink", str(path.readlink()), str(path))
    return ("--ro-bind", str(path), str(path))


def _folders_above(path: Path, made: set[Path]) -> Iterator[str]:
    """bubblewrap's own choice for folders on the way is 0700, and another user could not pass."""
    for folder in reversed(path.parents):
        if folder not in made:
            made.add(folder)
            yield from ("--perms", "0755", "--dir", str(folder))


def _masked_at(place: Path, shown: Sequence[Path]) -> Iterator[Path]:
    """Under which names the bot would see the hidden path."""
    real = _coverable(place.resolve(), shown)
    for root in (*shown, *map(Path, SYSTEM)):
        home = root.resolve()
        if real is not None and home in real.parents:
            yield root / real.relative_to(home)


def _coverable(real: Path, shown: Sequence[Path]) -> Path | None:
    """What is not there yet cannot be covered; its folder can, unless that takes away what the bot needs."""
    if real.exists():
        return real
    needed = any(is_within(path, real.parent) for path in shown)
    return None if needed or not real.parent.is_dir() else real.parent


def _mask(path: Path) -> tuple[str, ...]:
    if os.path.isdir(path):
        return ("--perms", "0555", "--size", str(MASK_BYTES), "--tmpfs", str(path), "--remount-ro", str(path))
    return ("--ro-bind", "/dev/null", str(path))
