"""What it takes to run a bot's file, by its suffix: an interpreter, or a compiler and a cache.

It knows no names of bots. A bot in C is compiled once for each content of its file, into the user's cache
directory.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

INTERPRETERS: dict[str, tuple[str, ...]] = {
    ".py": (sys.executable,),
    ".js": ("node",),
    ".mjs": ("node",),
    ".rb": ("ruby",),
    ".pl": ("perl",),
    ".lua": ("lua",),
    ".sh": ("sh",),
}

COMPILERS: dict[str, tuple[str, ...]] = {
    ".c": ("cc", "gcc", "clang"),
}

COMPILE_LIMIT = 60.0


class RuntimeMissing(ValueError):
    """The program that runs or compiles such a file is not installed."""


class CompileError(ValueError):
    """The compiler refused the file; the text holds its first line."""


def known(file: Path) -> bool:
    """Whether the suffix says how to run the file."""
    return file.suffix in INTERPRETERS or file.suffix in COMPILERS


def missing_runtime(file: Path) -> str | None:
    """The name of the interpreter or compiler that the file needs and this machine lacks."""
    wanted = INTERPRETERS.get(file.suffix) or COMPILERS.get(file.suffix, ())
    if not wanted or any(shutil.which(program) for program in wanted):
        return None
    return wanted[0]


def run_line(file: Path) -> tuple[str, ...]:
    """The command that runs the file; compiles it first if it has to be."""
    missing = missing_runtime(file)
    if missing:
        raise RuntimeMissing(f"{file.name} needs {missing}, which is not installed")
    if file.suffix in COMPILERS:
        return (str(_compiled(file)),)
    return (*(own_interpreter(file) or INTERPRETERS[file.suffix]), str(file))


def own_interpreter(file: Path) -> tuple[str, ...]:
    """The command in the `#!` line of a shell script, which may want more than `sh`; none for anything else."""
    if file.suffix != ".sh":
        return ()
    with file.open("rb") as script:
        first = script.readline(256)
    return tuple(first[2:].decode("utf-8", "replace").split()) if first.startswith(b"#!") else ()


def _compiled(file: Path) -> Path:
    compiler = next(filter(None, map(shutil.which, COMPILERS[file.suffix])))
    content = hashlib.sha256(compiler.encode() + b"\0" + file.read_bytes()).hexdigest()[:16]
    program = _cache() / f"{file.stem}-{content}"
    if not os.access(program, os.X_OK):
        _compile(compiler, file, program)
    return program


def _compile(compiler: str, file: Path, program: Path) -> None:
    # Into a file of its own first: two referees may compile the same bot at the same moment.
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        fresh = Path(folder) / program.name
        line = [compiler, "-O2", "-o", str(fresh), str(file)]
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=COMPILE_LIMIT, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            raise CompileError(f"{file.name} does not compile: {error}") from error
        if done.returncode != 0:
            raise CompileError(f"{file.name} does not compile: {_first_line(done.stderr)}")
        os.replace(fresh, program)


def _first_line(text: str) -> str:
    complaints = [line for line in text.splitlines() if "error" in line]
    return (complaints or text.splitlines() or ["the compiler says nothing"])[0].strip()


def _cache() -> Path:
    """`$XDG_CACHE_HOME/lastcard` or `~/.cache/lastcard`; where it is not writable, a temporary folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    for folder in (Path(home) / "lastcard", Path(tempfile.gettempdir()) / f"lastcard-{os.getuid()}"):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        # Who owns the folder decides what program runs: never somebody else's folder in /tmp.
        if os.access(folder, os.W_OK) and folder.stat().st_uid == os.getuid():
            return folder
    raise CompileError("there is no folder to compile into: set XDG_CACHE_HOME to one that is writable")
