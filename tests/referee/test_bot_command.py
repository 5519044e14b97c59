"""From a bot's word to its command: what each kind of word means, and what each mistake is told."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lastcard.referee.bot_command import (
    NAME,
    BotCommandError,
    missing_for,
    name_from,
    parse_bot,
    parse_bots,
    sample_bots,
    unique_names,
)

SCRIPT = "#!/bin/sh\necho hello\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with bots of every kind."""
    _write(tmp_path / "bots" / "shebang", SCRIPT, executable=True)
    _write(tmp_path / "bots" / "plain.py", "print('hello')\n")
    _write(tmp_path / "bots" / "own.py", "#!/usr/bin/env python3\n", executable=True)
    _write(tmp_path / "bots" / "plain.txt", "hello\n")
    _write(tmp_path / "bots" / "no_shebang", "echo hello\n", executable=True)
    _write(tmp_path / "bots" / "crlf", "#!/bin/sh\r\necho hello\r\n", executable=True)
    _write(tmp_path / "bots" / "lost", "#!/no/such/interpreter -x\n", executable=True)
    _write(tmp_path / "bots" / "lost_env", "#!/usr/bin/env no-such-language\n", executable=True)
    _write(tmp_path / "bots" / "bare", "#!\n", executable=True)
    _write(tmp_path / "bots" / "empty", "", executable=True)
    _write(tmp_path / "my bots" / "é bot.py", "print('hello')\n")
    return tmp_path


def _write(file: Path, text: str, *, executable: bool = False) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, newline="")
    file.chmod(0o755 if executable else 0o644)


def test_the_sample_bots_have_the_names_that_the_documents_use() -> None:
    assert {"random", "greedy", "random-js", "random-c"} <= set(sample_bots())
    assert all(NAME.fullmatch(name) for name in sample_bots())


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_a_bare_word_is_a_sample_bot(name: str) -> None:
    command = parse_bot(name)
    assert command.name == command.word == name
    assert command.argv == (sys.executable, str(sample_bots()[name]))
    assert Path(command.argv[1]).is_file()


@pytest.mark.parametrize(
    ("word", "name", "argv", "cwd"),
    [
        ("bots/shebang", "shebang", ("{base}/bots/shebang",), "bots"),
        ("./bots/shebang", "shebang", ("{base}/bots/shebang",), "bots"),
        ("{base}/bots/shebang", "shebang", ("{base}/bots/shebang",), "bots"),
        ("bots/plain.py", "plain", (sys.executable, "{base}/bots/plain.py"), "bots"),
        ("bots/own.py", "own", ("{base}/bots/own.py",), "bots"),
        ("my bots/é bot.py", "bot", (sys.executable, "{base}/my bots/é bot.py"), "my bots"),
        ("sh -c 'exit 0'", "sh", ("sh", "-c", "exit 0"), "."),
        ("sh bots/shebang --deep 3", "shebang", ("sh", "bots/shebang", "--deep", "3"), "."),
        ("bots/shebang --name 'a b'", "shebang", ("bots/shebang", "--name", "a b"), "."),
        ("sh plain.py", "plain", ("sh", "plain.py"), "."),
    ],
)
def test_paths_and_command_lines(folder: Path, word: str, name: str, argv: tuple[str, ...], cwd: str) -> None:
    command = parse_bot(word.format(base=folder), base=folder)
    assert command.name == name
    assert command.argv == tuple(part.format(base=folder) for part in argv)
    assert command.cwd == folder / cwd


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("human", "bot 'human': a human player will come with a later version"),
        (
            "tcp:alice",
            "bot 'tcp:alice': a bot over TCP plays in a tournament file, with tcp = true and a token_file, by",
        ),
        ("gready", "not a sample bot (greedy, "),
        ("", "not a sample bot (greedy, "),
        ("sh", "and not a quoted command with arguments"),
        ("bots/nobody", "/bots/nobody'"),
        ("bots/", "is a folder"),
        ("bots/plain.txt", "is not executable (chmod +x, or name its interpreter)"),
        ("bots/no_shebang", "is neither a program nor has it a #! line"),
        ("bots/crlf", "ends in CR LF: save the file with LF"),
        ("bots/lost", "names '/no/such/interpreter', which is not there"),
        ("bots/lost_env", "names 'no-such-language', which is not in PATH"),
        ("bots/bare", "#! line of"),
        ("bots/empty", "is empty"),
        ("no-such-program --deep", "there is no program 'no-such-program' in PATH"),
        ("sh -c 'exit", "no closing quotation"),
    ],
)
def test_mistakes_are_one_sentence(folder: Path, word: str, told: str) -> None:
    with pytest.raises(BotCommandError) as caught:
        parse_bot(word, base=folder)
    sentence = str(caught.value)
    assert sentence.startswith(f"bot {word!r}: ")
    assert told in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("names", "unique"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a-2", "a-3"]),
        (["a", "a-2", "a"], ["a", "a-2", "a-3"]),
        (["a", "a", "a-2"], ["a", "a-3", "a-2"]),
        (["x" * 32, "x" * 32], ["x" * 32, "x" * 30 + "-2"]),
    ],
)
def test_equal_names_are_numbered(names: list[str], unique: list[str]) -> None:
    assert unique_names(names) == unique


