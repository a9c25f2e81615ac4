"""The social site: the documented quote, its errors, and rejected answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError, Refused
from resources.upstreams.xueqiu import client
from resources.upstreams.xueqiu.client import TokenExpired
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

QUOTE: dict[str, Any] = {
    "symbol": "SH601899", "code": "601899", "exchange": "SH", "name": "紫金矿业", "type": 11,
    "sub_type": "ASH", "status": 1, "current": 11.1, "currency": "CNY", "percent": 8.19, "chg": 0.84,
    "timestamp": 1633921777180, "time": 1633921777180, "lot_size": 100, "tick_size": 0.01, "open": 10.73,
    "last_close": 10.26, "high": 11.19, "low": 10.62, "avg_price": 10.917, "volume": 387561288,
    "amount": 4.231166432e9, "turnover_rate": 1.89, "amplitude": 5.56, "market_capital": 2.92236384864e11,
    "float_market_capital": 2.27490966204e11, "total_shares": 26327602240, "float_shares": 20494681640,
    "issue_date": 1209052800000, "limit_up": 11.29, "limit_down": 9.23, "volume_ratio": 4.8,
    "pe_ttm": 27.22, "pe_forecast": 21.976, "pe_lyr": 44.9, "pb": 4.684, "dividend_yield": 1.081,
}  # fmt: skip
HOT: dict[str, Any] = {
    "code": "SZ300059", "name": "东方财富", "value": 88441.0, "increment": 12, "percent": 1.2,
    "current": 19.42, "rank_change": -1, "exchange": "SZ", "ad": 0,
}  # fmt: skip


def answer(data: object, code: object = 0) -> bytes:
    return json.dumps({"data": data, "error_code": code, "error_description": ""}).encode()


QUOTED = answer({"market": {}, "quote": QUOTE})
HOTTEST = answer({"items": [HOT, {**HOT, "code": "SH600519", "ad": 1}, {**HOT, "code": "BJ920047"}]})


def test_the_documented_quote() -> None:
    row = client.parse_quote(QUOTED, "sh601899").iloc[0]

    assert (row["price"], row["last_close"], row["limit_up"]) == (11.1, 10.26, 11.29)
    assert (row["volume"], row["amount"]) == (387_561_288, 4_231_166_432)
    assert (row["total_market_cap"], row["total_shares"]) == (29_223_638.49, 26_327_602_240)
    assert (row["pe_ttm"], row["pe_static"], row["pb"]) == (27.22, 44.9, 4.684)
    # Milliseconds are of Shanghai: 11:09, not 03:09.
    assert row["quote_time"] == "2021-10-11 11:09:37"


def test_an_unknown_symbol_and_another_one() -> None:
    assert len(client.parse_quote(answer({"market": None, "quote": None}), "sh601899")) == 0
    with pytest.raises(PayloadError, match="instead of"):
        client.parse_quote(QUOTED, "sh600519")


def test_errors_of_the_site() -> None:
    def reported(code: str) -> bytes:
        return json.dumps({"error_code": code, "error_data": None, "error_description": "…"}).encode()

    with pytest.raises(TokenExpired):
        client.parse_quote(reported("400016"), "sh601899")
    with pytest.raises(Refused, match="log in"):
        client.parse_quote(reported("10022"), "sh601899")
    with pytest.raises(PayloadError, match="33004"):
        client.parse_quote(reported("33004"), "sh601899")
    for page in (b"<textarea id='renderData'>", b"<html></html>"):
        with pytest.raises(Refused):
            client.parse_hot(page)


def test_the_hot_list_has_no_advertisements() -> None:
    rows = client.parse_hot(HOTTEST)

    assert list(zip(rows["rank_no"], rows["code"], strict=True)) == [(1, "300059"), (2, "920047")]
    assert (rows["heat"].iloc[0], rows["rank_change"].iloc[0]) == (88441, -1)
    with pytest.raises(PayloadError, match="mainland"):
        client.parse_hot(answer({"items": [{**HOT, "code": "AAPL"}]}))


@quick
@given(st.one_of(damaged_bytes(QUOTED), damaged_json(QUOTED)))
def test_damaged_quotes(body: bytes) -> None:
    try:
        rows = client.parse_quote(body, "sh601899")
    except (*ACCEPTED, TokenExpired):
        return
    assert set(rows["code"]) <= {"601899"}
    assert not (rows[["price", "high", "low", "volume", "amount"]] < 0).any().any()


@quick
@given(st.one_of(damaged_bytes(HOTTEST), damaged_json(HOTTEST)))
def test_damaged_hot_lists(body: bytes) -> None:
    try:
        rows = client.parse_hot(body)
    except (*ACCEPTED, TokenExpired):
        return
    assert rows["code"].is_unique
    assert rows["code"].str.fullmatch(r"[0-9]{6}").all()


FOLLOWED: dict[str, Any] = {
    "symbol": "SZ002594", "name": "比亚迪", "current": 105.6, "pct": -0.42, "follow": 1602311, "type": 11,
}  # fmt: skip
MOST = answer({"count": 5600, "list": [FOLLOWED, {**FOLLOWED, "symbol": "SH600519", "follow": 1200000}]})


def test_the_most_followed_stocks() -> None:
    rows = client.parse_follow(MOST)

    assert rows["code"].tolist() == ["002594", "600519"]
    assert rows["rank_no"].tolist() == [1, 2]
    assert rows.loc[0, ["name", "heat", "change_pct"]].tolist() == ["比亚迪", 1_602_311, -0.42]
    request = client.follow_request()
    assert (request.path, dict(request.params)["order_by"]) == ("/service/v5/stock/screener/screen", "follow")
    rising = answer({"count": 2, "list": [FOLLOWED, {**FOLLOWED, "symbol": "SH600519", "follow": 1700000}]})
    for body, reason in (
        (rising, "follows"),
        (answer({"list": [{"symbol": "AAPL"}]}), "no stock"),
    ):
        with pytest.raises(PayloadError, match=reason):
            client.parse_follow(body)
    with pytest.raises(TokenExpired):
        client.parse_follow(answer(None, "400016"))


@quick
@given(st.one_of(damaged_json(MOST), damaged_bytes(MOST)))
def test_damaged_followers(body: bytes) -> None:
    try:
        rows = client.parse_follow(body)
    except (*ACCEPTED, TokenExpired):
        return
    assert rows["heat"].is_monotonic_decreasing
