"""Reports about the economy: documented samples, the periods behind them, and rejected answers."""

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import FrozenClock
from core.errors import InputError, PayloadError, Permanent
from resources.rejections import noting
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.client import EastmoneyClient
from resources.upstreams.eastmoney.quotes import futures
from resources.upstreams.eastmoney.reports import economy
from tests.simulated_market.http.tiny_world import NOW
from tests.upstreams.eastmoney.test_reports import Pages, body
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

CPI = {
    "REPORT_DATE": "2022-12-01 00:00:00",
    "TIME": "2022年12月份",
    "NATIONAL_SAME": 1.8,
    "NATIONAL_BASE": 101.8,
    "NATIONAL_SEQUENTIAL": 0,
    "NATIONAL_ACCUMULATE": 102,
    "CITY_SAME": 1.8,
    "CITY_BASE": 101.8,
    "RURAL_SAME": 1.8,
}
MONEY = {
    "REPORT_DATE": "2022-12-01 00:00:00", "BASIC_CURRENCY": 2664300, "BASIC_CURRENCY_SAME": 11.8,
    "BASIC_CURRENCY_SEQUENTIAL": 0.65324762, "CURRENCY": 671700, "CURRENCY_SAME": 3.7,
    "CURRENCY_SEQUENTIAL": None, "FREE_CASH": 104700, "FREE_CASH_SAME": 15.3, "FREE_CASH_SEQUENTIAL": "-",
}  # fmt: skip
GDP = {"REPORT_DATE": "2026-04-01 00:00:00", "TIME": "2026年第1-2季度", "DOMESTICL_PRODUCT_BASE": 660536.1,
       "SUM_SAME": 5.3, "FIRST_SAME": 3.7, "SECOND_SAME": 5.3, "THIRD_SAME": 5.5}  # fmt: skip
YIELDS = {"SOLAR_DATE": "2026-09-24 00:00:00", **dict.fromkeys(economy._YIELDS, 1.8), "EMG00001306": None}
SHIBOR = {"REPORT_DATE": "2026-09-24 00:00:00", "INDICATOR_ID": "001", "IR_RATE": 1.364, "CHANGE_RATE": -0.4}
VALUE = {"INDICATOR_ID": "EMG00000733", "REPORT_DATE": "2026-08-01 00:00:00", "VALUE": 2.9, "PRE_VALUE": 2.7,
         "PUBLISH_DATE": "2026-09-11 00:00:00"}  # fmt: skip
FOREIGN = partial(economy.foreign_rows, series=("EMG00000733",))
LEVEL = json.dumps(
    {"rc": 0, "data": {"code": "UDI", "market": 100,
                       "klines": ["2026-08-20,98.1,98.5,98.6,98.0,0,0.00", "2026-08-21,98.5,98.2,98.7,98.1"]}}
).encode()  # fmt: skip


def of(name: str) -> Any:
    return partial(economy.economy_rows, name=name)


PARSERS: dict[str, tuple[dict[str, Any], Any]] = {
    "RPT_ECONOMY_CPI": (CPI, of("RPT_ECONOMY_CPI")),
    "RPT_ECONOMY_CURRENCY_SUPPLY": (MONEY, of("RPT_ECONOMY_CURRENCY_SUPPLY")),
    "RPT_ECONOMY_GDP": (GDP, of("RPT_ECONOMY_GDP")),
    "RPTA_WEB_TREASURYYIELD": (YIELDS, of("RPTA_WEB_TREASURYYIELD")),
    "shibor": (SHIBOR, economy.interbank_rows),
    "foreign": (VALUE, FOREIGN),
}


def parse(name: str, found: bytes | None = None, **changed: Any) -> Any:
    row, read = PARSERS[name]
    reported = body([{**row, **changed}], 1) if found is None else found
    return data_centre.parse_report(reported, what=name, read=read).rows


def client(*bodies: bytes) -> tuple[EastmoneyClient, Pages]:
    pages = Pages(*bodies)
    return EastmoneyClient(pages, FrozenClock(NOW)), pages


