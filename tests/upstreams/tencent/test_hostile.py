"""Damaged answers of the quote site: a typed error or a frame that keeps its promises, nothing else."""

import json

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from resources.upstreams.tencent import bars, flows, intraday, market, quotes
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, damaged_text, quick
from tests.upstreams.tencent.test_recordings import FLOW, KLINE, RECORDS

SYMBOLS = ["sh600519", "sz002103", "sh688981", "sh000001", "sh510300", "hk01024", "usAAPL"]
BATCH = "\n".join(RECORDS[symbol] for symbol in SYMBOLS)
BATCH_BYTES = BATCH.encode("gb18030")
FLOW_BYTES = json.dumps({"code": 0, "msg": "ok", "data": FLOW}).encode()
LINE = (
    b'{"code":0,"msg":"","data":{"sh600519":{"data":{"data":["0930 1310.00 177 23187000.00",'
    b'"0931 1306.93 1151 150839127.00"],"date":"20260806"},'
    b'"qt":{"sh600519":["1","x","600519","1","1306.45"]}}}}'
)
RANK = json.dumps(
    {"code": 0, "data": {"total": 1, "rank_list": [{"code": "sz000936", "name": "x", "zxj": "12.6"}]}}
).encode()
TICKS = b'v_detail_data_sz000001=[0,"0/09:25:02/11.71/0.00/1234/1445014/B|1/09:30:02/11.72/0.01/2/2344/S"];'


def accepted_quotes(body: bytes) -> pd.DataFrame | None:
    try:
        return quotes.parse_quotes(body, SYMBOLS)
    except ACCEPTED:
        return None


def check_quotes(frame: pd.DataFrame | None) -> None:
    if frame is None:
        return
    assert list(frame.columns) == list(quotes.QUOTE_COLUMNS)
    assert set(frame["symbol"]) <= set(SYMBOLS)
    assert frame["symbol"].is_unique
    for name in ("price", "open", "volume", "amount", "total_market_cap", "bid1"):
        assert not (frame[name] < 0).any()


@quick
@given(damaged_bytes(BATCH_BYTES))
def test_snapshots_with_damaged_bytes(body):
    check_quotes(accepted_quotes(body))


@quick
@given(damaged_text(BATCH, "~"))
def test_snapshots_with_damaged_fields(text):
    check_quotes(accepted_quotes(text.encode("gb18030")))


def check_bars(body: bytes) -> None:
    try:
        frame = bars.parse_bars(body, "sh600000", period="day")
    except ACCEPTED:
        return
    assert list(frame.columns) == list(bars.BAR_COLUMNS)
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
@given(st.data())
def test_the_other_calls_with_damaged_answers(data):
    calls = {
        FLOW_BYTES: lambda body: flows.parse_flow(body, "sh600519"),
        LINE: lambda body: intraday.parse_intraday(body, "sh600519"),
        RANK: market.parse_rank,
    }
    body = data.draw(st.sampled_from(sorted(calls)))
    damaged = data.draw(st.one_of(damaged_json(body), damaged_bytes(body)))
    try:
        calls[body](damaged)
    except ACCEPTED:
        return


@quick
@given(damaged_bytes(TICKS))
def test_ticks_with_damaged_bytes(body):
    try:
        frame = market.parse_ticks(body, "sz000001", 0)
    except ACCEPTED:
        return
    assert (frame["volume"] >= 0).all()


def test_the_undamaged_answers_are_accepted():
    assert len(quotes.parse_quotes(BATCH_BYTES, SYMBOLS)) == len(SYMBOLS)
    assert len(intraday.parse_intraday(LINE, "sh600519")) == 2
    assert len(flows.parse_flow(FLOW_BYTES, "sh600519")) == 4
    assert len(market.parse_rank(RANK)) == 1
    assert len(market.parse_ticks(TICKS, "sz000001", 0)) == 2
