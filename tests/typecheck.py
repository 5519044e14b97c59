"""Runs mypy --strict and pyright strict on the rooms under their import names; knows no rule of the game.

Neither checker follows the import hook of an editable install, so the rooms are linked to
build/types/lastcard. A checker that finds nothing to check is content, so the number of files that each
looked at is compared with the folders. `make lint` runs this; the settings are in pyproject.toml.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "protocol", "referee", "sample_bots")
LINKS = Path("build", "types", "lastcard")

MYPY_COUNT = re.compile(r"(?:found in|checked) (\d+) source files?\b")
PYRIGHT_COUNT = re.compile(r"Found (\d+) source files?\b")
PYRIGHT_NOISE = ("Loading ", "Setting ", "Auto-excluding ", "pyright ", "Completed ", "Found ")


def link_rooms() -> None:
    """Make build/types/lastcard hold one link a room."""
    folder = TOP / LINKS
    folder.mkdir(parents=True, exist_ok=True)
    for room in ROOMS:
        link, target = folder / room, Path("..", "..", "..", room)
        if not link.is_symlink() or link.readlink() != target:
            link.unlink(missing_ok=True)
            link.symlink_to(target)


def start(*command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        (sys.executable, "-m", *command),
        cwd=TOP,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def clean(checker: "subprocess.Popen[str]", name: str, counted: re.Pattern[str], folders: tuple[str, ...]) -> bool:
    """Wait for a checker and print what it found; whether it was content and had looked at every file."""
    output, _ = checker.communicate()
    match = counted.search(output)
    checked = int(match.group(1)) if match else 0
    expected = sum(1 for folder in folders for _ in (TOP / folder).rglob("*.py"))
    if checker.returncode != 0:
        findings, _, _ = output.partition("\nAnalysis stats")
        lines = [line for line in findings.splitlines() if not line.startswith(PYRIGHT_NOISE)]
        print("\n".join(lines).replace(f"{TOP}/", "").replace(f"{LINKS}/", ""))
    if checked != expected:
        print(f"{name}: looked at {checked} files, but {', '.join(folders)} hold {expected}")
        return False
    print(f"{name}: {checked} files, {'clean' if checker.returncode == 0 else 'not clean'}")
    return checker.returncode == 0


def main() -> int:
    link_rooms()
    links = [str(LINKS / room) for room in ROOMS]
    mypy = start("mypy", *links, "tests")
    pyright = start("pyright", "--stats", "--pythonpath", sys.executable, *links)
    results = [
        clean(mypy, "mypy", MYPY_COUNT, (*ROOMS, "tests")),
        clean(pyright, "pyright", PYRIGHT_COUNT, ROOMS),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