def test_documented_samples() -> None:
    cpi = parse("RPT_ECONOMY_CPI").iloc[0]
    assert (cpi["date"], cpi["NATIONAL_SAME"], cpi["NATIONAL_BASE"]) == ("2022-12-01", 1.8, 101.8)
    money = parse("RPT_ECONOMY_CURRENCY_SUPPLY").iloc[0]
    assert (money["BASIC_CURRENCY"], money["BASIC_CURRENCY_SAME"]) == (2_664_300, 11.8)
    assert money[["CURRENCY_SEQUENTIAL", "FREE_CASH_SEQUENTIAL"]].isna().all()


def test_the_period_is_the_first_day_of_the_month_or_quarter() -> None:
    assert parse("RPT_ECONOMY_CPI", REPORT_DATE="2022-12-31 00:00:00")["date"].tolist() == ["2022-12-01"]
    assert parse("RPT_ECONOMY_GDP")["date"].tolist() == ["2026-04-01"]
    first = parse("RPT_ECONOMY_GDP", REPORT_DATE="2026-01-01 00:00:00", TIME="2026年第1季度")
    assert first["date"].tolist() == ["2026-01-01"]
    assert parse("foreign")[["date", "publish_date"]].to_numpy().tolist() == [["2026-08-01", "2026-09-11"]]


def test_sides_with_different_holidays_are_missing_alone() -> None:
    row = parse("RPTA_WEB_TREASURYYIELD").iloc[0]
    assert row["EMG00001306"] != row["EMG00001306"]
    assert (row["date"], row["EMM00166466"]) == ("2026-09-24", 1.8)


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("RPT_ECONOMY_CPI", {"NATIONAL_BASE": 118.0}, "NATIONAL_BASE - 100"),
        ("RPT_ECONOMY_CPI", {"REPORT_DATE": "2022-13-01 00:00:00"}, "no date"),
        ("RPT_ECONOMY_CPI", {"NATIONAL_SAME": "1e999"}, "valid number"),
        ("RPT_ECONOMY_GDP", {"TIME": "2026年上半年"}, "names no quarter"),
        ("RPT_ECONOMY_GDP", {"REPORT_DATE": "2026-07-01 00:00:00"}, "names quarter 2"),
        ("RPTA_WEB_TREASURYYIELD", {"EMM00166466": 180.0}, "another unit"),
        ("RPTA_WEB_TREASURYYIELD", {"EMM00166466": -1.8}, "another unit"),
        ("shibor", {"IR_RATE": None}, "missing"),
        ("shibor", {"IR_RATE": 136.4}, "no percentage"),
        ("shibor", {"INDICATOR_ID": "999"}, "not asked for"),
        ("foreign", {"INDICATOR_ID": "EMG00000001"}, "not asked for"),
    ],
)
def test_a_row_that_cannot_be_true_is_refused(name: str, changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse(name, **changed)


def test_a_renamed_column_is_named() -> None:
    row = {name: CPI[name] for name in CPI if name not in economy.REPORTS["RPT_ECONOMY_CPI"].columns}
    with pytest.raises(PayloadError, match="NATIONAL_SAME"):
        parse("RPT_ECONOMY_CPI", body([row], 1))
    with pytest.raises(InputError, match="RPT_NOTHING"):
        economy.economy_report("RPT_NOTHING")


def test_a_month_that_comes_again_counts_once_and_the_token_goes_where_it_is_needed() -> None:
    with noting() as rejected:
        again = {**CPI, "REPORT_DATE": "2022-12-31 00:00:00"}
        assert len(client(body([CPI, again], 2))[0].economy("RPT_ECONOMY_CPI")) == 1
    assert [reason for _, reason in rejected] == ["repeats an earlier row with the same date"]
    portal, pages = client(body([YIELDS], 1), body([CPI], 1))
    portal.economy("RPTA_WEB_TREASURYYIELD", "2026-01-01")
    portal.economy("RPT_ECONOMY_CPI")
    asked = [dict(request.params) for request in pages.asked]
    assert asked[0]["filter"] == "(SOLAR_DATE>='2026-01-01')"
    assert (asked[0].get("token"), asked[1].get("token")) == (data_centre.PUBLIC_TOKEN, None)


def test_levels_of_another_instrument_or_day_are_refused() -> None:
    read = partial(futures.parse_levels, since="2026-08-01", until="2026-08-21")
    rows = read(LEVEL, secid="100.UDI")
    assert rows[["date", "close", "low"]].to_numpy().tolist()[-1] == ["2026-08-21", 98.2, 98.1]
    with pytest.raises(PayloadError, match="asked for"):
        read(LEVEL, secid="133.USDCNH")
    with pytest.raises(PayloadError, match="is outside"):
        futures.parse_levels(LEVEL, "100.UDI", "2026-08-01", "2026-08-20")
    with pytest.raises(PayloadError, match="enclose"):
        read(LEVEL.replace(b"98.6,98.0", b"98.0,98.6"), secid="100.UDI")


@quick
@given(st.data())
def test_damaged_reports(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(PARSERS)))
    recorded = body([PARSERS[name][0]], 1)
    damaged = data.draw(st.one_of(damaged_json(recorded), damaged_bytes(recorded)))
    try:
        rows = parse(name, damaged)
    except (*ACCEPTED, Permanent):
        return
    assert list(rows.columns) == list(parse(name).columns)
    assert rows["date"].str.fullmatch(r"\d{4}-\d\d-\d\d").all()
    for column in ("rate", "EMM00166466"):
        if column in rows:
            assert not ((rows[column] < 0) | (rows[column] > 100)).any()


