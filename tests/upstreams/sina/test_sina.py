"""The second quote site: recorded and documented answers, and rejected answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError, Refused
from resources.rejections import noting
from resources.upstreams.sina import bars, finance, quotes
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, damaged_text, quick

PAYLOADS = Path(__file__).parent / "payloads"
STOCK = (
    'var hq_str_sz300059="东方财富,19.550,19.620,19.420,19.630,19.420,19.410,19.420,180308294,'
    "3513704072.240,991400,19.410,1364200,19.400,214400,19.390,287200,19.380,155700,19.370,257234,19.420,"
    "684100,19.430,400700,19.440,475416,19.450,444405,19.460,2026-08-28,16:29:30,00,"
    'D|443100|8605002.000";\n'
)
BOND = (
    'var hq_str_sh118060="瑞可转债,197.600,199.342,193.107,202.716,193.000,193.039,193.168,117,0,0,193.039,'
    '0,0,0,0,0,0,0,0,0,193.168,0,0,0,0,0,0,0,0,2026-08-28,15:00:00,00,";\n'
)
BARS: list[dict[str, Any]] = [
    {"day": "2026-06-22", "open": "1214.310", "high": "1252.800", "low": "1205.000", "close": "1241.410",
     "volume": "5825131", "ma_price5": "1244.636"},
    {"day": "2026-06-23", "open": "1241.000", "high": "1243.000", "low": "1220.000", "close": "1230.100",
     "volume": "4825131"},
]  # fmt: skip
REPORT: dict[str, Any] = {
    "result": {
        "status": {"code": 0},
        "data": {
            "report_list": {
                "20251231": {
                    "data": [
                        {"item_title": "一、营业总收入", "item_value": "170899152276.340000",
                         "item_tongbi": 0.15},
                        {"item_title": "营业收入", "item_value": "170000000000", "item_tongbi": 0.15},
                        {"item_title": "归属于母公司所有者的净利润", "item_value": "86228146421.62",
                         "item_tongbi": ""},
                    ]
                },
                "20260331": {"data": [{"item_title": "营业收入", "item_value": "51443", "item_tongbi": 0.1}]},
            }
        },
    }
}  # fmt: skip


def gbk(text: str) -> bytes:
    return text.encode("gb18030")


def recorded(name: str) -> bytes:
    text = (PAYLOADS / name).read_text(encoding="utf-8")
    return gbk(text)


def test_recorded_indices() -> None:
    rows = quotes.parse_quotes(recorded("sina_hq_index_20260821.txt"), ["sh000001", "sh000852"])

    first = rows.iloc[0]
    assert (first["code"], first["name"], first["sec_type"]) == ("sh000001", "上证指数", "index")
    assert (first["open"], first["last_close"], first["price"]) == (3891.1751, 3903.7210, 3905.2026)
    assert (first["high"], first["low"]) == (3912.1314, 3883.7870)
    # Shanghai's indices come in lots.
    assert (first["volume"], first["amount"]) == (44_689_586_800, 883_423_480_099)
    assert (first["trade_date"], first["quote_time"]) == ("2026-08-21", "2026-08-21 15:43:32")


def test_volumes_of_shenzhens_indices_are_shares() -> None:
    rows = quotes.parse_quotes(recorded("sina_hq_index_20220407.txt"), ["sh000001", "sz399001"])

    found = dict(zip(rows["code"], rows["volume"], strict=True))
    assert found == {"sh000001": 40_262_666_000, "sz399001": 47_857_870_369}


def test_documented_stock_and_bond() -> None:
    rows = quotes.parse_quotes(gbk(STOCK + BOND), ["sz300059", "sh118060"]).set_index("symbol")

    stock = rows.loc["sz300059"]
    assert (stock["price"], stock["last_close"], stock["volume"]) == (19.42, 19.62, 180_308_294)
    assert (stock["bid1"], stock["bid1_vol"], stock["ask1"], stock["ask1_vol"]) == (
        19.41,
        991_400,
        19.42,
        257_234,
    )
    assert not stock["is_suspended"]
    # The unit of a bond's volume is not documented.
    assert rows.loc["sh118060"]["volume"] != rows.loc["sh118060"]["volume"]


def test_unknown_and_suspended_symbols() -> None:
    idle = 'var hq_str_sz000002="*ST万 科,0.000,7.000,0.000,0.000,0.000' + ",0" * 24
    idle += ',2026-08-28,15:00:00,03";\n'
    rows = quotes.parse_quotes(gbk(idle + 'var hq_str_sz000999="";\n'), ["sz000002", "sz000999"])

    assert list(rows["symbol"]) == ["sz000002"]
    assert bool(rows["is_suspended"].iloc[0])
    assert rows["price"].isna().all()


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (gbk(STOCK), "answered 1"),  # one of two is missing
        (gbk(STOCK + STOCK), "twice"),
        (gbk(STOCK + BOND.replace("118060", "118061")), "differs"),
        (gbk(STOCK[:60]), "no statement"),
        (STOCK.encode() + b"\xff\xff", "gb18030"),
    ],
)
def test_rejected_snapshots(body: bytes, error: str) -> None:
    with pytest.raises(PayloadError, match=error):
        quotes.parse_quotes(body, ["sz300059", "sh118060"])


@pytest.mark.parametrize(
    ("stock", "error"),
    [
        (STOCK.replace("180308294", "1803082"), "wrong unit"),
        (STOCK.replace("19.630", "19.400"), "is not between"),
        (STOCK.replace("19.630,19.420,", "19.410,,"), "is not between"),
        (STOCK.replace("2026-08-28", "2026-13-28"), "no date"),
    ],
)
def test_an_odd_snapshot_costs_itself_alone(stock: str, error: str) -> None:
    with noting() as rejected:
        rows = quotes.parse_quotes(gbk(stock + BOND), ["sz300059", "sh118060"])

    assert rows["symbol"].tolist() == ["sh118060"]
    ((item, why),) = rejected
    assert item == "sz300059"
    assert error in why
    with pytest.raises(PayloadError, match=error):
        quotes.parse_quotes(gbk(stock), ["sz300059"])


def test_a_throttled_client_is_refused() -> None:
    for body in (gbk("拒绝访问"), gbk("<html>拒绝访问</html>")):
        with pytest.raises(Refused):
            quotes.parse_quotes(body, ["sz300059"])


def test_documented_bars() -> None:
    rows = bars.parse_bars(json.dumps(BARS).encode(), "sh600519")

    assert list(rows["date"]) == ["2026-06-22", "2026-06-23"]
    assert (rows["close"].iloc[0], rows["volume"].iloc[0]) == (1241.41, 5_825_131)
    assert rows["amount"].isna().all()
    assert len(bars.parse_bars(b"null", "sh600519")) == 0
    with pytest.raises(PayloadError, match="follows"):
        bars.parse_bars(json.dumps(BARS[::-1]).encode(), "sh600519")
    with pytest.raises(InputError, match="count"):
        bars.bars_request("sh600519", 1024)


def test_documented_statement() -> None:
    rows = finance.parse_statement(json.dumps(REPORT).encode(), "sh600519", "income")

    held = {(row.report_period, row.item): row.value for row in rows.itertuples()}
    assert held == {
        # A company without a total of revenues has its revenue instead.
        ("2026-03-31", "revenue"): 51443,
        ("2025-12-31", "revenue"): 170_899_152_276.34,
        ("2025-12-31", "net_profit"): 86_228_146_421.62,
    }
    nothing = {"result": {"data": {"report_list": []}}}
    assert len(finance.parse_statement(json.dumps(nothing).encode(), "sh600519", "income")) == 0
    odd = json.dumps(REPORT).replace("20251231", "20251230").encode()
    with pytest.raises(PayloadError, match="quarter"):
        finance.parse_statement(odd, "sh600519", "income")


def check_quotes(body: bytes) -> None:
    try:
        rows = quotes.parse_quotes(body, ["sz300059", "sh118060"])
    except ACCEPTED:
        return
    assert set(rows["symbol"]) <= {"sz300059", "sh118060"}
    assert not (rows[["price", "open", "high", "low", "volume", "amount"]] < 0).any().any()
    assert not (rows["price"] > rows["high"]).any()


@quick
@given(st.one_of(damaged_bytes(gbk(STOCK + BOND)), damaged_text(STOCK + BOND, ",").map(gbk)))
def test_damaged_snapshots(body: bytes) -> None:
    check_quotes(body)


@quick
@given(st.one_of(damaged_bytes(json.dumps(BARS).encode()), damaged_json(json.dumps(BARS).encode())))
def test_damaged_bars(body: bytes) -> None:
    try:
        rows = bars.parse_bars(body, "sh600519")
    except ACCEPTED:
        return
    assert rows["date"].is_monotonic_increasing
    assert (rows["low"] > 0).all()
    assert (rows["high"] >= rows["close"]).all()


@quick
@given(st.one_of(damaged_bytes(json.dumps(REPORT).encode()), damaged_json(json.dumps(REPORT).encode())))
def test_damaged_statements(body: bytes) -> None:
    try:
        rows = finance.parse_statement(body, "sh600519", "income")
    except ACCEPTED:
        return
    assert set(rows["item"]) <= {"revenue", "net_profit", "operating_profit", "total_profit"}
    assert not rows.duplicated(["report_period", "item"]).any()
