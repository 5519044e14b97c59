"""The folder: what is written into it; one run at a time; only the configuration that it was begun with."""

import subprocess
import sys
from pathlib import Path

import pytest

from lastcard.referee.tournament.config import load_config
from lastcard.referee.tournament.errors import FolderError, LedgerError
from lastcard.referee.tournament.folder import Folder, base_folder, check_usable, commitment, locked, open_tournament
from tests.tournament.fakes import WriteConfig


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "run")


def open_once(folder: Folder, path: Path) -> str:
    """Open the tournament as a run does, and say which seed it got."""
    with locked(folder):
        ledger, seed = open_tournament(folder, load_config(path))
        ledger.__exit__()
    return seed


def test_a_new_folder_holds_the_configuration_as_run(folder: Folder, write_config: WriteConfig) -> None:
    path = write_config(seed="any-text")
    assert open_once(folder, path) == "any-text"
    assert folder.config.read_text() == path.read_text()
    assert sorted(entry.name for entry in folder.path.iterdir()) == [
        "ledger.sqlite",
        "lock",
        "logs",
        "tournament.toml",
    ]
    assert open_once(folder, path) == "any-text"


def test_a_seed_that_is_left_out_is_drawn_once_and_kept_secret(folder: Folder, write_config: WriteConfig) -> None:
    path = write_config()
    path.write_text(path.read_text().replace('seed = "s1"\n', ""))
    seed = open_once(folder, path)
    assert len(seed) == 32
    assert folder.seed.stat().st_mode & 0o777 == 0o600
    assert open_once(folder, path) == seed
    folder.seed.write_text("other\n")
    with pytest.raises(FolderError, match="not the seed that the tournament was begun with"):
        open_once(folder, path)
    folder.seed.unlink()
    with pytest.raises(FolderError, match=r"master\.seed: the tournament's secret seed is missing"):
        open_once(folder, path)


def test_the_commitment_is_the_one_of_the_design() -> None:
    seed = "0123456789abcdef0123456789abcdef"
    assert commitment(seed) == "aeee017bd643a991d7df8803081ba09dd1b258f511330e32d717779d8dc477ef"


def test_a_changed_configuration_is_refused_with_the_lines_that_differ(
    folder: Folder, write_config: WriteConfig
) -> None:
    open_once(folder, write_config(blocks=4))
    with pytest.raises(LedgerError) as caught:
        open_once(folder, write_config(blocks=5))
    assert str(caught.value) == (
        f"{folder.path}: this tournament was begun with another configuration;"
        " give the file back its old content, or use another folder:\n"
        "--- as run\n+++ cup.toml\n@@ -5 +5 @@\n-blocks = 4\n+blocks = 5"
    )


def test_a_comment_is_no_change(folder: Folder, write_config: WriteConfig) -> None:
    path = write_config()
    seed = open_once(folder, path)
    path.write_text("# a comment\r\n" + path.read_text())
    assert open_once(folder, path) == seed


def test_another_configuration_without_ledger_is_not_overwritten(folder: Folder, write_config: WriteConfig) -> None:
    folder.path.mkdir()
    folder.config.write_text("mine")
    with pytest.raises(FolderError, match=r"another tournament\.toml here, but no ledger"):
        open_once(folder, write_config())
    assert folder.config.read_text() == "mine"


def test_the_copy_in_the_folder_goes_on_too_and_bots_keep_their_folder(
    folder: Folder, write_config: WriteConfig, tmp_path: Path
) -> None:
    path = write_config()
    open_once(folder, path)
    assert base_folder(folder, load_config(path)) == tmp_path
    assert base_folder(folder, load_config(folder.config)) == tmp_path
    assert open_once(folder, folder.config) == "s1"


def test_a_tournament_may_run_in_the_folder_of_its_file(write_config: WriteConfig) -> None:
    path = write_config()
    path = path.rename(path.with_name("tournament.toml"))
    folder = Folder(path.parent)
    open_once(folder, path)
    assert base_folder(folder, load_config(path)) == path.parent
    open_once(folder, path)


def test_a_second_run_is_refused_and_names_the_first(folder: Folder, tmp_path: Path) -> None:
    refused = pytest.raises(FolderError, match=r"run: another run, process \d+, is working on this folder")
    with locked(folder), refused, locked(folder):
        pass
    with locked(folder):
        pass


HOLD = """
import sys
from pathlib import Path
from lastcard.referee.tournament.folder import Folder, locked
with locked(Folder(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_dead_owner_holds_nothing(folder: Folder) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"held\n"
        with pytest.raises(FolderError, match=f"process {owner.pid}, is working"), locked(folder):
            pass
        owner.kill()
        owner.wait()
        with locked(folder):
            assert folder.lock.read_text().strip() != str(owner.pid)


def test_a_path_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = pytest.raises(FolderError, match="file: cannot use this folder: Not a directory")
    with refused, locked(Folder(tmp_path / "file")):
        pass


@pytest.mark.parametrize("content", ["notes.txt", "logs/0-0.jsonl", "results/ledger.sqlite"])
def test_a_folder_of_other_things_is_no_place_for_a_tournament(
    folder: Folder, write_config: WriteConfig, content: str
) -> None:
    stranger = folder.path / content
    stranger.parent.mkdir(parents=True)
    stranger.touch()
    with pytest.raises(FolderError, match="run: this folder is not empty and holds no tournament"):
        check_usable(folder, write_config())


def test_what_a_run_left_that_died_at_its_beginning_is_gone_on_with(folder: Folder, write_config: WriteConfig) -> None:
    path = write_config()
    check_usable(folder, path)
    folder.logs.mkdir(parents=True)
    for name in ("lock", "master.seed", "tournament.toml", "ledger.sqlite", "ledger.sqlite-wal"):
        (folder.path / name).touch()
    check_usable(folder, path)


def test_the_log_of_a_void_attempt_is_not_among_those_that_count(folder: Folder) -> None:
    folder.logs.mkdir(parents=True)
    assert folder.keep_void_log(3, 1, 1) == ""
    for attempt in (1, 2):
        folder.log(3, 1).write_text(f"{attempt}")
        name = folder.keep_void_log(3, 1, attempt)
        assert (folder.path / name).read_text() == f"{attempt}"
    assert list(folder.logs.glob("*.jsonl")) == []
