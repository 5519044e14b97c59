"""That no two live bots share a user number; it knows no level."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lastcard.referee.sandbox import uids
from lastcard.referee.sandbox.uids import COUNT, FIRST, NoUid, reserve

HOLD = """
import sys
from lastcard.referee.sandbox import uids
from pathlib import Path
uids.PARENTS = (Path(sys.argv[1]),)
uids.COUNT = 3
held = uids.reserve()
print(held.uid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's locks are."""
    monkeypatch.setattr(uids, "PARENTS", (tmp_path,))
    return tmp_path


def test_each_is_given_once_until_it_is_given_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uids, "COUNT", 5)
    held = [reserve() for _ in range(5)]
    assert sorted(one.uid for one in held) == list(range(FIRST, FIRST + 5))
    with pytest.raises(NoUid, match="all 5 user numbers"):
        reserve()
    held[2].release()
    held[2].release()
    again = reserve()
    assert again.uid == held[2].uid
    for one in (*held, again):
        one.release()


def test_another_process_gets_another_until_it_is_killed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uids, "COUNT", 3)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        theirs = int(other.stdout.readline())
        held = [reserve(), reserve()]
        assert theirs not in {one.uid for one in held}
        with pytest.raises(NoUid):
            reserve()
        other.kill()
        other.wait()
        held.append(reserve())
        assert held[-1].uid == theirs
    for one in held:
        one.release()


def test_children_hold_no_number(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uids, "COUNT", 1)
    held = reserve()
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        held.release()
        reserve().release()
        child.kill()


@pytest.mark.parametrize("bad", ["open to others", "a file", "a link"])
def test_a_folder_that_somebody_else_has_prepared_is_not_trusted(bad: str, place: Path) -> None:
    folder = place / "lastcard-uids"
    match bad:
        case "open to others":
            folder.mkdir()
            folder.chmod(0o777)
        case "a file":
            folder.touch()
        case _:
            (place / "elsewhere").mkdir(mode=0o700)
            folder.symlink_to("elsewhere")
    with pytest.raises(NoUid, match="can hold the locks"):
        reserve()


def test_the_numbers_belong_to_nobody() -> None:
    assert FIRST > 60577, "systemd-homed has those before"
    assert FIRST + COUNT <= 61184, "systemd's dynamic users begin there"
    assert os.getuid() not in range(FIRST, FIRST + COUNT)
