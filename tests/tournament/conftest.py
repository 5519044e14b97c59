"""What the tests of tournaments share: a configuration on disk; knows no process."""

import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))  # tests.tournament.fakes belongs to no installed package

from tests.tournament.fakes import WriteConfig  # noqa: E402  (needs the line above)


@pytest.fixture
def write_config(tmp_path: Path) -> WriteConfig:
    """`write_config(bots=3, ...)`: the path of a tournament file; further names are keys of [tournament]."""

    def write(*, bots: int = 3, seats: int = 2, blocks: int = 4, extra: str = "", **keys: object) -> Path:
        lines = ["[tournament]", 'name = "cup"', 'edition = "mario-kart"']
        lines += [f"seats = {seats}", f"blocks = {blocks}"]
        lines += [f"{key} = {value!r}".replace("'", '"') for key, value in {"seed": "s1", **keys}.items()]
        for number in range(bots):
            lines += ["[[bot]]", f'name = "bot{number}"', 'command = "random"']
        path = tmp_path / "cup.toml"
        path.write_text("\n".join(lines) + "\n" + extra)
        return path

    return write
