"""Stock connect by date: the figures of Hong Kong's exchange and of the portal, and those that are no longer
disclosed."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError, Permanent
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.reports import stock_connect
from resources.upstreams.hkex.client import MARKETS, HkexClient, daily_request, parse_daily
from resources.upstreams.parsing.stock_connect_days import DAY_COLUMNS
from tests.upstreams.eastmoney.test_reports import Pages, body
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

DAY = "2026-07-17"
NORTH = {"Total Turnover": "181,148.72", "Total Trade Count": "8,426,622", "DQB": "999,999,999",
         "ETF Turnover": "3,477.57"}  # fmt: skip
SOUTH = {"Total Turnover": "60,000.00", "Buy Turnover": "33,000.00", "Sell Turnover": "27,000.00",
         "Total Trade Count": "1,200,000", "DQB": "36,000.00"}  # fmt: skip


def part(market: str, figures: dict[str, Any], **more: Any) -> dict[str, Any]:
    table = {"schema": [list(figures)], "tr": [{"td": [[value]]} for value in figures.values()]}
    content = [{"style": 1, "table": table}]
    return {"market": market, "date": DAY, "tradingDay": 1, "content": content, **more}


def parts(**more: Any) -> list[dict[str, Any]]:
    return [part(name, NORTH if "North" in name else SOUTH, **more) for name in MARKETS]


def script(*reported: dict[str, Any]) -> bytes:
    return f"tabData = {json.dumps(list(reported) or parts())};\n".encode()


def test_millions_become_ten_thousands_and_an_undisclosed_quota_is_missing() -> None:
    rows = parse_daily(script(), DAY).set_index("channel")

    assert rows.loc["hgt", "deal_amt"] == 18_114_872.0
    assert rows.loc["hgt", "trade_count"] == 8_426_622
    assert rows.loc["hgt", ["net_buy", "buy_amt", "sell_amt", "quota_balance"]].isna().all()
    assert rows.loc["north", "deal_amt"] == 2 * 18_114_872.0
    assert rows.loc["ggt_sh", ["net_buy", "buy_amt", "quota_balance"]].tolist() == [6e5, 3.3e6, 3.6e6]


def test_no_northbound_figure_is_accepted_after_the_change_whatever_its_value() -> None:
    zeros = {**NORTH, "Buy Turnover": "90,574.36", "Sell Turnover": "90,574.36"}
    reported = [part(name, zeros if "North" in name else SOUTH) for name in MARKETS]

    rows = parse_daily(script(*reported), DAY).set_index("channel")

    assert rows.loc[["hgt", "sgt", "north"], ["net_buy", "buy_amt", "sell_amt"]].isna().all().all()


def test_before_the_change_it_was_disclosed() -> None:
    day = "2024-08-16"
    reported = [part(name, SOUTH, date=day) for name in MARKETS]
    rows = parse_daily(script(*reported), day).set_index("channel")
    assert rows.loc["north", ["net_buy", "buy_amt"]].tolist() == [1.2e6, 6.6e6]


def test_a_market_that_was_closed_has_no_row() -> None:
    reported = parts()
    reported[0]["tradingDay"] = reported[1]["tradingDay"] = 0
    assert parse_daily(script(*reported), DAY)["channel"].tolist() == ["ggt_sh", "ggt_sz"]


@pytest.mark.parametrize(
    ("reported", "reason"),
    [
        (parts()[:3], "markets"),
        (parts(date="2026-07-16"), "answered for"),
        (parts(tradingDay=2), "tradingDay"),
        ([*parts()[:3], part("SZSE Southbound", {**SOUTH, "Buy Turnover": "3,300,000"})], "not the turnover"),
        ([*parts()[:3], part("SZSE Southbound", {"Total Turnover": "1.0"})], "no Total Trade Count"),
        ([part("SSE Northbound", {**NORTH, "Total Turnover": "18,114,872"}), *parts()[1:]], "another unit"),
        ([part("SSE Northbound", {**NORTH, "Total Turnover": "-"}), *parts()[1:]], "missing"),
    ],
)
def test_rejected_answers(reported: list[dict[str, Any]], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse_daily(script(*reported), DAY)


class Missing:
    """A site that answers with a status."""

    def __init__(self, status: int) -> None:
        self.status = status

    def call(self, request: Any, parse: Any) -> Any:
        raise Permanent(f"www.hkex.com.hk: HTTP {self.status}")


def test_no_file_is_no_trading_in_hong_kong_and_another_refusal_is_none() -> None:
    assert HkexClient(Missing(404)).connect_day(DAY).empty
    with pytest.raises(Permanent):
        HkexClient(Missing(400)).connect_day(DAY)
    assert daily_request(DAY).path.endswith("data_tab_daily_20260717c.js")
    assert len(HkexClient(Pages(script())).connect_day(DAY)) == 5


# -- the portal's report of the same

SAMPLE = {"MUTUAL_TYPE": "001", "TRADE_DATE": "2026-06-11 00:00:00", "NET_DEAL_AMT": None,
          "FUND_INFLOW": None, "DEAL_AMT": 159596.74}  # fmt: skip


def of(*rows: dict[str, Any]) -> Any:
    return data_centre.parse_report(
        body(list(rows), len(rows)), what="connect", read=stock_connect.mutual_rows
    ).rows


def test_the_portal_counts_in_millions() -> None:
    row = of(SAMPLE).iloc[0]
    assert (row["channel"], row["deal_amt"]) == ("hgt", 15_959_674.0)
    assert math.isnan(row["net_buy"])
    assert of({**SAMPLE, "DEAL_AMT": None}).empty
    assert math.isnan(of({**SAMPLE, "NET_DEAL_AMT": 0.0}).iloc[0]["net_buy"])
    south = {**SAMPLE, "MUTUAL_TYPE": "002", "NET_DEAL_AMT": -12.5}
    assert of(south).iloc[0]["net_buy"] == -1250.0


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([SAMPLE, {**SAMPLE, "MUTUAL_TYPE": "003"}, {**SAMPLE, "MUTUAL_TYPE": "005"}], "is not 005"),
        ([{**SAMPLE, "DEAL_AMT": -1}], "below zero"),
        ([{**SAMPLE, "MUTUAL_TYPE": "007"}], "not asked for"),
        ([{**SAMPLE, "DEAL_NUM": 70}], "another unit"),
    ],
)
def test_rejected_rows_of_the_portal(rows: list[dict[str, Any]], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        of(*rows)


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    plain = json.dumps(parts()).encode()
    damaged = data.draw(st.one_of(damaged_json(plain), damaged_bytes(script())))
    try:
        rows = parse_daily(damaged if damaged.startswith(b"tab") else b"tabData = " + damaged, DAY)
    except ACCEPTED:
        return
    assert list(rows.columns) == list(DAY_COLUMNS)
    north = rows[rows["channel"].isin(["hgt", "sgt", "north"])]
    assert north[["net_buy", "buy_amt", "sell_amt", "quota_balance"]].isna().all().all()
    assert (rows["deal_amt"] >= 0).all()


def test_a_script_may_escape_what_json_may_not() -> None:
    """A public client repairs `阅\\文` in the script by hand before it reads it."""
    escaped = script().replace(b'"style": 1', '"name": "阅\\文集团 \\"A\\" \\u0041", "style": 1'.encode())

    assert parse_daily(escaped, DAY).equals(parse_daily(script(), DAY))
    assert escaped != script()
