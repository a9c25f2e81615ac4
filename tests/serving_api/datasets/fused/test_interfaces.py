"""The catalog: listed, searched and called, on both engines."""

from typing import Any

import httpx
import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.declaration.registry import builtin_registry
from resources.warehouse.slices import Slice
from resources.warehouse.writer import Batch
from serving_api.interfaces.catalog import Catalog, builtin_catalog
from serving_api.interfaces.live import LIVE
from serving_api.interfaces.templates import EXECUTORS
from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, TODAY, get, results

DAYS = shipped_calendar().last(60, TODAY)


def call(bench: Bench, interface: str, as_of: str | None = None, **params: Any) -> httpx.Response:
    """Without a token: the call is open."""
    body = {"interface": interface, "params": params} | ({"as_of": as_of} if as_of else {})
    return bench.api.post("/datamgr/fusion/call", json=body)


def value(bench: Bench, interface: str, as_of: str | None = None, **params: Any) -> Any:
    answer = call(bench, interface, as_of, **params)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_every_declared_interface_has_an_executor() -> None:
    declared = [interface for interface, _ in builtin_registry().interfaces.values()]

    assert {one.template for one in declared if not one.live} <= EXECUTORS.keys()
    assert {one.template for one in declared if one.live} == LIVE.keys()


def test_the_catalog_is_open_and_complete(fused: Bench) -> None:
    answer = fused.api.get("/datamgr/fusion/interfaces").json()

    assert answer["total"] == answer["stats"]["total"] == len(builtin_registry().interfaces)
    entry = next(item for item in answer["results"] if item["name"] == "get_kline_daily")
    assert (entry["dimension"], entry["returns"], entry["ttl"]) == ("timeseries", "object[]", 300)
    assert entry["params"][0] == {
        "name": "code",
        "type": "string",
        "required": True,
        "default": None,
        "description": "security code: 6 digits, HK 5 digits, US ticker",
    }
    assert all(param["description"] for item in answer["results"] for param in item["params"])


def test_latest_and_batch_give_the_newest_rows(fused: Bench) -> None:
    newest = value(fused, "get_kline_latest", code=MAOTAI)
    assert (newest["date"], newest["close"], newest["quality"]) == (TODAY, 1459.0, "warning")
    assert "batch_id" not in newest

    assert value(fused, "get_stock_master", code="999999") is None
    rows = value(fused, "get_stock_master_batch", codes=f"{PINGAN},{MAOTAI},999999", fields=["name"])
    assert rows == [{"code": PINGAN, "name": "平安银行"}, {"code": MAOTAI, "name": "贵州茅台"}]


def test_bars_are_adjusted_and_leave_suspended_days_out(fused: Bench) -> None:
    bars = value(fused, "get_kline_daily", code=MAOTAI, limit=30)
    chart = results(fused, f"/stocks/{MAOTAI}/kline", days=30)

    assert [bar["date"] for bar in bars] == [bar["date"] for bar in chart]
    assert [bar["close"] for bar in bars] == [bar["close"] for bar in chart]
    assert {bar["adjust"] for bar in bars} == {"qfq"}
    assert DAYS[55] not in {bar["date"] for bar in bars}


def test_a_range_of_the_past_has_the_base_of_the_newest_bar(fused: Bench) -> None:
    span = {"code": MAOTAI, "start_date": DAYS[0].replace("-", ""), "end_date": DAYS[9]}

    raw = value(fused, "get_kline_daily", adjust="none", **span)
    forward = value(fused, "get_kline_daily", **span)

    assert [bar["date"] for bar in raw] == DAYS[:10]
    assert [bar["close"] for bar in forward] == [bar["close"] / 2 for bar in raw]


def test_history_of_an_index_in_either_order(fused: Bench) -> None:
    rows = value(fused, "get_index_daily", index_code="sh000001", limit=3)
    assert [row["date"] for row in rows] == DAYS[-3:]

    turned = value(fused, "get_index_daily", index_code="sh000001", limit=3, ascending=False)
    assert turned == rows[::-1]


