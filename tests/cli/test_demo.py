"""`lastcard demo`: from an empty folder to a table, whatever the machine lacks, twice, and after a Ctrl-C."""

import re
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.commands import environment, lastcard, start

SHORT = ("demo", "--blocks", "2")


def bots_of(out: str) -> list[str]:
    found = re.search(r"^bots: (.*)$", out, re.MULTILINE)
    assert found
    return found[1].split(", ")


def test_a_table_and_logs_that_are_all_proved(tmp_path: Path) -> None:
    done = lastcard(*SHORT, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    home = Path("lastcard-demo")
    bots = bots_of(done.out)
    assert {"greedy", "random"} <= set(bots)
    lines = done.out.splitlines()
    heading = next(number for number, line in enumerate(lines) if line.startswith("rank  bot "))
    assert {line.split()[1] for line in lines[heading + 1 : heading + 1 + len(bots)]} == set(bots)
    count = 2 * min(3, len(bots))
    assert lines[-4] == f"logs:   {home}/results/logs ({count}, {count} of them proved)"
    assert lines[-3] == f"report: {home}/results/report.txt"
    report = (tmp_path / home / "results" / "report.txt").read_text()
    assert "\n".join(lines[heading : heading + len(bots)]) in report
    told = lastcard(*shlex.split(lines[-2].removeprefix("status: "))[1:], cwd=tmp_path)
    assert lines[-2] == f"status: lastcard tournament status {home}"
    assert (told.code, told.out) == (0, report)
    look = shlex.split(lines[-1].removeprefix("look:   "))
    assert look[:2] == ["lastcard", "replay"]
    shown = lastcard(*look[1:], cwd=tmp_path)
    assert shown.code == 0
    assert "the match is over" in shown.out


def test_a_second_demo_has_a_folder_of_its_own(tmp_path: Path) -> None:
    tables = []
    for home in ("lastcard-demo", "lastcard-demo-2"):
        done = lastcard(*SHORT, cwd=tmp_path)
        assert done.code == 0
        assert f"report: {home}/results/report.txt\n" in done.out
        tables.append(done.out[done.out.index("rank ") : done.out.index("logs: ")])
    assert tables[0] == tables[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lastcard-demo", "lastcard-demo-2"]


def test_a_finished_demo_is_shown_again_and_not_overwritten(tmp_path: Path) -> None:
    first = lastcard(*SHORT, "--dir", "here", cwd=tmp_path)
    logs = {log: log.stat().st_mtime_ns for log in (tmp_path / "here/results/logs").iterdir()}
    again = lastcard("demo", "--dir", "here", cwd=tmp_path)
    assert (first.code, again.code) == (0, 0)
    assert again.out.startswith("the demo in here goes on\n")
    assert first.out[first.out.index("rank ") :] == again.out[again.out.index("rank ") :]
    assert logs == {log: log.stat().st_mtime_ns for log in (tmp_path / "here/results/logs").iterdir()}
    other = lastcard("demo", "--dir", "here", "--blocks", "9", cwd=tmp_path)
    assert (other.code, other.out) == (2, "")
    assert other.err.startswith("lastcard: --blocks 9: expected none")


def test_a_demo_that_was_stopped_goes_on(tmp_path: Path) -> None:
    with start("demo", "--dir", "here", "--blocks", "40", cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while not (line := process.stdout.readline()).endswith(" matches\n"):
            assert line
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
    assert (process.returncode, err) == (3, "")
    assert out.splitlines()[-1].startswith("lastcard tournament run here/demo.toml --dir here/results")
    assert not (tmp_path / "here/results/report.txt").exists()
    done = lastcard("demo", "--dir", "here", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert re.search(r"\(([0-9]+), \1 of them proved\)", done.out)


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    assert lastcard(*SHORT, "--dir", str(tmp_path)).code == 0


def test_what_this_machine_lacks_is_left_out_and_said(tmp_path: Path) -> None:
    done = lastcard(*SHORT, cwd=tmp_path, env=environment(PATH="/nowhere"))
    assert (done.code, done.err) == (0, "")
    assert "left out: random-c needs cc, which is not installed here\n" in done.out
    assert "left out: random-js needs node, which is not installed here\n" in done.out
    assert bots_of(done.out) == ["greedy", "random"]
    assert "(4, 4 of them proved)" in done.out


def test_a_compiler_that_does_not_compile_is_no_end(tmp_path: Path) -> None:
    compiler = tmp_path / "bin" / "cc"
    compiler.parent.mkdir()
    compiler.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('stdio.h: error: \\x1b[31mmissing')\n")
    compiler.chmod(0o755)
    env = environment(PATH=str(compiler.parent), XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = lastcard(*SHORT, cwd=tmp_path, env=env)
    assert (done.code, done.err) == (0, "")
    left_out = next(line for line in done.out.splitlines() if line.startswith("left out: random-c "))
    assert "does not compile: stdio.h: error: \\x1b[31mmissing" in left_out
    assert bots_of(done.out) == ["greedy", "random"]


@pytest.mark.soak
def test_the_whole_demo_takes_less_than_a_minute(tmp_path: Path) -> None:
    done = lastcard("demo", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[3 if "left out" in done.out else 1].endswith(" matches")
