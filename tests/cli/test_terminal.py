"""On a terminal: a bar that moves and goes away. Elsewhere, and for all other commands: not one code."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.cli.commands import LASTCARD, PATIENCE, bot, environment, lastcard
from tests.cli.test_tournament import cup

COLUMNS = 80


def on_a_terminal(*words: str, **changes: str) -> tuple[int, str]:
    """One run with all its output on a terminal of its own; exit code and what the terminal got."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    env = environment(**changes)
    del env["COLUMNS"]
    with subprocess.Popen((*LASTCARD, *words), stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        received = b""
        try:
            while data := os.read(ours, 65536):
                received += data
        except OSError:  # the system's way to say that nobody has the other end any more
            pass
        code = process.wait(PATIENCE)
    os.close(ours)
    return code, received.decode().replace("\r\n", "\n")


def test_a_run_shows_a_bar_that_moves_and_goes_away(tmp_path: Path) -> None:
    file = str(cup(tmp_path, blocks=30))
    code, seen = on_a_terminal("tournament", "run", file, "--dir", str(tmp_path / "run"))
    assert code == 0
    bar, _, rest = seen.rpartition("\x1b[2K")  # the line is cleared before the table is printed
    counts = re.findall(r"([0-9]+)/60\x1b", bar)
    assert len(set(counts)) > 1
    assert counts == sorted(counts, key=int)
    assert "0 faults" in bar
    assert "60 of 60 matches" not in seen
    table = lastcard("tournament", "status", str(tmp_path / "run")).out
    assert table.splitlines()[2:] == rest[rest.index("cup: ") :].splitlines()[1:]
    assert seen.count("\x1b[?25l") == seen.count("\x1b[?25h")  # the cursor that was hidden is shown again


@pytest.mark.parametrize(("words", "changes"), [(("--plain",), {}), ((), {"TERM": "dumb"})])
def test_lines_where_a_bar_is_not_wanted_or_not_possible(
    tmp_path: Path, words: tuple[str, ...], changes: dict[str, str]
) -> None:
    code, seen = on_a_terminal(
        "tournament", "run", str(cup(tmp_path)), "--dir", str(tmp_path / "run"), *words, **changes
    )
    assert code == 0
    assert seen.startswith("4 matches\n4 of 4 matches (100 %)")
    assert "\x1b" not in seen


def test_other_commands_send_no_codes_to_a_terminal_either(tmp_path: Path, a_log: Path) -> None:
    noisy = bot(tmp_path, "noisy", "more = {'note': '\\x1b[2J'}; print('\\x1b[31m', file=sys.stderr)")
    log = str(tmp_path / "log.jsonl")
    for words, expected in (
        (("play", noisy, "random", "--rounds", "1", "--seed", "s", "--log", log), 0),
        (("replay", log), 0),
        (("replay", str(a_log)), 0),
        (("play", "greedy", "./\x1b[31m"), 2),
        (("editions", "\x1b[31m"), 2),
        (("play", "--help"), 0),
    ):
        code, seen = on_a_terminal(*words)
        assert code == expected
        assert "\x1b" not in seen
