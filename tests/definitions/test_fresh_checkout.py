"""Dagster's own commands on a checkout where nothing is configured: offline, on the simulated market."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from core.processes import alive
from platform_assets.definitions.resources import (
    CalendarResource,
    ClockResource,
    UpstreamsResource,
    WarehouseResource,
    simulated_by_default,
)
from resources.settings import load_settings
from resources.simulated_market_process import needs_market

ROOT = Path(__file__).parents[2]
LOCATION = "schedules.code_location"
DAY = "2026-08-21"
SECRET = "correct-horse"


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Of a shell in which nothing of ours is set; `dagster` finds the checkout."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "DATA_DIR": str(folder / "data"),
        "ENV_FILE": str(folder / "none"),
        **more,
    }


def run(*command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_loading_the_definitions_opens_no_database_and_makes_no_file(tmp_path: Path) -> None:
    url = f"mysql+pymysql://user:{SECRET}@127.0.0.1:1/nothing"
    code = (
        "import dagster, subprocess, threading; subprocess.Popen.__init__ = None; "
        f"import {LOCATION} as found; "
        "found.defs.get_repository_def(); "
        "print({name: repr(one) for name, one in found.defs.resources.items()}, threading.active_count())"
    )

    done = run("-c", code, folder=tmp_path, WAREHOUSE_URL=url)

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" 1\n")
    assert SECRET not in done.stdout
    assert list(tmp_path.rglob("*")) == []


def test_the_definitions_are_valid_for_dagsters_own_command(tmp_path: Path) -> None:
    done = run("-m", "dagster", "definitions", "validate", "-m", LOCATION, folder=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "data").exists()


def test_an_asset_is_materialized_from_the_simulated_market_without_any_setting(tmp_path: Path) -> None:
    done = run(
        "-m", "dagster", "asset", "materialize", "-m", LOCATION,
        "--select", 'key:"raw/raw_quote"', "--partition", DAY,
        folder=tmp_path, SAMPLE_NOW=f"{DAY}T20:00",
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    with closing(sqlite3.connect(tmp_path / "data" / "warehouse.sqlite3")) as connection:
        (rows,) = connection.execute("SELECT COUNT(*) FROM raw_quote WHERE trade_date=?", (DAY,)).fetchone()
        (world,) = connection.execute("SELECT DISTINCT world FROM sys_batch").fetchone()
    assert rows > 10
    assert world == "sample"
    assert processes_of(tmp_path) == []


def test_the_market_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from resources.settings import process_settings\n"
        "from resources.simulated_market_process import ChildMarket\n"
        "market = ChildMarket(process_settings()); market.start(); market.start()\n"
        "print(market.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path, DATA_SOURCE="mock"),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    market = int(parent.stdout.readline())
    assert processes_of(tmp_path) == [market]

    parent.send_signal(signal.SIGKILL)
    parent.wait()

    until = time.monotonic() + 20
    while alive(market) and processes_of(tmp_path) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes_of(tmp_path) == []


def processes_of(folder: Path) -> list[int]:
    """Ids of the processes whose command line names the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in command:
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize(("given", "source", "market"), [
    ({}, "mock", True),
    ({"SIMULATOR_URL": "http://127.0.0.1:1"}, "mock", False),
    ({"DATA_SOURCE": "real"}, "real", False),
    ({"DATA_SOURCE": "direct"}, "direct", False),
])  # fmt: skip
def test_real_sites_are_asked_only_where_somebody_said_so(
    given: dict[str, str], source: str, market: bool, tmp_path: Path
) -> None:
    settings = simulated_by_default(load_settings(given, dotenv=tmp_path / "none"))

    assert (settings.data_source, needs_market(settings)) == (source, market)


def test_opening_the_upstreams_starts_no_market_before_one_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATA_SOURCE", "SIMULATOR_URL", "SIMULATOR_TDX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("ENV_FILE", str(tmp_path / "none"))
    upstreams = UpstreamsResource(clock=ClockResource(), calendar=CalendarResource(), first_source_only=True)

    opened = upstreams.open()

    assert opened.direct
    assert upstreams.open() is opened
    assert processes_of(tmp_path) == []
    opened.close()


def test_a_run_can_freeze_its_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    clock = ClockResource(frozen_at=f"{DAY}T09:00")
    warehouse = WarehouseResource(clock=clock)

    opened = warehouse.open()

    assert clock.open().now().isoformat() == f"{DAY}T09:00:00"
    assert opened.clock.now().isoformat() == f"{DAY}T09:00:00"
    assert warehouse.open() is opened
    opened.close()
