"""What is said against a bot before it is started, and the files that a strict one gets to see."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from lastcard.referee.bot_command import BotCommand
from lastcard.referee.sandbox import launch, visible
from lastcard.referee.sandbox.launch import problem
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.sandbox.visible import needs_of, outermost
from tests.sandbox.inside import BASIC, ENVIRONMENT, NONE, STRICT, done

ROOT = os.geteuid() == 0


@pytest.fixture(autouse=True, scope="module")
def _programs(require_debian: Callable[[str, str], str]) -> None:
    require_debian("setpriv", "util-linux")
    require_debian("bwrap", "bubblewrap")


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lastcard-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own."""
    home = folder / "people" / "ann"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def script(path: Path, text: str = "#!/bin/sh\n", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def asked(
    argv: Sequence[object], *, cwd: Path | None = None, hidden: Sequence[Path] = (), read: Sequence[object] = ()
) -> str | None:
    sandbox = Sandbox(level=STRICT, read=tuple(map(str, read)))
    return problem(BotCommand("bot", tuple(map(str, argv)), cwd=cwd), sandbox, hidden)


# ---- problems


def test_a_good_bot_has_none(folder: Path) -> None:
    bot = script(folder / "bots" / "mine")
    assert asked([bot], cwd=bot.parent, hidden=[folder / "cup"], read=[folder]) is None


def test_our_own_python_and_files_named_in_the_command(folder: Path) -> None:
    bot = script(folder / "bots" / "mine.py", mode=0o644)
    assert asked([sys.executable, bot, "--deep", f"--book={script(folder / 'book')}", "/proc/self/mem", "-"]) is None


@pytest.mark.parametrize("level", [BASIC, STRICT])
def test_a_program_that_is_not_there(level: Level) -> None:
    for word in ("/no/such/bot", "no-such-program"):
        command = BotCommand("bot", (word,))
        assert problem(command, Sandbox(level=level), ()) == f"there is no program {word!r}"
        assert problem(command, Sandbox(), ()) is None


@pytest.mark.parametrize("place", [".", ".."])
def test_a_bot_in_the_home_folder(place: str, home: Path) -> None:
    bot = script(home / place / "bot")
    said = asked([bot], cwd=home / place)
    assert said is not None
    assert said.startswith("the bot lies in your home folder" if place == "." else "the bot lies in '")
    assert said.endswith(", which a strict bot may not see: put it into a folder of its own")


def test_a_bot_below_the_home_folder(home: Path) -> None:
    bot = script(home / "bots" / "bot")
    assert asked([bot], cwd=bot.parent) is None


@pytest.mark.parametrize("place", ["/", "/etc", "/var", "/home"])
def test_a_bot_in_a_folder_of_the_system(place: str) -> None:
    said = asked(["/bin/true"], cwd=Path(place))
    assert said is not None
    assert said.endswith(", which a strict bot may not see: put it into a folder of its own")


def test_a_bot_in_tmp_itself_sees_its_own_file_alone() -> None:
    with tempfile.NamedTemporaryFile("w", prefix="lastcard-bot", dir="/tmp", delete=False) as file:
        file.write("#!/bin/sh\npwd; ls\n")
    bot = Path(file.name)
    try:
        bot.chmod(0o755)
        assert asked([bot], cwd=Path("/tmp")) is None
        assert done([f"./{bot.name}"], Sandbox(level=STRICT), cwd=Path("/tmp")).out == f"/tmp\n{bot.name}\n"
    finally:
        bot.unlink()


def test_a_folder_that_is_not_there(folder: Path) -> None:
    assert asked(["/bin/true"], cwd=folder / "gone") == f"there is no folder {str(folder / 'gone')!r}"


@pytest.mark.parametrize("what", ["program", "argument", "folder"])
def test_a_bot_that_needs_what_is_hidden(what: str, folder: Path) -> None:
    bot = script(folder / "cup" / "bot")
    cases: dict[str, tuple[list[object], Path]] = {
        "program": ([bot], folder),
        "argument": (["/bin/cat", bot], folder),
        "folder": (["/bin/true"], bot.parent),
    }
    argv, cwd = cases[what]
    said = asked(argv, cwd=cwd, hidden=[folder / "cup"])
    assert said is not None
    assert said.endswith(f"but {str(folder / 'cup')!r} is hidden from all bots")


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("/no/such/data", "but there is nothing of that name"),
        ("/", "which is too much: name what is needed in it"),
        ("/tmp", "which is too much: name what is needed in it"),
        ("/proc/1", "which is too much: name what is needed in it"),
        ("~", "which is too much: name what is needed in it"),
    ],
)
def test_what_it_may_read_has_to_be_there_and_not_too_much(word: str, what: str, home: Path) -> None:
    word = str(home) if word == "~" else word
    assert asked(["/bin/true"], read=[word]) == f"it may read {word!r}, {what}"


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_a_file_that_another_user_may_not_read(folder: Path) -> None:
    bot = script(folder / "bot", mode=0o700)
    assert asked([bot], cwd=folder) == (
        f"a strict bot may not use {str(bot)!r} (mode 0700); bots run as users of their own: chmod -R o+rX"
    )


