"""Answers made from adjusted prices say so while their factor is provisional."""

from typing import Any

import httpx
import pytest

from tests.serving_api import market
from tests.serving_api.conftest import Bench

CODE, OTHER = "600519", "601398"
OPENED, CLOSED = "2026-08-19", "2026-08-20"
DAYS = ("2026-08-18", "2026-08-19", "2026-08-20", "2026-08-21")


def item(bench: Bench, **how: Any) -> None:
    row = {
        "code": CODE, "date": OPENED, "market": "SH", "before_date": DAYS[0], "close_before": 8.0,
        "quoted": 6.59, "expected": 8.0, "factor": 1.21396, "status": "open", "opened_on": OPENED,
        "asked_on": OPENED,
    }  # fmt: skip
    put(bench, market.EX_ITEMS, [{**row, **how}])


def put(bench: Bench, table: Any, rows: list[dict[str, Any]]) -> None:
    warehouse = bench.warehouse()
    market.put(warehouse, table, rows)
    warehouse.close()
    bench.ticks.advance(2.0)  # MariaDB is asked for versions once a second


@pytest.fixture
def marked(bench: Bench) -> Bench:
    """Bars of two stocks; the ledger has an open item of one."""
    bars = [
        {
            "code": code, "date": day, "market": "SH", "sec_type": "stock", "open": 10.0, "high": 11.0,
            "low": 9.0, "close": 10.0, "volume": 1000, "amount": 10000.0, "is_suspended": False,
            "adj_factor": 1.0 if day < OPENED else 1.21396,
        }
        for code in (CODE, OTHER)
        for day in DAYS
    ]  # fmt: skip
    put(bench, market.KLINE, bars)
    item(bench)
    return bench


def mark(answer: httpx.Response) -> str | None:
    assert answer.status_code == 200, answer.text
    return answer.headers.get("X-Factor")


def test_adjusted_bars_are_marked_in_header_and_body_until_the_item_closes(marked: Bench) -> None:
    path = f"/stocks/{CODE}/kline?days=30"
    first = marked.api.get(path)
    kept = marked.api.get(path)

    for answer in (first, kept):
        assert (mark(answer), answer.json()["factor"]) == ("provisional", "provisional")
    tag = {"If-None-Match": first.headers["ETag"]}
    assert marked.api.get(path, headers=tag).status_code == 304

    item(marked, status="closed", closed_by="event", closed_on=CLOSED)

    after = marked.api.get(path, headers=tag)
    assert (mark(after), after.json()["factor"]) == (None, "final")
    assert after.headers["ETag"] != first.headers["ETag"]


@pytest.mark.parametrize(
    ("path", "factor"),
    [
        (f"/stocks/{CODE}/kline?days=30&adjust=none", None),
        (f"/stocks/{OTHER}/kline?days=30", "final"),
        (f"/stocks/batch-kline?codes={CODE}&days=5&adjust=none", None),
        (f"/stocks/batch-kline?codes={OTHER}&days=5", "final"),
    ],
)
def test_unadjusted_bars_and_those_of_other_codes_are_not(
    marked: Bench, path: str, factor: str | None
) -> None:
    answer = marked.api.get(path)

    assert (mark(answer), answer.json().get("factor")) == (None, factor)


def test_one_code_of_a_batch_marks_it(marked: Bench) -> None:
    answer = marked.api.get(f"/stocks/batch-kline?codes={OTHER},{CODE}&days=5")

    assert (mark(answer), answer.json()["factor"]) == ("provisional", "provisional")


@pytest.mark.parametrize(
    ("as_of", "expected"), [(DAYS[0], "final"), (OPENED, "provisional"), (CLOSED, "final")]
)
def test_the_mark_is_that_of_the_time_that_is_asked_for(marked: Bench, as_of: str, expected: str) -> None:
    item(marked, status="closed", closed_by="event", closed_on=CLOSED)

    shown = marked.api.get(f"/stocks/{CODE}/kline?days=30&as_of={as_of}").json()

    assert shown["factor"] == expected


def test_what_is_calculated_on_read_is_marked(marked: Bench) -> None:
    assert mark(marked.api.get(f"/stocks/{CODE}/vpa?days=60")) == "provisional"
    assert mark(marked.api.get(f"/stocks/{OTHER}/vpa?days=60")) is None


