"""What is said where a machine cannot give a level; it knows no bot."""

from collections.abc import Callable, Iterator

import pytest

from lastcard.referee.sandbox import machine
from lastcard.referee.sandbox.levels import Level
from lastcard.referee.sandbox.machine import missing
from lastcard.referee.sandbox.trial import Outcome
from tests.sandbox.inside import BASIC, NONE, STRICT


@pytest.fixture(autouse=True)
def _forgetful() -> Iterator[None]:
    missing.cache_clear()
    yield
    missing.cache_clear()


def test_this_machine_gives_every_level(require_debian: Callable[[str, str], str]) -> None:
    require_debian("setpriv", "util-linux")
    require_debian("bwrap", "bubblewrap")
    assert [missing(level) for level in Level] == [None, None, None]


@pytest.mark.parametrize(
    ("level", "program", "package"),
    [
        (BASIC, "setpriv", "util-linux"),
        (BASIC, "prlimit", "util-linux"),
        (STRICT, "setpriv", "util-linux"),
        (STRICT, "bwrap", "bubblewrap"),
    ],
)
def test_a_missing_program_is_named_with_its_package(
    level: Level, program: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def which(name: str, path: str | None = None) -> str | None:
        return None if name == program else f"/usr/bin/{name}"

    monkeypatch.setattr("shutil.which", which)
    assert missing(level) == f"the program {program} is missing (Debian: apt-get install {package})"
    assert missing(NONE) is None


@pytest.mark.parametrize("level", [BASIC, STRICT])
def test_another_system_has_none(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert missing(level) == f"the level {level} needs Linux"


NAMESPACES = "bwrap: setting up uid map: Permission denied"


@pytest.mark.parametrize(
    ("file", "bad", "remedy"),
    [
        ("kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
        ("user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"),
    ],
)
def test_a_setting_of_the_kernel_is_named(file: str, bad: str, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_tried", lambda level: Outcome(False, None, NAMESPACES))
    monkeypatch.setattr(machine, "_setting", lambda asked: bad if asked == file else None)
    monkeypatch.setattr(machine, "is_root", lambda: False)
    monkeypatch.setattr("shutil.which", lambda name, path=None: name)
    assert missing(STRICT) == f"user namespaces are switched off for ordinary users ({remedy})"


@pytest.mark.parametrize(
    ("complaint", "said"),
    [
        (NAMESPACES, f"the level strict does not work on this machine ({NAMESPACES})"),
        (
            "bwrap: Unknown option --disable-userns",
            "bubblewrap is older than 0.8 (bwrap: Unknown option --disable-userns)",
        ),
    ],
)
def test_else_the_complaint_is_quoted(complaint: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_tried", lambda level: Outcome(False, None, complaint))
    monkeypatch.setattr(machine, "is_root", lambda: True)
    monkeypatch.setattr("shutil.which", lambda name, path=None: name)
    assert missing(STRICT) == said
