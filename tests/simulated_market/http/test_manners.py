"""Manners of the upstreams that public clients rely on, each by one request to the simulated market, without
any client of ours: `make witness` runs those clients themselves over it."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.clock import FrozenClock
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world

DAY = "2026-08-20"
RECORDED = Path(__file__).parents[2] / "upstreams" / "eastmoney" / "payloads"
STOCKS = "m:0+t:6,m:0+t:80,m:1+t:2,m:1+t:23"
LIST = "/eastmoney/api/qt/clist/get?pn=1&pz=5&po=1&fid=f3&invt=2"
PAIRS = "/eastmoney/api/qt/clist/get?pn=1&pz=5&np=1&invt=2&fs=b:DLMK0101&fields=f2,f12,f14,f186"
REPORT = (
    "/eastmoney/api/data/v1/get?reportName=RPTA_WEB_RZRQ_GGMX&pageNumber=1&pageSize=5&sortColumns=SCODE"
    f"&sortTypes=1&filter=(DATE='{DAY}')"
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    clock = FrozenClock(datetime(2026, 8, 21, 22, 30))
    with SimulatedMarket(load_world("synthetic", "S"), clock, tcp_port=None) as market:
        yield market.http_url


@pytest.fixture
def ask(url: str) -> Callable[..., httpx.Response]:
    def asked(path: str, **how: Any) -> httpx.Response:
        return httpx.request(how.pop("method", "GET"), url + path, trust_env=False, **how)

    return asked


def numbers(row: dict[str, Any]) -> list[int]:
    return [int(name[1:]) for name in row]


def test_rows_have_their_fields_in_ascending_order(ask: Any) -> None:
    (first, *_) = ask(f"{LIST}&np=1&fs={STOCKS}&fields=f14,f2,f12,f3,f13").json()["data"]["diff"]
    assert numbers(first) == [2, 3, 12, 13, 14]


def test_code_and_market_come_with_the_name_of_the_leading_stock(ask: Any) -> None:
    (first, *_) = ask(f"{LIST}&np=1&fs=m:90+t:2&fields=f12,f14,f128").json()["data"]["diff"]
    assert numbers(first) == [12, 14, 128, 140, 141]
    assert first["f140"].isdigit()
    assert first["f141"] in {0, 1}


@pytest.mark.parametrize(
    ("path", "requested", "parts"),
    [
        ("kline/get?secid=1.600040&klt=101&fqt=0&beg=20260801&end=20260821", "f53,f51", 2),
        ("kline/get?secid=1.600040&klt=101&fqt=0&beg=20260801&end=20260821", "f51,f52,f53,f54,f55,f56", 6),
        ("fflow/daykline/get?secid=1.600040&lmt=0&klt=101", "f51,f52,f57", 3),
    ],
)
def test_series_have_the_parts_that_were_asked_for(ask: Any, path: str, requested: str, parts: int) -> None:
    lines = ask(f"/eastmoney/api/qt/stock/{path}&fields1=f1&fields2={requested}").json()["data"]["klines"]
    assert {line.count(",") + 1 for line in lines} == {parts}
    assert lines[0][:4] == "2026"  # ascending, whatever the order of the request


def test_prices_of_dual_listings_are_whole_numbers_without_fltt_2(ask: Any) -> None:
    plain, natural = (ask(f"{PAIRS}&fltt={kind}").json()["data"]["diff"] for kind in (1, 2))
    for raw, reported in zip(plain, natural, strict=True):
        assert type(raw["f2"]) is int
        assert (raw["f2"] / 1000, raw["f186"] / 100) == pytest.approx(
            (reported["f2"], reported["f186"]), abs=0.01
        )


def test_without_np_lists_are_objects_and_named_securities_a_list(ask: Any) -> None:
    listed = ask(f"{LIST}&fs={STOCKS}&fields=f12").json()["data"]["diff"]
    named = ask("/eastmoney/api/qt/ulist.np/get?fltt=2&secids=1.600040,0.000101&fields=f12").json()
    assert list(listed) == ["0", "1", "2", "3", "4"]
    assert [row["f12"] for row in named["data"]["diff"]] == ["600040", "000101"]


def test_f530_is_the_book_of_five_levels(ask: Any) -> None:
    book = ask("/eastmoney/api/qt/stock/get?secid=1.600040&fltt=2&fields=f57,f530").json()["data"]
    assert numbers(book) == [*range(11, 21), *range(31, 41), 57]
    assert book["f19"] < book["f39"], "best bid under best ask"


@pytest.mark.parametrize("fs", ["m:7+t:99", "nonsense", "b:BK9999", "m:0+t:77"])
def test_an_unknown_list_is_not_an_empty_one(ask: Any, fs: str) -> None:
    unknown = ask(f"{LIST}&np=1&fs={fs}&fields=f12").json()
    beyond = ask(f"{LIST.replace('pn=1', 'pn=900')}&np=1&fs={STOCKS}&fields=f12").json()
    assert (unknown["rc"], unknown["data"]) == (102, None)
    assert (beyond["rc"], beyond["data"]) == (0, None)


def test_rows_of_a_limit_pool_have_their_fields_in_the_recorded_order(ask: Any) -> None:
    text = (RECORDED / "em_ztpool_20240923.jsonp").read_text()
    recorded = json.loads(text[text.index("(") + 1 : text.rindex(")")])["data"]["pool"][0]
    pool = ask("/eastmoney/getTopicZTPool?Pageindex=0&pagesize=20&sort=fbt:asc&date=20260820").json()
    assert list(pool["data"]["pool"][0]) == list(recorded)


@pytest.mark.parametrize(
    "clause",
    [f"(DATE='{DAY}')(SCODE=\"000101\")", f" (DATE = '{DAY}')\n  (SCODE=\"000101\") ",
     f"(DATE>='{DAY}')\r\n(DATE<='{DAY}')(SCODE in (\"000101\"))"],
)  # fmt: skip
def test_blanks_and_line_breaks_in_a_filter_change_nothing(ask: Any, clause: str) -> None:
    params = {"reportName": "RPTA_WEB_RZRQ_GGMX", "columns": "ALL", "filter": clause, "pageNumber": "1",
              "pageSize": "5", "sortColumns": "SCODE", "sortTypes": "1"}  # fmt: skip
    (row,) = ask("/eastmoney/api/data/v1/get", params=params).json()["result"]["data"]
    assert (row["SCODE"], row["DATE"][:10]) == ("000101", DAY)


def test_all_columns_are_more_than_anybody_names(ask: Any) -> None:
    every = ask(f"{REPORT}&columns=ALL").json()["result"]["data"][0]
    some = ask(f"{REPORT}&columns=SCODE,DATE,RZYE").json()["result"]["data"][0]
    wrong = ask(f"{REPORT}&columns=SCODE,NOBODY").json()
    recorded = json.loads((RECORDED / "em_dc_margin_600519.json").read_text())["result"]["data"][0]
    assert list(some) == ["SCODE", "DATE", "RZYE"]
    assert set(recorded) <= set(every)
    assert (wrong["code"], wrong["result"]) == (9501, None)


def test_a_page_of_ticks_ends_as_an_array_does(ask: Any) -> None:
    text = ask("/tencent/data/index.php?appn=detail&action=data&c=sh600040&p=0").text
    assert text.startswith('v_detail_data_sh600040=[0,"')
    assert text.endswith('"]')


def test_the_disclosure_schedule_is_asked_by_query_or_by_body(ask: Any) -> None:
    asked = {"sectionTime": "2026-06-30", "market": "szsh", "stockCode": "", "isDesc": "", "pagenum": "1"}
    path = "/cninfo/new/information/getPrbookInfo"
    by_query = ask(path, method="POST", params=asked)
    by_body = ask(path, method="POST", data=asked)
    assert by_query.json() == by_body.json()
    assert by_query.json()["prbookinfos"]


@pytest.mark.parametrize(
    ("referer", "answered"),
    [
        ("https://www.sse.com.cn/", True),
        ("http://www.sse.com.cn/", True),
        ("https://example.invalid/", False),
    ],
)
def test_the_exchange_answers_to_its_own_pages_over_http_as_well(
    ask: Any, referer: str, answered: bool
) -> None:
    path = "/sse/marketdata/tradedata/queryMargin.do?isPagination=true&tabType=mxtype&detailsDate=20260820"
    reported = ask(f"{path}&pageHelp.pageSize=25&pageHelp.pageNo=1", headers={"Referer": referer})
    assert (reported.status_code == 200 and bool(reported.json()["result"])) == answered
