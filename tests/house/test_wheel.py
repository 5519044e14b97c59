"""What an installation holds, compared with the folders: no new subfolder or kind of file is left behind."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
ROOMS = ("engine", "protocol", "referee", "sample_bots")
SHIPPED = (*ROOMS, "vectors")
"""Everything that an installation holds: the rooms, and the vectors as data."""
# What a source distribution must hold, so that `make demo` and `make test` work from it.
FOLDERS = (*SHIPPED, ".ci", "bench", "tests", *(["docs"] if (TOP / "docs").is_dir() else []))
FILES = """CHANGELOG.md CONTRIBUTING.md LICENSE MANIFEST.in Makefile README.md constraints.txt pyproject.toml
spec.md""".split()


def files_of_rooms(top: Path) -> set[str]:
    """Every file of the rooms and of the vectors by the name it is to have in an installation."""
    return {
        f"lastcard/{path.relative_to(top).as_posix()}"
        for room in SHIPPED
        for path in (top / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def run(*command: str | Path, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with a few files more, of kinds and at depths that nobody listed anywhere."""
    copy = tmp_path_factory.mktemp("source") / "lastcard"
    for folder in FOLDERS:
        shutil.copytree(TOP / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(TOP / name, copy / name)
    for name in ("engine/planted/__init__.py", "engine/planted/deep.py", "sample_bots/planted/bot.xyz"):
        path = copy / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("", encoding="utf-8")
    stale = copy / "engine" / "__pycache__"
    stale.mkdir()
    (stale / "stale.cpython-311.pyc").write_bytes(b"")
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    """The wheel, built as a release is: from a source distribution, with what is installed here."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", cwd=source)
    (built,) = (source / "dist").glob("*.whl")
    return built


def test_rooms_are_the_packages() -> None:
    table = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert table["packages"] == [f"lastcard.{room}" for room in SHIPPED]
    assert table["package-dir"] == {f"lastcard.{room}": room for room in SHIPPED}
    with_code = {path.parent.name for path in TOP.glob("*/py.typed")}
    assert with_code == set(ROOMS)


def test_wheel_holds_what_the_folders_hold(source: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    ours = {name for name in names if ".dist-info/" not in name}
    assert ours == files_of_rooms(source)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_source_distribution_holds_what_the_checks_need(source: Path, wheel: Path) -> None:
    (built,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        packed = {name.partition("/")[2] for name in (member.name for member in archive if member.isfile())}
    needed = {
        path.relative_to(source).as_posix()
        for folder in FOLDERS
        for path in (source / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert needed | set(FILES) == {name for name in packed if "egg-info/" not in name} - {
        "PKG-INFO",
        "setup.cfg",
    }


def test_wheel_installs_and_imports_in_an_empty_environment(source: Path, wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", "empty", cwd=tmp_path)
    python = tmp_path / "empty" / "bin" / "python"
    install = ("install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile")
    run(sys.executable, "-m", "pip", "--python", python, *install, wheel, cwd=tmp_path)
    (packages,) = (tmp_path / "empty" / "lib").glob("python*/site-packages")
    installed = {path.relative_to(packages).as_posix() for path in (packages / "lastcard").rglob("*") if path.is_file()}
    assert installed == files_of_rooms(source)
    # The engine needs nothing but Python, so it runs even here, where no dependency is.
    code = "import lastcard.engine as engine, lastcard.engine.planted.deep; print(engine.__file__)"
    assert str(packages) in run(python, "-I", "-c", code, cwd=tmp_path)
    assert (tmp_path / "empty" / "bin" / "lastcard").is_file()
