"""The parameters of the model are within their bands, and the bands contain those of real bars."""

import numpy as np
import pytest

from core.errors import DeclarationError
from simulated_market.world import parameters as module
from simulated_market.world.parameters import Parameter, parameters


def test_every_parameter_is_in_its_band_and_says_where_it_is_from():
    rows = parameters().rows
    assert len(rows) > 40
    for row in rows.values():
        assert row.low <= row.value <= row.high, row
        assert row.source, row


def test_a_value_outside_its_band_is_refused(monkeypatch):
    monkeypatch.setattr(
        module.json, "loads", lambda _: {"x": {"value": 2, "low": 0, "high": 1, "source": "s"}}
    )
    with pytest.raises(DeclarationError, match=r"x = 2 is outside 0\.\.1"):
        parameters.__wrapped__()


def measured(folder):
    """The same numbers from the real bars: name -> value."""
    import pandas as pd

    bars = pd.read_csv(folder / "bars_daily_raw_hs300_2020_2025.csv.gz").sort_values(["code", "date"])
    bars["last"] = bars.groupby("code")["close"].shift()
    events = bars[bars["last"].notna() & ((bars["preclose"] - bars["last"]).abs() > 1e-6)]
    cut = 1 - events["preclose"] / events["last"]
    month = events["date"].str[5:7].astype(int)
    off = bars["tradestatus"] == 0
    runs = (off & ~off.groupby(bars["code"]).shift(fill_value=False)).groupby(bars["code"]).cumsum()
    lengths = bars[off].groupby([bars["code"], runs]).size()
    years = len(bars) / 243
    turn = bars[(bars["tradestatus"] == 1) & (bars["turn"] > 0)]
    log_turn = np.log(turn["turn"])
    caps = pd.read_csv(folder / "stock_list_em_2024.csv.gz", dtype={"code": str})["total_mcap"].dropna()
    index = pd.read_csv(folder / "index_daily_tushare_2005_2026.csv.gz")
    index = index[(index["code"] == "sh000300") & (index["date"] >= "2010-01-01")]
    board = np.where(turn["code"].str[2:5].isin(["688", "689"]), "star", "main")
    board = np.where(turn["code"].str[2:5].isin(["300", "301"]), "gem", board)
    logs = np.log(caps[caps > 0])
    return {
        "dividend_summer_share": month.between(5, 7).mean(),
        "dividend_yield": cut.median(),
        "bonus_share": (cut > 0.15).mean(),
        "dividend_chance": len(events) / years,
        "suspension_median": lengths.median(),
        "suspensions_per_year": len(lengths) / years,
        "turnover_within_sd": log_turn.groupby(turn["code"]).std().mean(),
        "turnover_between_sd": log_turn.groupby(turn["code"]).mean().std(),
        "turnover_main": turn["turn"][board == "main"].median() / 100,
        "turnover_gem": turn["turn"][board == "gem"].median() / 100,
        "turnover_star": turn["turn"][board == "star"].median() / 100,
        "cap_log_mean": logs.mean(),
        "cap_log_sd": logs.std(),
        "market_sd": (index["close"] / index["pre_close"] - 1).std(),
    }


@pytest.mark.real_data
def test_real_bars_are_in_the_bands(real_data):
    rows: dict[str, Parameter] = parameters().rows
    outside = {
        name: (value, rows[name].low, rows[name].high)
        for name, value in measured(real_data).items()
        if not rows[name].low <= value <= rows[name].high
    }
    assert not outside