def test_the_machine_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "missing", lambda level: f"no {level} here")
    assert asked(["/no/such/bot"]) == "no strict here"
    assert problem(BotCommand("bot", ("/bin/true",)), Sandbox(level=NONE), ()) is None


# ---- what is shown


def shown(*argv: object, cwd: Path | None = None, path: str = "/usr/bin:/bin") -> set[Path]:
    needs = needs_of(BotCommand("bot", tuple(map(str, argv)), cwd=cwd), {"PATH": path})
    assert needs is not None
    return set(needs.shown)


def test_a_virtual_environment_brings_itself_and_its_base(folder: Path) -> None:
    base = script(folder / "python" / "bin" / "python3.11").parent.parent
    (base / "lib").mkdir()
    venv = folder / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text(f"home = {base}/bin\nversion = 3.11\n")
    (venv / "bin" / "python3").symlink_to(base / "bin" / "python3.11")
    (venv / "bin" / "python").symlink_to("python3")
    assert shown(venv / "bin" / "python") == {venv, base}


def test_a_copied_virtual_environment_brings_its_base_too(folder: Path) -> None:
    base = script(folder / "python" / "bin" / "python3.11").parent.parent
    (base / "lib").mkdir()
    venv = script(folder / "venv" / "bin" / "python").parent.parent
    (venv / "pyvenv.cfg").write_text(f"home={base}/bin\n")
    assert shown(venv / "bin" / "python") == {venv, base}


def test_each_link_on_the_way_is_shown(folder: Path) -> None:
    real = script(folder / "store" / "bot")
    (folder / "second").symlink_to(real)
    (folder / "first").symlink_to("second")
    assert shown(folder / "first") == {folder / "first", folder / "second", real}


def test_links_that_go_round_end(folder: Path) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    assert shown(folder / "a") == {folder / "a", folder / "b"}


def test_the_interpreter_of_a_script_is_shown_and_that_which_env_finds(folder: Path) -> None:
    language = script(folder / "language" / "bin" / "talk").parent.parent
    (language / "lib").mkdir()
    one = script(folder / "one" / "bot", f"#!{language}/bin/talk -x\n")
    two = script(folder / "two" / "bot", "#!/usr/bin/env -S A=b talk\n")
    assert shown(one, cwd=one.parent) == {one.parent, language}
    assert shown(two, cwd=two.parent, path=f"{language}/bin:/usr/bin") == {two.parent, language}


def test_a_program_in_a_folder_of_programs_without_libraries_comes_alone(folder: Path) -> None:
    """Or the bots beside it would be seen."""
    bot = script(folder / "bots" / "bin" / "mine")
    script(folder / "bots" / "bin" / "theirs")
    assert shown(bot) == {bot}


def test_of_a_home_folder_nothing_comes_as_a_whole(home: Path) -> None:
    for name in ("lib", ".local/lib"):
        (home / name).mkdir(parents=True)
    bot = script(home / "bin" / "bot")
    assert shown(bot) == {bot}
    bot = script(home / ".local" / "bin" / "bot")
    assert shown(bot) == {bot}
    book = script(home / "book")
    assert shown("/bin/cat", f"--book={book}") == {book}


