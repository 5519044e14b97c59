"""What tests/conftest.py promises to all tests: programs of the system, the environment, fixed examples."""

import os
from collections.abc import Callable

import pytest
from hypothesis import settings

RequireDebian = Callable[[str, str], str]
MISSING = ("no-such-program", "no-such-package")


def test_a_program_that_is_there(require_debian: RequireDebian) -> None:
    assert os.access(require_debian("sh", "dash"), os.X_OK)


def test_a_missing_program_skips_and_names_the_package(
    require_debian: RequireDebian, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LASTCARD_CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install no-such-package"):
        require_debian(*MISSING)


def test_a_missing_program_fails_in_continuous_integration(
    require_debian: RequireDebian, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LASTCARD_CI", "1")
    with pytest.raises(pytest.fail.Exception, match="apt-get install no-such-package"):
        require_debian(*MISSING)


def test_children_buffer_as_they_do_elsewhere() -> None:
    assert "PYTHONUNBUFFERED" not in os.environ


def test_examples_are_the_same_in_every_run(request: pytest.FixtureRequest) -> None:
    explored = request.config.getoption("--hypothesis-profile") is not None
    assert settings().derandomize != explored