def test_a_ranking_of_the_market_is_marked_where_the_code_is_in_it(marked: Bench) -> None:
    def wide(code: str) -> dict[str, Any]:
        return {"code": code, "trade_date": DAYS[3], "name": code, "market": "SH", "current_price": 10.0,
                "change_pct": 1.0, "pe_ttm": 10.0 if code == CODE else 30.0}  # fmt: skip

    put(marked, market.WIDE, [wide(CODE), wide(OTHER)])

    def found(dsl: str) -> str | None:
        answer = marked.api.post("/screener/find", json={"dsl": dsl})
        assert answer.json()["total"] == 1, answer.text
        return mark(answer)

    assert found("pe_ttm < 20") is None
    assert found("pe_ttm < 20 and ma(close, 2) > 1") == "provisional"
    assert found("pe_ttm > 20 and ma(close, 2) > 1") is None
    assert found("pe_ttm < 20 and ma(close, 2) > 1") == "provisional"  # from the cache
    assert mark(marked.api.post("/quant/formulas/eval", json={"formula": "MA(CLOSE,2)"})) == "provisional"
    assert mark(marked.api.post("/quant/formulas/eval", json={"formula": "MA(VOL,2)"})) is None


def test_an_interface_marks_its_answer_and_its_adjusted_rows(marked: Bench) -> None:
    def called(code: str, **params: Any) -> tuple[str | None, set[str | None]]:
        body = {"interface": "get_kline_daily", "params": {"code": code, "limit": 5, **params}}
        answer = marked.api.post("/datamgr/fusion/call", json=body)
        return mark(answer), {row.get("factor") for row in answer.json()["results"]}

    assert called(CODE) == ("provisional", {"provisional"})
    assert called(OTHER) == (None, {"final"})
    assert called(CODE, adjust="none") == ("provisional", {None})  # its rows have adj_factor


def test_values_of_before_the_item_are_not_marked(marked: Bench) -> None:
    def called(adjust: str, **params: Any) -> tuple[str | None, set[str | None]]:
        asked = {"code": CODE, "limit": 5, "adjust": adjust, **params}
        answer = marked.api.post(
            "/datamgr/fusion/call", json={"interface": "get_kline_daily", "params": asked}
        )
        return mark(answer), {row.get("factor") for row in answer.json()["results"]}

    assert called("hfq", end_date=DAYS[0]) == (None, {"final"})
    assert called("hfq", end_date=OPENED) == ("provisional", {"provisional"})
    # 1 at the newest bar: the base lies behind the item.
    assert called("qfq", end_date=DAYS[0]) == ("provisional", {"provisional"})

    def rows(until: str | None) -> str | None:
        body = {"columns": ["code", "adj_factor"], "codes": [CODE], "until": until}
        return mark(marked.api.post("/research/rows/kline_daily", json=body, headers=marked.admin()))

    assert (rows(DAYS[0]), rows(OPENED), rows(None)) == (None, "provisional", "provisional")


def test_tools_say_it_in_their_answer(marked: Bench) -> None:
    def told(code: str) -> str | None:
        arguments = {"interface": "get_kline_daily", "params": {"code": code, "limit": 5}}
        params = {"name": "app_info", "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = marked.api.post("//mcp/tools/call", json=body).json()
        factor: str | None = answer["result"]["structuredContent"]["factor"]
        return factor

    assert (told(CODE), told(OTHER)) == ("provisional", "final")


@pytest.mark.parametrize(
    ("columns", "codes", "expected"),
    [
        (["code", "close"], [CODE], None),
        (["code", "adj_factor"], [CODE, OTHER], "provisional"),
        (["code", "adj_factor"], [OTHER], None),
        (["adj_factor"], [OTHER], None),
        (["adj_factor"], None, "provisional"),
    ],
)
def test_rows_of_research_are_marked(
    marked: Bench, columns: list[str], codes: list[str] | None, expected: str | None
) -> None:
    body = {"columns": columns, "codes": codes}

    answer = marked.api.post("/research/rows/kline_daily", json=body, headers=marked.admin())

    assert mark(answer) == expected