def test_the_same_bot_may_sit_at_a_table_twice() -> None:
    commands = parse_bots(["greedy", "random", "greedy"])
    assert [command.name for command in commands] == ["greedy", "random", "greedy-2"]
    assert commands[0].argv == commands[2].argv


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my bot", "my-bot"),
        ("..", "bot"),
        ("日本", "bot"),
        ("a" * 40, "a" * 32),
        ("é!x", "x"),
        ("v1.0_b", "v1.0_b"),
    ],
)
def test_names_obey_the_rule(text: str, name: str) -> None:
    assert name_from(text) == name
    assert NAME.fullmatch(name)


# ---- runtimes


@pytest.mark.parametrize(
    ("first_line", "runs_in"),
    [
        ("#!/bin/bash", ("/bin/bash",)),
        ("#!/usr/bin/env bash", ("/usr/bin/env", "bash")),
        ("echo hi", ("sh",)),
        ("#!", ("sh",)),
    ],
)
def test_a_shell_script_is_run_as_its_first_line_says(
    first_line: str, runs_in: tuple[str, ...], tmp_path: Path
) -> None:
    script = tmp_path / "mine.sh"
    _write(script, f"{first_line}\necho hello\n")
    assert parse_bot("./mine.sh", base=tmp_path).argv == (*runs_in, str(script))


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which no program is found."""
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(("name", "runtime"), [("random", None), ("random-js", "node"), ("random-c", "cc")])
def test_a_missing_runtime_is_named(name: str, runtime: str | None) -> None:
    assert missing_for(name) == runtime
    if runtime is not None:
        with pytest.raises(BotCommandError, match=f"needs {runtime}, which is not installed"):
            parse_bot(name)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache for compiled bots."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lastcard"


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that writes down each call; what it makes is a script, and it refuses what says `wrong`."""
    counter = tmp_path / "calls"
    _write(
        tmp_path / "bin" / "cc",
        f"#!/bin/sh\necho call >> {counter}\n"
        'if grep -q wrong "$4"; then echo "$4:1: error: wrong" >&2; exit 1; fi\n'
        'echo "#!/bin/sh" > "$3"; chmod +x "$3"\n',
        executable=True,
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return counter


def test_a_bot_in_c_is_compiled_once_for_each_content(cache: Path, compiler: Path, tmp_path: Path) -> None:
    file = tmp_path / "quick.c"
    file.write_text("int main(void) { return 0; }\n")
    first = parse_bot("./quick.c", base=tmp_path)
    assert parse_bot("./quick.c", base=tmp_path) == first
    assert compiler.read_text() == "call\n"
    assert Path(first.argv[0]).parent == cache
    assert first.name == "quick"
    file.write_text("int main(void) { return 1; }\n")
    assert parse_bot("./quick.c", base=tmp_path).argv != first.argv
    assert compiler.read_text() == "call\ncall\n"


def test_what_does_not_compile_is_told_in_one_line(cache: Path, compiler: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text("wrong\n")
    with pytest.raises(BotCommandError, match=r"broken\.c does not compile: .*error: wrong$"):
        parse_bot("./broken.c", base=tmp_path)
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_replaced(
    monkeypatch: pytest.MonkeyPatch, compiler: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "quick.c").write_text("int main(void) { return 0; }\n")
    command = parse_bot("./quick.c", base=tmp_path)
    assert Path(command.argv[0]).is_relative_to(tmp_path / "temporary")


def test_the_c_sample_compiles_with_the_real_compiler(cache: Path, require_debian: Callable[[str, str], str]) -> None:
    require_debian("cc", "gcc")
    command = parse_bot("random-c")
    assert shutil.which(command.argv[0]) is not None
    assert command.name == "random-c"
