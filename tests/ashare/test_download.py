"""`ashare download`: packages of the simulated publisher into a folder, and then into the platform."""

import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock
from core.market.securities import FUNDS, sec_type_of
from resources.settings import Settings
from resources.transport.gate import OpenGate
from resources.upstreams.factory import terminal_client
from resources.upstreams.tdx.client import TdxClient
from resources.upstreams.tdx_packages import archives, client
from resources.upstreams.tdx_packages.arrays import iso
from resources.upstreams.tdx_packages.day_files import read_day, symbol_of
from resources.upstreams.tdx_packages.events import read_events
from resources.upstreams.tdx_packages.reports import read_reports
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from tests.ashare.conftest import CommandLine

EVENING = datetime(2026, 8, 21, 18, 30)
DAY, BEFORE = "2026-08-21", "2026-08-20"
TRADED = FUNDS | {"stock", "cb"}


@pytest.fixture(scope="module")
def market() -> Iterator[SimulatedMarket]:
    with SimulatedMarket(load_world("synthetic", "S"), FrozenClock(EVENING)) as running:
        yield running


@pytest.fixture
def terminal(market: SimulatedMarket) -> Iterator[TdxClient]:
    settings = Settings(data_source="mock", simulator_tdx=market.terminals)
    with terminal_client(settings, FrozenClock(EVENING), shipped_calendar(), gate=OpenGate()) as one:
        yield one


