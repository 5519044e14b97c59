"""Whether a command can be started at all, found out by looking at files only; it starts nothing.

The system's own answers come late and say little: a missing interpreter of a script is reported as "No such
file or directory" about the script, which is there.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

SHEBANG_LIMIT = 256


def why_not_startable(argv: Sequence[str], cwd: Path | None = None) -> str | None:
    """Half a sentence about the first thing that is wrong with the program, or None."""
    program = argv[0]
    if "/" not in program:
        return None if shutil.which(program) else f"there is no program {program!r} in PATH"
    file = (cwd or Path.cwd()) / program
    if not file.exists():
        return f"there is no file {str(file)!r}"
    if file.is_dir():
        return f"{str(file)!r} is a folder"
    if not file.is_file():  # to look into a pipe would take until somebody writes there
        return f"{str(file)!r} is not a regular file"
    if not os.access(file, os.X_OK):
        return f"{str(file)!r} is not executable (chmod +x, or name its interpreter)"
    return _why_not_script(file)


def _why_not_script(file: Path) -> str | None:
    try:
        with file.open("rb") as opened:
            head = opened.read(SHEBANG_LIMIT)
    except OSError:
        return None  # executable and not readable: the system will see
    if not head:
        return f"{str(file)!r} is empty"
    if not head.startswith(b"#!"):
        return None if b"\0" in head else f"{str(file)!r} is neither a program nor has it a #! line"
    line = head[2:].split(b"\n")[0].decode("utf-8", "replace")
    if line.endswith("\r"):
        return f"the #! line of {str(file)!r} ends in CR LF: save the file with LF"
    return _why_not_interpreter(file, line.split())


def _why_not_interpreter(file: Path, words: list[str]) -> str | None:
    if not words:
        return f"the #! line of {str(file)!r} is empty"
    if not os.access(words[0], os.X_OK):
        return f"the #! line of {str(file)!r} names {words[0]!r}, which is not there"
    by_env = Path(words[0]).name == "env" and len(words) > 1 and not words[1].startswith("-")
    if by_env and not shutil.which(words[1]):
        return f"the #! line of {str(file)!r} names {words[1]!r}, which is not in PATH"
    return None
