"""The one line of a public client and ours, on the same simulated market."""

import warnings
from pathlib import Path

import akshare
import numpy as np
import pytest

import ashare
from tests.witness.market import NOW, Market
from tests.witness.redirect import redirected

SINCE, UNTIL = "2026-03-02", "2026-08-21"


def test_daily_bars_of_one_stock(market: Market, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host, port = market.served.tcp_address or ("", 0)
    monkeypatch.setenv("DATA_SOURCE", "mock")
    monkeypatch.setenv("SIMULATOR_URL", market.url)
    monkeypatch.setenv("SIMULATOR_TDX", f"{host}:{port}")
    monkeypatch.setenv("SAMPLE_NOW", NOW.isoformat())
    code = market.stock.code
    with warnings.catch_warnings(), redirected(market.url):
        warnings.simplefilter("ignore")
        theirs = akshare.stock_zh_a_hist(
            code, start_date=SINCE.replace("-", ""), end_date=UNTIL.replace("-", ""), adjust=""
        )

    ours = ashare.open(f"live:{tmp_path}").read("kline_daily", codes=[code], since=SINCE, until=UNTIL)

    assert len(ours) == len(theirs) > 100
    assert [str(day.date()) for day in ours["date"]] == [str(day) for day in theirs["日期"]]
    for own, their in (("open", "开盘"), ("close", "收盘"), ("high", "最高"), ("low", "最低")):
        np.testing.assert_allclose(ours[own], theirs[their], atol=1e-9)
    # They count lots of 100 shares; we count shares.
    np.testing.assert_allclose(ours["volume"] / 100, theirs["成交量"], atol=1)
    np.testing.assert_allclose(ours["amount"], theirs["成交额"], rtol=1e-6, atol=51)
    np.testing.assert_allclose(ours["change_pct"], theirs["涨跌幅"], atol=0.006)
