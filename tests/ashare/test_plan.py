"""`ashare plan`: what a load would cost before it starts."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from resources.upstreams.tdx.bars import PAGE
from resources.upstreams.tdx_packages.client import ALL_BARS
from tests.ashare.conftest import DAYS, CommandLine

BARS = ("--datasets", "kline_daily")


def ways(cli: CommandLine, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli.result("plan", *arguments)["ways"]
    return found


def by_kind(cli: CommandLine, *arguments: str) -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in ways(cli, *arguments)}


def test_ten_years_of_one_stock_are_a_few_calls_and_those_of_the_market_a_package(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_SOURCE", "real")
    since = "2016-01-04"
    dates = len(shipped_calendar().between(since, DAYS[2]))

    one = ways(cli, *BARS, "--codes", "sh600519", "--since", since)
    assert [way["kind"] for way in one] == ["load", "package"]
    assert (one[0]["sources"][0]["source"], one[0]["calls"]) == ("tdx", -(-(dates + 1) // PAGE))
    assert one[0]["command"] == f"ashare load kline_daily --codes 600519 --since {since}"

    market = ways(cli, *BARS, "--since", since)
    assert [way["kind"] for way in market] == ["package", "load"]
    assert market[0]["bytes"] == ALL_BARS.usual
    assert market[0]["minutes"] > 1
    assert market[0]["command"].startswith("ashare download bars")
    assert market[1]["command"] == f"ashare backfill kline_daily --from {since} --to {DAYS[2]}"
    # Ten calls in ten minutes are what the portal's host of bars gives.
    portal = next(source for source in market[1]["sources"] if source["source"] == "eastmoney")
    assert portal["minutes"] > 100_000


def test_the_pacing_in_force_makes_the_minutes(cli: CommandLine) -> None:
    """The simulated market is asked without pauses."""
    assert all(source["minutes"] == 0 for source in by_kind(cli, *BARS)["load"]["sources"])


def test_files_that_are_there_cost_no_call(cli: CommandLine) -> None:
    folder = cli.folder / "data" / "packages" / "sh" / "lday"
    folder.mkdir(parents=True)
    (folder / "sh600519.day").write_bytes(bytes(32 * 100))
    cheapest = ways(cli, *BARS)[0]
    assert (cheapest["kind"], cheapest["calls"], cheapest["bytes"]) == ("import", 0, 3200)
    assert cheapest["command"] == f"ashare import {cli.folder / 'data' / 'packages'}"
    assert by_kind(cli, *BARS, "--folder", str(folder))["import"]["command"] == f"ashare import {folder}"


def test_a_dataset_without_declared_calls_says_what_is_not_known(cli: CommandLine) -> None:
    market = by_kind(cli, "--datasets", "margin")["load"]
    assert "raw_margin" in market["note"]
    assert market["sources"] == []
    assert cli("plan", "--datasets", "margin", "--codes", "600519") == 0
    assert "`ashare add --plan`" in cli.out


def test_before_anything_is_loaded_there_is_no_database(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", f"sqlite:///{tmp_path / 'none' / 'warehouse.sqlite3'}")
    assert cli("plan") == 0
    assert cli.out.splitlines()[0].startswith("the whole market, 2016-01-01 to 2026-08-21: ")


@pytest.mark.parametrize(
    ("arguments", "parameter", "says"),
    [
        (("--datasets", "kline_dialy"), "datasets", "nearest: kline_daily"),
        (("--codes", "gold"), "codes", "'gold' is no code"),
        (("--from", "2026-13-01"), "since", "2026-13-01"),
        (("--from", "2026-08-01", "--to", "2026-08-02"), "to", "no trade date from 2026-08-01 to 2026-08-02"),
    ],
)
def test_a_bad_value_names_its_parameter(
    cli: CommandLine, arguments: tuple[str, ...], parameter: str, says: str
) -> None:
    fault = cli.fault("plan", *arguments)
    assert fault["parameter"] == parameter, json.dumps(fault)
    assert says in fault["error"]
