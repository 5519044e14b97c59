"""The facts about the machine: this one, and one without what a sandbox uses."""

import os
from pathlib import Path

import pytest

from lastcard.referee.cages import Cage
from lastcard.referee.doctor.cage_powers import Powers, powers
from lastcard.referee.doctor.machine import machine, runtimes, user_namespaces, version_of
from lastcard.referee.hardening import harden


def test_this_machine() -> None:
    harden()
    found = machine()
    assert found.cores >= 1
    assert found.uid == os.geteuid()
    assert found.subreaper == Path("/proc").exists()
    assert found.clock_ns > 0
    assert set(found.programs) == {"bwrap", "setpriv", "prlimit"}
    assert {"node", "cc", "sh"} <= set(found.runtimes)
    assert len(runtimes()) == len(set(runtimes()))


def test_a_machine_that_has_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(Cage, "make", classmethod(lambda *_, **__: None))
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    found = machine(tmp_path)
    assert set(found.programs.values()) == {None}
    assert set(found.runtimes.values()) == {None}
    assert found.cage == Powers()
    assert (found.pressure, found.pidfd, found.memory_mb) == (False, False, None)
    assert found.user_namespaces == "not known here"


def test_trying_a_cage_leaves_none() -> None:
    folders = [Path(folder) for folder in powers().folders]
    assert powers().folders == [str(folder) for folder in folders]
    assert not [name for folder in folders for name in folder.glob(f"lastcard-{os.getpid()}-1*")]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"user/max_user_namespaces": "0\n"}, "off (user.max_user_namespaces is 0)"),
        (
            {"user/max_user_namespaces": "9\n", "kernel/unprivileged_userns_clone": "0\n"},
            "for root only (kernel.unprivileged_userns_clone is 0)",
        ),
        (
            {"user/max_user_namespaces": "9\n", "kernel/apparmor_restrict_unprivileged_userns": "1\n"},
            "restricted by AppArmor (kernel.apparmor_restrict_unprivileged_userns is 1)",
        ),
        ({"user/max_user_namespaces": "9\n", "kernel/unprivileged_userns_clone": "1\n"}, "on"),
    ],
)
def test_the_switches_of_user_namespaces(tmp_path: Path, files: dict[str, str], words: str) -> None:
    for name, text in files.items():
        path = tmp_path / "sys" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert user_namespaces(tmp_path) == words


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ("echo tool from suite 1.2", "1.2"),
        ("exit 0", "unknown"),
        (None, None),
    ],
)
def test_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, version: str | None) -> None:
    if script is not None:
        tool = tmp_path / "tool"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert version_of("tool") == version
