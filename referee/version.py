"""The software's version, as it is told to bots and written into logs."""

from importlib.metadata import PackageNotFoundError, version


def installed() -> str:
    """The installed version; `0` in a folder that was never installed."""
    try:
        return version("lastcard")
    except PackageNotFoundError:
        return "0"


VERSION = installed()

REFEREE = f"lastcard {VERSION}"
