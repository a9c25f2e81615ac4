"""Damaged answers of the portal: a typed error or a frame that keeps its promises."""

import json
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from resources.upstreams.eastmoney.quotes import lists, security, series, stock_connect
from tests.upstreams.eastmoney.test_recordings import BOARDS, FLOW, KLINE, ULIST, ULIST_SYMBOLS, kamt
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, damaged_text, quick

SECURITY = json.dumps(
    {"rc": 0, "data": {"f57": "600519", "f58": "x", "f107": 1, "f43": 12.5, "f47": 10, "f48": 12500.0}}
).encode()
TRENDS = json.dumps(
    {
        "rc": 0,
        "data": {
            "code": "600519",
            "market": 1,
            "preClose": 10.0,
            "trends": ["2026-08-21 09:31,10.0,10.1,10.2,9.9,12,12100.00,10.083"],
        },
    }
).encode()


def check_bars(body: bytes) -> None:
    try:
        frame = series.parse_kline(body, "sh601872", klt=101)
    except ACCEPTED:
        return
    assert list(frame.columns) == list(series.BAR_COLUMNS)
    assert frame["date"].is_monotonic_increasing
    assert frame["date"].is_unique
    assert (frame["low"] > 0).all()
    assert (frame["high"] >= frame[["open", "close", "low"]].max(axis=1)).all()
    assert (frame["volume"] >= 0).all()


@quick
@given(damaged_bytes(KLINE))
def test_bars_with_damaged_bytes(body):
    check_bars(body)


@quick
@given(damaged_json(KLINE))
def test_bars_with_damaged_nodes(body):
    check_bars(body)


@quick
@given(damaged_text(KLINE.decode(), ","))
def test_bars_with_damaged_values(text):
    check_bars(text.encode())


def check_quotes(body: bytes) -> None:
    try:
        frame = lists.parse_ulist(body, ULIST_SYMBOLS)
    except ACCEPTED:
        return
    assert list(frame.columns) == list(lists.QUOTE_COLUMNS)
    assert frame["symbol"].is_unique
    assert set(frame["symbol"]) <= set(ULIST_SYMBOLS)
    for name in ("price", "volume", "amount"):
        assert not (frame[name] < 0).any()


@quick
@given(damaged_bytes(ULIST))
def test_quotes_with_damaged_bytes(body):
    check_quotes(body)


@quick
@given(damaged_json(ULIST))
def test_quotes_with_damaged_nodes(body):
    check_quotes(body)


@quick
@given(st.data())
def test_the_other_calls_with_damaged_answers(data):
    calls = {
        FLOW: lambda body: series.parse_flow_days(body, "1.600519", "600519"),
        BOARDS: lambda body: lists.parse_page(body, "x", lambda rows: lists.board_rows(rows, "industry")),
        SECURITY: lambda body: security.parse_security(body, "sh600519"),
        TRENDS: lambda body: series.parse_trends(body, "sh600519"),
        kamt("2026-08-21", 1.0): stock_connect.parse_channels,
        b'{"rc":0,"data":{"s2n":["9:10,1,2,3,4,4"],"s2nDate":"08-21","n2s":[],"n2sDate":"08-21"}}': (
            lambda body: stock_connect.parse_minutes(body, datetime(2026, 8, 21, 16))
        ),
    }
    body = data.draw(st.sampled_from(sorted(calls)))
    calls[body](body)
    damaged = data.draw(st.one_of(damaged_json(body), damaged_bytes(body)))
    try:
        calls[body](damaged)
    except ACCEPTED:
        return