def test_bars_of_a_period(fused: Bench) -> None:
    rows = value(fused, "get_kline_bar", code=MAOTAI, periods=2)
    assert [row["date"] for row in rows] == ["2026-08-14", "2026-08-21"]
    assert {row["period"] for row in rows} == {"week"}
    assert [row["is_closed"] for row in rows] == [True, True]
    before = value(fused, "get_kline_bar", "2026-08-21T14:59:00", code=MAOTAI, periods=1)
    assert [row["is_closed"] for row in before] == [False]
    assert value(fused, "get_kline_bar", code=MAOTAI, periods=2, ascending="false") == rows[::-1]
    (month,) = value(fused, "get_kline_bar", code=MAOTAI, period="month")
    assert (month["date"], month["last_date"], month["is_closed"]) == ("2026-08-31", TODAY, False)


def test_one_date_sorted_and_paged(fused: Bench) -> None:
    rows = value(fused, "get_kline_daily_by_date", sort="-close")
    assert [row["code"] for row in rows] == [MAOTAI, PINGAN]
    assert value(fused, "get_kline_daily_by_date", sort="-close", limit=1, offset=1) == rows[1:]
    # Nobody has a turnover: nulls last, then by code.
    assert [row["code"] for row in value(fused, "get_kline_daily_by_date", sort="turnover_pct")] == [
        PINGAN,
        MAOTAI,
    ]
    assert [row["code"] for row in value(fused, "get_kline_daily_by_date", trade_date=DAYS[0])] == [MAOTAI]


def test_the_calendar_knows_the_newest_trade_date(fused: Bench) -> None:
    assert value(fused, "get_latest_trade_date") == TODAY
    assert value(fused, "get_latest_trade_date", market="HK") is None
    assert value(fused, "get_trade_calendar", start_date="2026-08-01") == []


