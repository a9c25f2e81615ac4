"""What the rows of suspended days are not: trades. 000108 of the sample world rests from 2024-07-08 and is
listed again on 2025-08-11, without limits, 46 % above its last price."""

from collections.abc import Iterator

import pandas as pd
import pytest

from resources.warehouse.stored import ANY
from simulated_market.world.model import World
from tests.pipeline.conftest import Services, opened_services

CODE, FIRST = "000108", "2025-08-11"
SINCE, TODAY = "2025-07-21", "2025-09-05"
RATES = ["change_pct", "turnover_pct"]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, sample_world: World) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("suspended")
    url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    with opened_services(url, folder, sample_world, today=TODAY) as services:
        dates = services.run.calendar.between(SINCE, TODAY)
        services.master(TODAY)
        services.fuse("exright", *dates)
        services.fuse("kline_daily", *dates)
        services.fuse("kline_bar", *dates)
        yield services


def bars(services: Services) -> pd.DataFrame:
    rows = services.warehouse.frame("fusion_kline_bar")
    rows = rows[(rows["code"] == CODE) & (rows["date"] >= "2025-08-15")]
    return rows.set_index(["period", "date"]).sort_index()


def test_a_period_holds_traded_days_alone(loaded: Services) -> None:
    days = loaded.warehouse.frame("fusion_kline_daily")
    own = days[(days["code"] == CODE) & (days["date"].str[:7] == "2025-08")].sort_values("date")
    assert own["is_suspended"].sum() == 6
    own = own[~own["is_suspended"].astype(bool)]

    month = bars(loaded).loc["month"].iloc[0]

    assert month["low"] == own["low"].min() > own["last_close"].min()
    assert month["open"] == own["open"].iloc[0]
    assert month["bar_count"] == len(own) == 15
    assert (month["last_date"], month["volume"]) == ("2025-08-29", own["volume"].sum())
    weeks = loaded.warehouse.frame("fusion_kline_bar")
    assert not ((weeks["code"] == CODE) & (weeks["date"] < FIRST)).any()  # no trade, no bar


@pytest.mark.parametrize("away", [(), ("bars_*",)], ids=["terminal", "portal"])
def test_one_code_alone_gets_the_same_values(loaded: Services, away: tuple[str, ...]) -> None:
    before = bars(loaded)
    loaded.faults.replace([{"upstream": "tdx", "call": call, "kind": "reset"} for call in away])
    loaded.fresh()

    again = loaded.fuse("kline_bar", codes=(CODE,))

    assert [item["src"] for item in again.sources if item.get("rows")] == ["eastmoney" if away else "tdx"]
    after = bars(loaded).loc[before.index]
    kept = ["open", "high", "low", "close", "bar_count", "last_date", "is_closed", *RATES]
    pd.testing.assert_frame_equal(after.loc[["week", "month"], kept], before.loc[["week", "month"], kept])
    loaded.faults.replace([])


def test_a_relisting_has_no_limit_and_counts_as_none(loaded: Services) -> None:
    loaded.fuse("limit_count", FIRST)
    row = loaded.warehouse.rows("fusion_kline_daily", ANY.code == CODE, ANY.date == FIRST)[0]
    assert row["change_pct"] == pytest.approx(46.04, abs=0.01)
    assert (row["limit_status"], row["limit_up"], row["limit_down"]) == ("no_limit", None, None)
    # Sixty dates before it are not stored: that it may have none is not known, and is said.
    assert row["quality_flags"] == '["close_within_limits"]'

    counted = loaded.warehouse.rows("calc_limit_count", ANY.trade_date == FIRST)[0]
    day = loaded.warehouse.frame("fusion_kline_daily")
    day = day[(day["date"] == FIRST) & (day["sec_type"] == "stock")]
    assert counted["up_recomputed"] == (day["limit_status"] == "up").sum()
    following = loaded.warehouse.rows("fusion_kline_daily", ANY.code == CODE, ANY.date == "2025-08-12")
    assert following[0]["limit_status"] == "none"
    assert following[0]["limit_up"] == pytest.approx(15.00)