@pytest.fixture
def publisher(cli: CommandLine, market: SimulatedMarket, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    market.faults.clear()
    market.reset_calls()
    monkeypatch.setenv("SAMPLE_NOW", EVENING.isoformat())
    monkeypatch.setenv("SAMPLE_STATE", "calm")
    monkeypatch.setenv("SIMULATOR_URL", market.http_url)
    monkeypatch.setenv("SIMULATOR_TDX", market.terminals)
    return cli


def fault(market: SimulatedMarket, kind: str, call: str, count: int = 0, **args: Any) -> None:
    rule = {"upstream": "tdx_packages", "call": call, "kind": kind, "args": args, "count": count}
    market.faults.replace([rule])


def downloaded(cli: CommandLine, package: str) -> Path:
    return Path(cli.result("download", package)["path"])


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_the_package_agrees_with_the_calls_bar_by_bar(publisher: CommandLine, terminal: TdxClient) -> None:
    path = downloaded(publisher, "bars")

    assert path.name == "hsjday-20260821155901.zip"
    seen = 0
    with archives.opened(path, path.name) as archive:
        for name in archive.names:
            symbol = symbol_of(name)
            kind = sec_type_of(symbol[2:], symbol[:2])
            if kind not in TRADED | {"index"}:
                continue
            ours = read_day(archive.read(name), symbol)
            theirs = (terminal.index_bars if kind == "index" else terminal.bars)(symbol, "day", 2000)
            theirs = theirs[theirs["volume"] > 0]
            last = len(theirs)
            assert [iso(day) for day in ours["date"][-last:].tolist()] == theirs["date"].tolist(), symbol
            for column in ("open", "high", "low", "close"):
                np.testing.assert_allclose(ours[column][-last:], theirs[column], atol=1e-9, err_msg=symbol)
            # The calls count lots (of an index a hundred of them), the files shares; amounts are float32.
            step = 10_000 if kind == "index" else 100
            np.testing.assert_allclose(ours["volume"][-last:], theirs["volume"], atol=step, err_msg=symbol)
            np.testing.assert_allclose(ours["amount"][-last:], theirs["amount"], rtol=1e-7, err_msg=symbol)
            seen += 1
    assert seen > 70


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_events_agree_with_the_calls(publisher: CommandLine, terminal: TdxClient) -> None:
    with zipfile.ZipFile(downloaded(publisher, "events")) as file:
        events = read_events(file.read("gbbq"))

    symbols = sorted(set(events["symbol"].tolist()))
    assert len(symbols) > 50
    for symbol in symbols[:30]:
        own = events["symbol"] == symbol
        theirs = terminal.xdxr(symbol)
        assert [iso(day) for day in events["date"][own].tolist()] == theirs["date"].tolist()
        for name in ("f1", "f2", "f3", "f4"):
            np.testing.assert_allclose(events[name][own], theirs[name], rtol=1e-7)


def test_a_date_is_downloaded_imported_and_read(publisher: CommandLine, terminal: TdxClient) -> None:
    path = downloaded(publisher, BEFORE)
    assert path.name == "20260820.zip"

    (done,) = publisher.result("import", str(path))["datasets"]

    rows = publisher.warehouse.query(
        f"SELECT code, market, close, volume, amount FROM fusion_kline_daily WHERE date='{BEFORE}' "
        "AND src='import:tdx_files'"
    )
    assert done["rows"] >= len(rows) > 60
    for code, exchange, close, volume, _ in rows[:20]:
        theirs = terminal.bars(f"{exchange}".lower() + code, "day", 5)
        own = theirs[theirs["date"] == BEFORE].iloc[0]
        assert float(close) == pytest.approx(own["close"])
        assert abs(int(volume) - own["volume"]) <= 100


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_reports_come_from_the_site_and_else_from_the_terminal(
    publisher: CommandLine, market: SimulatedMarket
) -> None:
    folder = downloaded(publisher, "reports")
    files = sorted(folder.iterdir())
    assert files[-1].name == "gpcw20260930.zip"
    with zipfile.ZipFile(folder / "gpcw20260331.zip") as file:
        reports = read_reports(file.read("gpcw20260331.dat"))
    assert np.count_nonzero(reports.column(74)) > 50
    assert all(day is None or "2026-04-01" <= day <= DAY for day in reports.announced)
    # Once more: what is there is not asked for again; a file that was damaged since is.
    calls = market.calls()["tdx_packages"]["reports"]
    files[0].write_bytes(b"damaged")
    downloaded(publisher, "reports")
    assert market.calls()["tdx_packages"]["reports"] == calls + 1
    # Without the site the terminal's servers hand out the same.
    before = {one.name: one.read_bytes() for one in files}
    for one in files[-3:]:
        one.unlink()
    market.faults.replace(
        [{"upstream": "tdx_packages", "call": "*", "kind": "status", "args": {"code": 404}}]
    )
    downloaded(publisher, "reports")
    assert {one.name: one.read_bytes() for one in sorted(folder.iterdir())} == before


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_an_interrupted_download_goes_on(
    publisher: CommandLine, market: SimulatedMarket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PART", 100_000)
    fault(market, "status", "all_bars", code=404)
    publisher("download", "bars")
    market.faults.clear()
    whole = downloaded(publisher, "bars")
    content = whole.read_bytes()
    assert len(content) > 300_000
    parts = market.calls()["tdx_packages"]["all_bars"]

    whole.rename(whole.with_suffix(".part"))
    whole.with_suffix(".part").write_bytes(content[:250_000])
    again = downloaded(publisher, "bars")

    assert again.read_bytes() == content
    assert market.calls()["tdx_packages"]["all_bars"] - parts < parts - 1
    assert sorted(one.name for one in again.parent.iterdir()) == [again.name]


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_an_older_object_of_a_cache_is_refused(publisher: CommandLine, market: SimulatedMarket) -> None:
    fault(market, "stale_day", "all_bars")
    error = publisher.fault("download", "bars")["error"]
    assert "newest bar is of 2026-08-20, announced is 2026-08-21 15:59:01" in error
    assert not list((publisher.folder / "data" / "packages").iterdir())


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("call", ["state", "all_bars"])
def test_a_page_for_browsers_says_what_to_do(
    publisher: CommandLine, market: SimulatedMarket, call: str
) -> None:
    fault(market, "html", call)
    error = publisher.fault("download", "bars")["error"]
    assert "https://www.tdx.com.cn/article/vipdata.html" in error
    assert "ashare import" in error


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_what_is_not_there_or_no_package_is_named(publisher: CommandLine) -> None:
    assert "404" in publisher.fault("download", "2026-08-24")["error"]  # the next trade date
    fault_of_name = publisher.fault("download", "everything")
    assert fault_of_name["parameter"] == "package"
    assert "bars, events, reports" in fault_of_name["error"]
    assert publisher.fault("download", "2026-08-22")["parameter"] == "package"  # a Saturday