def test_a_calendar_that_is_cut_keeps_its_newest_days(fused: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    days = ["2026-08-20", "2026-08-21", "2026-08-22", "2026-08-24"]
    fused.extra["warehouse"].writer.write(
        fused.extra["warehouse"].table("ref_trade_calendar"),
        pd.DataFrame([{"market": "CN", "date": day, "is_open": day != "2026-08-22"} for day in days]),
        where=Slice(),
        batch=Batch(partition_key="test"),
    )
    monkeypatch.setattr("serving_api.interfaces.templates.MOST_ROWS", 3)

    assert [row["date"] for row in value(fused, "get_trade_calendar")] == days[1:]
    # Days to come are part of a calendar.
    assert [row["date"] for row in value(fused, "get_trade_calendar", end_date="2030-01-01")] == days[1:]


def test_lists_are_counted_and_nothing_inside_is_lifted(fused: Bench) -> None:
    listed = call(fused, "get_index_daily", index_code="sh000001", limit=3).json()
    assert (listed["stats"]["total"], len(listed["results"])) == (3, 3)

    alone = call(fused, "get_stock_master", code=MAOTAI).json()
    assert alone["stats"] == {}
    assert alone["results"]["code"] == MAOTAI


def test_a_call_says_where_its_rows_come_from(fused: Bench) -> None:
    answer = call(fused, "get_stock_master", code=MAOTAI)

    assert answer.headers["x-data-source"] == "fusion_stock_master"
    assert answer.headers["x-data-as-of"].endswith("+08:00")
    assert answer.headers["cache-control"] == "no-store"


def test_as_of_answers_with_what_was_known(fused: Bench) -> None:
    assert value(fused, "get_stock_master", as_of="2026-06-30", code=MAOTAI) is None
    answer = call(fused, "get_stock_master", as_of="2026-08-02", code=MAOTAI).json()
    assert answer["as_of"].startswith("2026-08-02T23:59:59")
    assert answer["results"]["name"] == "贵州茅台"
    rows = value(fused, "get_kline_daily_by_date", as_of="2026-08-02")
    assert {row["code"] for row in rows} == {MAOTAI, PINGAN}


@pytest.mark.parametrize(
    "name", ["sync_all", "save_x", "update_kline", "delete_rows", "download_kline", "run_job"]
)
def test_writers_are_refused_before_anything_is_looked_up(fused: Bench, name: str) -> None:
    answer = call(fused, name, nonsense=1)

    assert answer.status_code == 403
    assert answer.json() == {"detail": f"interface {name} is not readable"}


def test_an_unknown_name_is_answered_with_the_nearest(fused: Bench) -> None:
    answer = call(fused, "get_kline_dayly", nonsense=1)

    assert answer.status_code == 404
    head, _, nearest = answer.json()["detail"].partition("; nearest: ")
    assert head == "unknown interface: get_kline_dayly"
    assert nearest.split(", ")[0] == "get_kline_daily"
    assert len(nearest.split(", ")) == 3


@pytest.mark.parametrize(
    ("name", "params", "detail"),
    [
        ("get_kline_daily", {}, "interface get_kline_daily missing required parameter: code"),
        ("get_kline_daily", {"code": None}, "interface get_kline_daily missing required parameter: code"),
        ("get_kline_daily", {"code": "600519", "x": 1}, "interface get_kline_daily bad parameter: x: "),
        ("get_kline_daily", {"code": "6005 19"}, "interface get_kline_daily bad parameter: code: "),
        ("get_kline_daily", {"code": ["600519"]}, "interface get_kline_daily bad parameter: code: "),
        (
            "get_kline_daily",
            {"code": "600519", "limit": 5001},
            "interface get_kline_daily bad parameter: limit: ",
        ),
        (
            "get_kline_daily",
            {"code": "600519", "limit": True},
            "interface get_kline_daily bad parameter: limit: ",
        ),
        (
            "get_kline_daily",
            {"code": "600519", "adjust": "x"},
            "interface get_kline_daily bad parameter: adjust: ",
        ),
        (
            "get_kline_daily",
            {"code": "600519", "start_date": "2026-13-01"},
            "interface get_kline_daily bad parameter: start_date: ",
        ),
        (
            "get_kline_daily",
            {"code": "600519", "start_date": "2026-08-02", "end_date": "2026-08-01"},
            "interface get_kline_daily bad parameter: start_date: ",
        ),
        ("get_stock_master_batch", {"codes": []}, "interface get_stock_master_batch bad parameter: codes: "),
        (
            "get_stock_master_batch",
            {"codes": ["600519"], "fields": "name,batch_id"},
            "interface get_stock_master_batch bad parameter: fields: ",
        ),
        (
            "get_kline_daily_by_date",
            {"sort": "close; DROP TABLE x"},
            "interface get_kline_daily_by_date bad parameter: sort: ",
        ),
        (
            "get_kline_daily_by_date",
            {"trade_date": "2026-08-22"},
            "interface get_kline_daily_by_date bad parameter: trade_date: 2026-08-22",
        ),
        (
            "get_kline_daily_by_date",
            {"trade_date": "2026-08-16"},
            "interface get_kline_daily_by_date bad parameter: trade_date: 2026-08-16 is no trade date; "
            "the nearest earlier one is 2026-08-14",
        ),
        (
            "get_kline_daily",
            {"code": "6005"},
            "interface get_kline_daily bad parameter: code: '6005' is no code",
        ),
        ("get_stock_master", {"code": "sz600519"}, "interface get_stock_master bad parameter: code: "),
        (
            "get_stock_master_batch",
            {"codes": "600519,1"},
            "interface get_stock_master_batch bad parameter: codes",
        ),
        (
            "get_index_daily",
            {"index_code": "600519"},
            "interface get_index_daily bad parameter: index_code: ",
        ),
        (
            "get_kline_daily",
            {"code": "600519", "end_date": "2026-08-22"},
            "interface get_kline_daily bad parameter: end_date: 2026-08-22 lies in the future",
        ),
        (
            "get_index_daily",
            {"index_code": "sh000001", "start_date": "20260822"},
            "interface get_index_daily bad parameter: start_date: 2026-08-22 lies in the future",
        ),
        (
            "get_index_daily",
            {"index_code": "sh000001", "ascending": "maybe"},
            "interface get_index_daily bad",
        ),
    ],
)
def test_bad_parameters_have_the_fixed_wording(
    fused: Bench, name: str, params: dict[str, Any], detail: str
) -> None:
    answer = call(fused, name, **params)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)


