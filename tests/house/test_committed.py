"""What may not stand in a committed file: a path of one machine, the host of a package registry."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
SKIPPED = frozenset(
    """.git .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist __pycache__
    lastcard.egg-info""".split()
)

# Written in pieces, so that this file may be committed itself.
SEPARATOR = "/"
MACHINE_PATHS = [
    SEPARATOR + rest
    for rest in (
        r"work/",
        r"root/",
        r"home/\w",
        r"Users/\w",
        r"opt/\w",
        r"mnt/\w",
        r"tmp/(brief|house|bash_jobs)",
    )
]
REGISTRY_HOSTS = [
    rf"\b{name}\.{domain}\b"
    for name, domain in (
        (r"(test\.)?pypi", "org"),
        (r"files\.pythonhosted", "org"),
        (r"registry\.(npmjs|yarnpkg)", "(org|com)"),
        (r"(deb|ftp|security)\.debian", "org"),
        (r"(archive|security)\.ubuntu", "com"),
        (r"(static\.|index\.)?crates", "io"),
        (r"(conda\.)?anaconda", "org"),
        (r"proxy\.golang", "org"),
        (r"repo1?\.maven", "(org|apache\\.org)"),
    )
]
FORBIDDEN = re.compile("|".join([*(rf"(?<![\w.~-]){path}" for path in MACHINE_PATHS), *REGISTRY_HOSTS]))


def committed_files() -> list[Path]:
    """What git tracks; in a source distribution, all there is."""
    listed: list[str] = []
    if (TOP / ".git").exists() and shutil.which("git"):
        command = ("git", "ls-files", "-z")
        listed = subprocess.run(command, cwd=TOP, capture_output=True, text=True).stdout.split("\0")[:-1]
    files = [TOP / name for name in listed] or [
        path for path in TOP.rglob("*") if not SKIPPED & set(path.relative_to(TOP).parts)
    ]
    return sorted(path for path in files if path.is_file())


def faults(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        found = FORBIDDEN.search(line)
        if found:
            yield f"{number}: {found.group()}"


def test_no_machine_and_no_registry_is_named() -> None:
    found: list[str] = []
    files = committed_files()
    assert Path(__file__) in files
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += (f"{path.relative_to(TOP)}:{fault}" for fault in faults(text))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        SEPARATOR + "work/main/engine",
        'open("' + SEPARATOR + 'home/someone/bot.py")',
        "cd " + SEPARATOR + "root/x",
        "--index-url https:" + SEPARATOR * 2 + "pypi." + "org/simple",
        "registry." + "npmjs.org",
    ],
)
def test_a_planted_fault_is_found(line: str) -> None:
    assert len(list(faults(line))) == 1


@pytest.mark.parametrize("line", ["#!/usr/bin/env python3", "./bots/work/bot.py", "sample_bots/root/x", "/tmp/log"])
def test_what_is_allowed_is_not_found(line: str) -> None:
    assert list(faults(line)) == []


def test_constraints_hold_names_and_versions_only() -> None:
    lines = (TOP / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line)] == []