def older(*days: str, count: int) -> bytes:
    rows = [{**YIELDS, "SOLAR_DATE": f"{day} 00:00:00"} for day in days]
    result = {"data": rows, "count": count}
    return json.dumps({"code": 0, "success": True, "message": "ok", "result": result}).encode()


def test_a_report_that_the_newer_dialect_does_not_know_is_asked_for_in_the_older_one() -> None:
    unknown = json.dumps({"code": 9501, "success": False, "message": "报表配置不存在", "result": None})
    pages = Pages(
        unknown.encode(),
        older("2026-09-24", "2026-09-23", count=4),
        older("2026-09-22", "2026-09-21", count=4),
    )
    rows = EastmoneyClient(pages, FrozenClock(NOW)).economy("RPTA_WEB_TREASURYYIELD", "2026-09-22")

    assert list(rows["date"]) == ["2026-09-24", "2026-09-23", "2026-09-22"]
    assert [request.path for request in pages.asked] == ["/api/data/v1/get", *["/api/data/get"] * 2]
    reported = dict(pages.asked[1].params)
    assert reported["token"] == data_centre.PUBLIC_TOKEN
    assert reported | {"token": ""} == {
        "type": "RPTA_WEB_TREASURYYIELD", "sty": "ALL", "st": "SOLAR_DATE", "sr": "-1", "token": "",
        "p": "1", "ps": "500",
    }  # fmt: skip


def test_the_older_dialect_ends_with_its_count_or_is_rejected() -> None:
    short = Pages(older("2026-09-24", count=3), older(count=3))
    with pytest.raises(PayloadError, match="1 of 3"):
        EastmoneyClient(short, FrozenClock(NOW)).economy_older("RPTA_WEB_TREASURYYIELD")
    days = ("2026-09-24", "2026-09-23")
    twice = Pages(older(*days, count=3), older("2026-09-24", count=3))
    with pytest.raises(PayloadError, match="twice"):
        EastmoneyClient(twice, FrozenClock(NOW)).economy_older("RPTA_WEB_TREASURYYIELD")
    unknown = json.dumps({"code": 9501, "success": False, "message": "x", "result": None}).encode()
    with pytest.raises(Permanent):  # no client asks for prices in that dialect
        EastmoneyClient(Pages(unknown), FrozenClock(NOW)).economy("RPT_ECONOMY_CPI")
