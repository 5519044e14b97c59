"""From a program's path to everything that it needs to start: links, its interpreter, the folders beside it.

It looks at files only and knows no level.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

MOST_LINKS = 40
MOST_INTERPRETERS = 4
SHEBANG = 256


def find_program(word: str, base: Path, search: str) -> Path | None:
    """Where a program is: a path as seen from `base`, or a name to be found in PATH."""
    if "/" in word:
        return absolute(base, word)
    found = shutil.which(word, path=search)
    return absolute(base, found) if found else None


def absolute(base: Path, word: str) -> Path:
    """A path without `.` and `..`, links as they are."""
    return Path(os.path.abspath(base / word))


def hops(path: Path) -> Iterator[Path]:
    """The path and each place that its links lead to, down to the file itself."""
    for _ in range(MOST_LINKS):
        yield path
        path = Path(os.path.realpath(path.parent)) / path.name
        yield path
        if not path.is_symlink():
            return
        path = Path(os.path.abspath(path.parent / path.readlink()))


def interpreters(program: Path, search: str) -> Iterator[Path]:
    """What runs a script: the program in its `#!` line, and the one that `env` looks for."""
    for _ in range(MOST_INTERPRETERS):
        words = _shebang(program)
        if not words:
            return
        named = [words[0]]
        if Path(words[0]).name == "env":
            named += [word for word in words[1:] if not word.startswith("-") and "=" not in word][:1]
        found = [find_program(word, program.parent, search) for word in named]
        # Only what can run: the line is the bot's own, and may name a file that it would like to see.
        known = [path for path in found if path is not None and path.is_file() and os.access(path, os.X_OK)]
        yield from known
        if not known:
            return
        program = known[-1]


def _shebang(program: Path) -> list[str]:
    if not program.is_file():  # to look into a named pipe would take until somebody writes there
        return []
    try:
        with program.open("rb") as opened:
            head = opened.read(SHEBANG)
    except OSError:
        return []
    line = head[2:].split(b"\n")[0] if head.startswith(b"#!") else b""
    return line.decode("utf-8", "replace").split()


def prefixes(program: Path) -> Iterator[Path]:
    """The folders that belong to an installed program: of X/bin/python the whole X, where X has libraries.

    Of a virtual environment its base too. `shims` is how pyenv and its like stand in for a language.
    """
    folder = program.parent
    if folder.name == "bin" and _has_libraries(folder.parent):
        yield folder.parent
        yield from _base(folder.parent / "pyvenv.cfg")
    if folder.name == "shims" and (folder.parent / "versions").is_dir():
        yield folder.parent


def _has_libraries(prefix: Path) -> bool:
    return any((prefix / name).exists() for name in ("lib", "lib64", "libexec", "pyvenv.cfg"))


def _base(config: Path) -> Iterator[Path]:
    try:
        lines = config.read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        key, _, value = line.partition("=")
        folder = Path(value.strip())
        # The file may be the bot's own work, so there has to be a Python where it says.
        if key.strip() == "home" and _has_libraries(folder.parent) and any(folder.glob("python*")):
            yield folder.parent
