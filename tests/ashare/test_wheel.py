"""The built wheels in environments of their own: the platform's without the server's packages, and the
client's, which has one top-level name."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from simulated_market.world.loader import load_world
from simulated_market.world.model import World
from tests.ashare.conftest import CommandLine
from tests.pipeline.conftest import TODAY, opened_services

ROOT = Path(__file__).parents[2]
LAKE = ("deltalake", "zstandard", "pymysql")
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
    assert "'.[server]'" in refused.stderr


@pytest.fixture(scope="module")
def sample_world() -> World:
    return load_world("synthetic", "S")


@pytest.fixture(scope="module")
def client_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("client")
    run(sys.executable, str(ROOT / "client_wheel/assemble.py"), str(folder / "source"), folder=folder)
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", str(folder / "dist"), str(folder / "source")),
        folder=folder,
    )
    (found,) = (folder / "dist").glob("ashare_client-*.whl")
    return found


def test_the_client_has_one_top_level_name_and_reads_an_api_and_the_upstreams(
    client_wheel: Path, tmp_path: Path, sample_world: World
) -> None:
    """The wheel unpacked beside the packages that it names, and nothing else: what is not among them, and the
    platform's own modules, cannot be imported."""
    with zipfile.ZipFile(client_wheel) as file:
        names = {name.partition("/")[0] for name in file.namelist()}
        file.extractall(tmp_path / "site")
    assert {name for name in names if not name.endswith(".dist-info")} == {"ashare"}
    blocked = (*SERVER, *LAKE, "core", "resources", "platform_assets", "simulated_market", "serving_api")
    script = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocked())
sys.path.insert(0, {str(tmp_path / "site")!r})
import ashare
assert {str(tmp_path)!r} in ashare.__file__
market = ashare.open("live:kept")
rows = market.read("kline_daily", codes="600040", since="2026-08-17", adjust="qfq")
assert len(market.datasets()) > 30 and rows.attrs["sources"]["kline_daily"], rows.attrs
try:
    market.read("kline_daily", codes="600041x")
except ashare.InputError as error:
    print(len(rows), error.parameter)
try:
    ashare.open("lake:somewhere")
except ashare.NotSupported as error:
    print(error)
try:
    ashare.open("http://127.0.0.1:9").read("kline_daily")
except ashare.Unavailable as error:
    print("unavailable")
"""
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    with opened_services(url, tmp_path, sample_world) as services:
        out = run(
            sys.executable,
            "-c",
            script,
            folder=tmp_path,
            DATA_SOURCE="mock",
            SIMULATOR_URL=services.settings.simulator_url,
            SIMULATOR_TDX=services.settings.simulator_tdx,
            SAMPLE_NOW=f"{TODAY}T15:45",
        )
    lines = out.splitlines()
    assert (lines[0], lines[2]) == ("5 codes", "unavailable")
    assert "extra `lake`" in lines[1]


@pytest.mark.soak
def test_the_client_is_installed_by_one_command(client_wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", str(tmp_path / "venv"), folder=tmp_path)
    python = str(tmp_path / "venv" / "bin" / "python")
    constraints = ("-c", str(ROOT / "constraints.txt"))
    run(python, "-m", "pip", "install", "--quiet", *constraints, str(client_wheel), folder=tmp_path)

    listed = run(python, "-m", "pip", "list", "--format=freeze", folder=tmp_path).lower()
    assert not [name for name in (*SERVER, *LAKE) if f"\n{name}==" in listed]
    site = next((tmp_path / "venv/lib").glob("python3*/site-packages"))
    big = {"numpy", "numpy.libs", "pandas", "pyarrow", "pip", "setuptools"}
    own = sum(
        file.stat().st_size
        for file in site.rglob("*")
        if file.is_file() and file.suffix != ".pyc" and file.relative_to(site).parts[0] not in big
    )
    assert own < 80 * 1024**2, own
    assert run(python, "-c", "import ashare; print(ashare.open('live:kept'))", folder=tmp_path).startswith(
        "Client"
    )
