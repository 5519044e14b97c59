"""Which files a strict bot gets to see, from its command and its folder; it looks at files and starts nothing.

A path is shown under its own name. Nothing that holds somebody's home is shown as a whole, whoever asks.
"""

import os
import pwd
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.sandbox.programs import absolute, find_program, hops, interpreters, prefixes

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Shown to every strict bot as they are."""

ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "java*", "python3*")

NEVER = (Path("/proc"), Path("/sys"), Path("/dev"))
"""A bot has its own."""

SHARED = (Path("/tmp"), Path("/var/tmp"))
"""Everybody's: a file in it is shown, its neighbours are not."""

WIDE = (*NEVER, *SHARED, *map(Path, ("/", "/root", "/home", "/var", "/etc", "/run", "/boot", "/mnt", "/media")))


@dataclass(frozen=True, slots=True)
class Needs:
    """What one bot needs of the files of this machine."""

    program: Path
    runs: tuple[Path, ...]
    """The program and what interprets it."""
    reads: tuple[Path, ...]
    """Files and folders that its command names, and its own folder."""
    shown: tuple[Path, ...]
    """All paths that have to be there for it; what is below another or below the system's is left out."""
    folder: Path | None
    """Where it runs, if it runs in a folder of its own."""


def needs_of(command: BotCommand, environment: Mapping[str, str], read: Sequence[str] = ()) -> Needs | None:
    """What the bot needs, or None if its program is not there."""
    base = absolute(Path.cwd(), str(command.cwd or "."))
    search = environment.get("PATH", os.defpath)
    program = find_program(command.argv[0], base, search)
    if program is None:
        return None
    runs = (program, *interpreters(program, search))
    named = tuple(_named(command.argv[1:], base))
    folder = base if command.cwd is not None and not is_wide(base) else None
    granted = (hop for path in read for hop in hops(absolute(base, path)))
    wanted = [*_of_programs(runs), *_of_files(named), *granted]
    wanted += [folder] if folder else []
    return Needs(program, runs, (*named, *([folder] if folder else [])), outermost(wanted), folder)


def _of_programs(programs: Iterable[Path]) -> Iterator[Path]:
    for program in programs:
        for hop in hops(program):
            yield hop
            for prefix in prefixes(hop):
                for place in hops(prefix):
                    if not is_wide(place) and place.name != ".local":
                        yield place


def _of_files(files: Iterable[Path]) -> Iterator[Path]:
    for file in files:
        # A link may be the bot's own work, and lead to anything: who runs it has to name its end in `read`.
        if not file.is_symlink():
            yield file
        if not is_wide(file.parent) and not file.is_dir():
            yield file.parent


def _named(words: Iterable[str], base: Path) -> Iterator[Path]:
    """The existing files and folders among the arguments: `book.bin`, `--book=book.bin`."""
    for word in words:
        for text in (word, word.partition("=")[2]):
            path = absolute(base, text) if text and "\0" not in text else None
            if path is not None and os.path.exists(path) and not is_wide(path) and not is_below(path, NEVER):
                yield path


def etc_places() -> list[Path]:
    """What is shown of /etc."""
    return sorted(path for pattern in ETC for path in Path("/etc").glob(pattern))


def outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Without those that are within others, within the system's folders, or not there."""
    kept: list[Path] = []
    system = (*map(Path, SYSTEM), *etc_places())
    for path in sorted(set(paths)):
        if os.path.lexists(path) and not is_below(path, (*system, *(place for place in kept if place.is_dir()))):
            kept.append(path)
    return tuple(kept)


def is_wide(path: Path) -> bool:
    """Whether the folder is too much to show: it is, or holds, somebody's home or what all share."""
    return any(place in WIDE or place.parent == Path("/home") or place in _homes() for place in {path, path.resolve()})


def holds_home(path: Path) -> bool:
    """Whether the folder is the home folder of who runs the referee, or holds it."""
    return any(place in _homes() for place in {path, path.resolve()})


def _homes() -> frozenset[Path]:
    return _homes_of(os.environ.get("HOME", ""), os.getuid())


@lru_cache(maxsize=8)
def _homes_of(variable: str, user: int) -> frozenset[Path]:
    homes = {variable}
    with suppress(KeyError):
        homes.add(pwd.getpwuid(user).pw_dir)
    # An unset HOME, or that of a service, is no home.
    found = {Path(os.path.abspath(home)) for home in homes if home.startswith("/") and home != "/"}
    found |= {home.resolve() for home in found}
    return frozenset(found | {parent for home in found for parent in home.parents})


def is_below(path: Path, places: Sequence[Path]) -> bool:
    """Whether the path is one of the places or lies in one, by name alone."""
    # As text: this is asked a hundred times a start, and the folders of a path are costly to list.
    text = f"{path}/"
    return any(text.startswith(f"{place}/") or place == Path("/") for place in places)


def is_within(path: Path, place: Path) -> bool:
    """Whether the path is the place or lies in it, links resolved."""
    return is_below(path.resolve(), (place.resolve(),))
