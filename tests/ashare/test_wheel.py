"""The built wheel in an environment of its own: the client without the server's packages."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.ashare.conftest import CommandLine

ROOT = Path(__file__).parents[2]
SERVER = ("dagster", "fastapi", "starlette", "uvicorn", "anthropic", "openai", "numba")


def run(*command: str, folder: Path, **environ: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the sources."""
    copy = tmp_path_factory.mktemp("wheel") / "source"
    copy.mkdir()
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    for name in (*(one.rstrip("*") for one in packages["include"]),):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", str(copy / "dist"), str(copy)),
        folder=copy,
    )
    (found,) = (copy / "dist").glob("*.whl")
    return found


SCRIPT = """
import sys, ashare
assert {place!r} in ashare.__file__, ashare.__file__
market = ashare.open("data")
rows = market.read("kline_daily", codes=["600519"], adjust="qfq")
panel = market.panel("kline_daily", "close", since="2026-08-19")
assert len(rows) == 3 and panel.codes == ("000001", "600519"), rows
assert market.describe("fund_flow")["columns"][4]["unit"] == "CNY"
print("read", len(rows))
"""


def test_the_wheel_reads_a_folder_where_no_package_of_the_server_is(cli: CommandLine, wheel: Path) -> None:
    """The wheel unpacked, its modules before those of the checkout, the server's packages blocked."""
    place = cli.folder / "site"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(place)
    block = (
        f"import sys\nsys.path.insert(0, {str(place)!r})\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {SERVER!r}:\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Blocked())\n"
    )

    out = run(sys.executable, "-c", block + SCRIPT.format(place=str(place)), folder=cli.folder)

    assert out == "read 3\n"


@pytest.mark.soak
def test_one_command_installs_the_client_into_another_environment(cli: CommandLine, wheel: Path) -> None:
    place = cli.folder / "venv"
    run(sys.executable, "-m", "venv", str(place), folder=cli.folder)
    python = str(place / "bin" / "python")
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "-c",
        str(ROOT / "constraints.txt"),
        str(wheel),
        folder=cli.folder,
    )

    listed = run(python, "-m", "pip", "list", "--format=freeze", folder=cli.folder).lower()
    assert not [name for name in SERVER if f"\n{name}==" in listed]
    assert run(python, "-c", SCRIPT.format(place=str(place)), folder=cli.folder) == "read 3\n"
    times = [
        float(
            run(
                python,
                "-c",
                "import time; a = time.perf_counter(); import ashare; print(time.perf_counter() - a)",
                folder=cli.folder,
            )
        )
        for _ in range(3)
    ]
    assert min(times) < 0.3
    refused = subprocess.run(
        [place / "bin" / "ashare", "doctor"], cwd=cli.folder, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "ashare-platform[server]" in refused.stderr