def test_bodies_with_unknown_keys_or_a_wrong_as_of_are_refused(fused: Bench) -> None:
    refused = fused.api.post("/datamgr/fusion/call", json={"interface": "get_stock_master", "parms": {}})
    assert refused.status_code == 422
    future = call(fused, "get_stock_master", as_of="2027-01-01", code=MAOTAI)
    assert (future.status_code, future.json()["detail"][:6]) == (422, "as_of:")
    unversioned = call(fused, "get_trade_calendar", as_of="2026-08-01")
    assert (unversioned.status_code, unversioned.json()["detail"][:6]) == (422, "as_of:")


def test_an_execution_error_is_500_without_a_word_about_its_cause(
    fused: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.errors import StorageError

    def broken(*_: Any) -> None:
        raise StorageError("disk /var/secret is full")

    from serving_api.interfaces import templates

    monkeypatch.setitem(templates.EXECUTORS, "latest", broken)  # type: ignore[arg-type]
    answer = call(fused, "get_stock_master", code=MAOTAI)

    assert answer.status_code == 500
    assert answer.json() == {"detail": "internal error"}


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("日线行情", "get_kline_daily"),
        ("daily bars of a stock", "get_kline_daily"),
        ("周线", "get_kline_bar"),
        ("指数日线", "get_index_daily"),
        ("daily bars of an index", "get_index_daily"),
        ("行业成分股", "get_industry_members"),
        ("新股", "get_new_stocks"),
        ("市盈率分位", "get_valuation_percentile"),
        ("波动率", "get_returns"),
        ("资金流排行", "get_fund_flow_rank"),
        ("涨幅榜", "get_stock_rank"),
        ("交易日历", "get_trade_calendar"),
        ("latest trading day", "get_latest_trade_date"),
        ("closing quotes of many codes", "get_quote_snapshot_batch"),
        ("股票代码 名称", "get_stock_master"),
        ("筹码分布", "get_chip"),
        ("获利盘", "get_chip"),
        ("筹码分布 历史", "get_chip_history"),
        ("研报", "get_research_reports"),
        ("研究报告 全市场 当日", "get_research_reports_by_date"),
        ("新闻", "get_news"),
        ("龙虎榜", "get_dragon_tiger_by_date"),
        ("个股 龙虎榜 历史", "get_dragon_tiger_history"),
        ("龙虎榜 营业部", "get_lhb_branch"),
        ("get_quote_snapshot_history", "get_quote_snapshot_history"),
    ],
)
def test_search_puts_the_fitting_interface_first(fused: Bench, question: str, name: str) -> None:
    hits = results(fused, "/datamgr/fusion/interfaces/search", q=question)

    assert hits[0]["name"] == name
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_search_is_limited_filtered_and_honest_about_nothing(fused: Bench) -> None:
    path = "/datamgr/fusion/interfaces/search"
    assert len(results(fused, path, q="行情", limit=2)) == 2
    assert {hit["dimension"] for hit in results(fused, path, q="日线", dimension="market")} == {"market"}
    assert results(fused, path, q="zzzz") == []
    assert get(fused, path).status_code == 422
    assert fused.api.get(path, params={"q": "x"}).status_code == 401


def test_a_hit_has_the_evidence_for_each_of_its_sources(fused: Bench) -> None:
    path = "/datamgr/fusion/interfaces/search"
    (hit,) = results(fused, path, q="get_kline_daily", limit=1)
    (ratios,) = results(fused, path, q="get_industry_valuation", limit=1)

    reported = {one["source"]: one["evidence"] for one in hit["evidence"]}
    assert (reported["tencent"], reported["sina"]) == ("recorded", "witnessed")
    assert {one["table"] for one in hit["evidence"]} == {"fusion_kline_daily"}  # asked for directly
    assert [one["source"] for one in ratios["evidence"]] == ["cninfo", "sw", "eastmoney"]


def test_the_nearest_of_nonsense_are_still_names() -> None:
    catalog: Catalog = builtin_catalog()

    assert len(set(catalog.nearest("qqq"))) == 3
