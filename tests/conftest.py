"""What all tests share: Hypothesis profile, clean environment, Debian's programs; knows no rule."""

import os
import shutil
import signal
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

RequireDebian = Callable[[str, str], str]

# Bots that forget to flush look fine while this is set, and children inherit it.
os.environ.pop("PYTHONUNBUFFERED", None)

# A shell starts what runs in its background with these ignored, nohup too, and programs under test would inherit it.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# The same examples in every run, so that a red run is red again; `--hypothesis-profile=explore` looks for new
# ones. Times are not judged: the machine is shared.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("explore", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")


@pytest.fixture(scope="session")
def require_debian() -> RequireDebian:
    """`require_debian(binary, package)`: the path of a program that a Debian package brings.

    A developer without it sees which package to install; in continuous integration its absence is a failure,
    because .ci/run installs what the tests need.
    """

    def find(binary: str, package: str) -> str:
        path = shutil.which(binary)
        if path is None:
            reason = f"needs the program {binary}: apt-get install {package}"
            if os.environ.get("LASTCARD_CI") == "1":
                pytest.fail(f"{reason} (.ci/run should have)")
            pytest.skip(reason)
        return path

    return find