def test_files_in_the_command_come_with_their_folders(folder: Path) -> None:
    net = script(folder / "data" / "net.bin")
    assert shown("/bin/cat", "--net", net) == {net.parent}
    assert shown("/bin/cat", "/etc/passwd", "/dev/null", "/proc/self/maps") == {Path("/etc/passwd")}


def test_a_bot_cannot_show_itself_what_it_likes(folder: Path, home: Path) -> None:
    """Links, `#!` lines and the file of a virtual environment may be its own work."""
    secret = script(home / "keys" / "id", mode=0o600)
    mine = folder / "mine"
    bot = script(mine / "bot", f"#!/usr/bin/env -S -u {secret} /bin/sh\n")
    (mine / "book").symlink_to(secret)
    (mine / "data").symlink_to(secret.parent)
    assert shown(bot, "book", "data", cwd=mine) == {mine}
    python = script(mine / "venv" / "bin" / "python")
    (mine / "venv" / "pyvenv.cfg").write_text(f"home = {secret.parent}/bin\n")
    assert shown(python, cwd=mine) == {mine}
    said = asked([bot, "book"], cwd=mine)
    assert said is not None
    assert said.endswith("name what this link leads to in read = [...]")
    if not ROOT:
        assert asked([bot, "book"], cwd=mine, read=["book"]) is None


def test_what_is_below_another_is_left_out(folder: Path) -> None:
    inner = script(folder / "a" / "b" / "c")
    script(folder / "ab")
    paths = [inner, folder / "a", folder / "ab", Path("/usr/bin/env"), Path("/bin/sh"), folder / "gone"]
    assert outermost(paths) == (folder / "a", folder / "ab")


def test_shims_bring_their_manager(folder: Path) -> None:
    shim = script(folder / "pyenv" / "shims" / "python")
    (folder / "pyenv" / "versions").mkdir()
    assert shown("python", path=str(shim.parent)) == {folder / "pyenv"}


# ---- what is hidden


def test_a_hidden_place_is_hidden_under_every_name(folder: Path) -> None:
    (folder / "real" / "cup").mkdir(parents=True)
    (folder / "real" / "cup" / "seed").write_text("secret")
    (folder / "name").symlink_to("real")
    ended = done(
        ["/bin/sh", "-c", "ls -A cup; cat cup/seed"],
        Sandbox(level=STRICT),
        cwd=folder / "name",
        hidden=[folder / "real" / "cup"],
    )
    assert ended.out == ""
    assert ended.code != 0


def test_a_hidden_folder_above_what_it_may_read_stays_hidden(folder: Path) -> None:
    book = script(folder / "cup" / "book", "openings", mode=0o644)
    ended = done(["/bin/cat", str(book)], Sandbox(level=STRICT, read=(str(book),)), hidden=[folder / "cup"])
    assert (ended.code, ended.out) == (1, "")


def test_what_is_hidden_and_not_there_yet(folder: Path) -> None:
    """Its folder is covered, unless the bot would lose what it needs."""
    bot = script(folder / "bot" / "run", "#!/bin/sh\nls -A . logs; exec sleep 0\n")
    (folder / "bot" / "logs").mkdir()
    script(folder / "bot" / "logs" / "old.log")
    hidden = [folder / "bot" / "logs" / "new.log", folder / "bot" / "next.log", folder / "gone" / "x"]
    ended = done([str(bot)], Sandbox(level=STRICT), cwd=bot.parent, hidden=hidden)
    assert ended[:2] == (0, ".:\nlogs\nrun\n\nlogs:\n"), ended.err


def test_a_path_folder_that_is_not_inside_is_not_in_path(folder: Path) -> None:
    given = ENVIRONMENT | {"PATH": f"relative:{folder}:/etc:/usr/bin"}
    ended = done(["/bin/sh", "-c", "echo $PATH"], Sandbox(level=STRICT), environment=given)
    assert ended.out == "/usr/bin\n"


def test_the_systems_folders_are_as_they_are() -> None:
    ended = done(["/bin/ls", "-l", "/"], Sandbox(level=STRICT))
    for name in visible.SYSTEM:
        if Path(name).is_symlink():
            assert f"{name[1:]} -> {os.readlink(name)}" in ended.out
