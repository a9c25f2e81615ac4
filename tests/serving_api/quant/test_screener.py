"""/screener and /quant/screener: what is found is what the stored rows say."""

from typing import Any

import numpy as np
import pytest

from core.declaration.registry import builtin_registry
from core.market.names import plain_industry
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.presets import PRESETS
from platform_assets.compute.dsl.written import written
from serving_api.framework.display_fields import COLUMNS
from serving_api.quant.screener.conditions import query_of
from serving_api.quant.screener.schemas import FieldCondition
from tests.pipeline.conftest import TODAY
from tests.serving_api.areas.conftest import Topics

Rows = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def wide(quant: Topics) -> Rows:
    return {row["code"]: row for row in quant.rows("fusion_stock_wide") if row["trade_date"] == TODAY}


@pytest.fixture(scope="module")
def bars(quant: Topics) -> dict[str, list[dict[str, Any]]]:
    """Traded bars of each stock, oldest first."""
    held: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(quant.rows("fusion_kline_daily"), key=lambda row: row["date"]):
        if row["sec_type"] == "stock" and not row["is_suspended"]:
            held.setdefault(row["code"], []).append(row)
    return held


def found(quant: Topics, dsl: str, **more: Any) -> dict[str, Any]:
    answer = quant.api.post("/screener/find", json={"dsl": dsl, "pageSize": 200, **more})
    assert answer.status_code == 200, answer.text
    reported: dict[str, Any] = answer.json()
    return reported


def codes(reported: dict[str, Any]) -> list[str]:
    return [row["code"] for row in reported["items"]]


def test_a_query_finds_the_rows_that_fulfil_it(quant: Topics, wide: Rows) -> None:
    reported = found(quant, "change_pct > 0 and total_market_cap >= 100亿 and not st order by amount desc")

    fitting = [
        row
        for row in wide.values()
        if (row["change_pct"] or 0) > 0 and (row["total_market_cap"] or 0) >= 1e6 and row["is_st"] == 0
    ]
    assert codes(reported) == [
        row["code"] for row in sorted(fitting, key=lambda row: (-row["amount"], row["code"]))
    ]
    assert len(fitting) > 3
    assert reported["total"] == len(fitting)
    assert reported["date"] == TODAY
    first = reported["items"][0]
    assert list(first) == list(COLUMNS)
    assert len(first) == 18
    stored = wide[first["code"]]
    assert first == {name: stored[column] for name, column in COLUMNS.items()}
    assert reported["matched"][first["code"]] == {
        "change_pct": stored["change_pct"],
        "total_market_cap": stored["total_market_cap"],
        "st": False,
        "amount": stored["amount"],
    }
    assert [step["condition"] for step in reported["explain"]] == [
        "change_pct > 0", "total_market_cap >= 100亿", "not st",
    ]  # fmt: skip
    assert reported["explain"][-1]["remaining"] == reported["total"]
    assert reported["normalized"].endswith("order by amount desc")


def test_pages_cut_the_selection(quant: Topics) -> None:
    dsl = "code is not null order by change_pct desc limit 25"
    whole = found(quant, dsl)
    second = found(quant, dsl, page=2, pageSize=10)
    third = found(quant, dsl, page=3, pageSize=10)
    assert codes(whole) == codes(found(quant, dsl, page=1, pageSize=10)) + codes(second) + codes(third)
    assert (second["total"], second["page"], second["pageSize"], len(third["items"])) == (25, 2, 10, 5)
    assert set(second["matched"]) == set(codes(second))


def test_functions_look_at_adjusted_bars_of_traded_days(quant: Topics, bars: Any) -> None:
    reported = found(quant, "price >= hhv(high, 20) * 0.98 and ma(close, 5) > ma(close, 20)")

    fitting = set()
    for code, rows in bars.items():
        if rows[-1]["date"] != TODAY or len(rows) < 20:
            continue
        last = rows[-1]["adj_factor"]
        close = np.array([row["close"] * row["adj_factor"] / last for row in rows[-20:]])
        high = np.array([row["high"] * row["adj_factor"] / last for row in rows[-20:]])
        if close[-1] >= high.max() * 0.98 and close[-5:].mean() > close.mean():
            fitting.add(code)
    assert set(codes(reported)) == fitting
    assert fitting

    volume = found(quant, "volume > 1.2 * ma(volume, 5) and change(close, 5) > 0")
    assert 0 < volume["total"] < len(bars)


def test_a_field_that_nothing_stores_is_missing_and_the_plan_says_so(quant: Topics) -> None:
    reported = found(quant, "vpa_health > 0 or code is not null")
    assert reported["explain"][0]["note"] == "vpa_health: no table stores it yet"
    assert reported["total"] > 0
    assert set(reported["matched"][reported["items"][0]["code"]].values()) == {
        None,
        reported["items"][0]["code"],
    }
    assert found(quant, "vpa_health > 0")["items"] == []


def test_calculated_tables_are_joined(quant: Topics) -> None:
    stored = {row["code"]: row for row in quant.rows("calc_indicator_daily") if row["date"] == TODAY}
    reported = found(quant, "rsi6 < 40 order by rsi6")
    fitting = [row for row in stored.values() if row["rsi6"] is not None and row["rsi6"] < 40]
    assert codes(reported) == [
        row["code"] for row in sorted(fitting, key=lambda row: (row["rsi6"], row["code"]))
    ]


def test_a_stock_without_a_row_of_patterns_has_none(quant: Topics, wide: Rows) -> None:
    stored = {row["code"]: row for row in quant.rows("calc_pattern_daily") if row["date"] == TODAY}
    assert stored
    reported = found(quant, "duck_stage = 0 and double_bottom = 0")
    fitting = {code for code in wide if not (stored.get(code) or {}).get("duck_stage")}
    fitting -= {code for code, row in stored.items() if row["double_bottom"]}
    assert set(codes(reported)) == fitting
    kinds = found(quant, "triangle_kind is not null")
    assert set(codes(kinds)) == {code for code, row in stored.items() if row["triangle_kind"]} & wide.keys()


def test_every_field_is_a_column_with_its_unit() -> None:
    tables = {table.name: table for table in builtin_registry().tables}
    for name, field in catalogue().fields.items():
        if field.table:
            spec = tables[field.table].column(field.column)
            assert field.unit == ("days" if name == "listed_days" else spec.unit), name
    assert [name for name, field in catalogue().fields.items() if not field.table] == ["vpa_health"]


def test_an_earlier_instant_knows_less(quant: Topics) -> None:
    before = found(quant, "code is not null", as_of="2026-08-20")
    assert before["items"] == []
    assert before["as_of"].startswith("2026-08-20T23:59:59")
    now = found(quant, "price > ref(close, 1)")
    known = found(quant, "price > ref(close, 1)", as_of=TODAY + "T15:45")
    assert codes(known) == codes(now) != []


def test_an_instant_does_not_reach_calculated_tables_and_the_plan_says_so(quant: Topics) -> None:
    reported = found(quant, "rsi6 > 0 and pb > 0", as_of=TODAY + "T15:45")
    assert [step["note"] for step in reported["explain"]] == [
        "rsi6: calc_indicator_daily keeps no versions: as last calculated, not as known at as_of",
        None,
    ]
    assert [step["note"] for step in found(quant, "rsi6 > 0 and pb > 0")["explain"]] == [None, None]
    condition = {"field": "rsi6", "op": ">", "value": 0}
    (step,) = screened(quant, condition, as_of=TODAY + "T15:45").json()["explain"]
    assert step["note"] == reported["explain"][0]["note"]
    assert screened(quant, condition, as_of="2026-08-20").json()["explain"] == []


@pytest.mark.parametrize("preset", PRESETS, ids=lambda one: one.key)
def test_every_preset_runs(preset: Any, quant: Topics) -> None:
    assert found(quant, preset.text)["date"] == TODAY


def test_the_lists_name_every_field(quant: Topics) -> None:
    groups = quant.reported("/screener/filters")["groups"]
    names = [entry["field"] for group in groups for entry in group["fields"]]
    assert names == list(catalogue().fields)
    listed = quant.reported("/quant/screener/fields")["items"]
    assert [entry["field"] for entry in listed] == names
    assert next(entry for entry in listed if entry["field"] == "total_market_cap") == {
        "field": "total_market_cap",
        "label": "总市值",
        "type": "number",
        "unit": "wan",
        "group": "valuation",
        "ops": ["=", "!=", ">", ">=", "<", "<=", "between", "in", "not in", "is null", "is not null"],
        "table": "fusion_stock_wide",
        "column": "total_market_cap",
    }
    options = {entry["field"]: entry.get("options") for group in groups for entry in group["fields"]}
    assert options["market"] == ["SH", "SZ", "BJ"]
    assert [one["key"] for one in quant.reported("/screener/presets")["items"]] == [
        one.key for one in PRESETS
    ]


def test_a_query_is_explained_without_being_run(quant: Topics) -> None:
    answer = quant.api.post("/screener/parse-dsl", json={"dsl": "市盈率<20 且 vpa_health>=60"})
    reported = answer.json()
    assert reported["normalized"] == "pe_ttm < 20 and vpa_health >= 60"
    assert reported["fields"] == ["pe_ttm", "vpa_health"]
    assert reported["warnings"] == ["vpa_health: no table stores it yet; it is missing for every stock"]
    assert reported["ast"]["where"]["kind"] == "and"


def test_a_wrong_query_says_where(quant: Topics) -> None:
    for path in ("/screener/find", "/screener/parse-dsl"):
        answer = quant.api.post(path, json={"dsl": "total_market_cap >= 100亿 and pe_ttm < "})
        assert answer.status_code == 422
        reported = answer.json()
        assert reported["error"] == {
            "code": "syntax",
            "position": 38,
            "line": 1,
            "column": 39,
            "token": "",
            "expected": ["number", "field", "function", "("],
        }
        assert reported["detail"].startswith("dsl: ")
        assert reported["errors"][0]["loc"] == ["body", "dsl"]
    meant = quant.api.post("/screener/find", json={"dsl": "pe_tm < 20"}).json()["error"]
    assert (meant["code"], meant["suggestion"]) == ("unknown_field", "pe_ttm")


def test_a_sentence_is_understood_by_rules(quant: Topics, wide: Rows) -> None:
    industry = next(row["industry"] for row in wide.values() if row["industry"])
    asked = {"query": f"{industry}，换手率大于0.1%，妖股，按市值从高到低", "pageSize": 200}
    reported = quant.api.post("/screener/nl-find", json=asked).json()

    assert (reported["source"], reported["unmatched"]) == ("rule", ["妖"])
    query = f"industry = '{plain_industry(industry)}' and turnover_pct > 0.1% order by total_market_cap desc"
    assert reported["dsl"] == reported["normalized"] == query
    assert codes(reported) == codes(found(quant, query)) != []
    nothing = quant.api.post("/screener/nl-find", json={"query": "妖股"}).json()
    assert (nothing["dsl"], nothing["items"], nothing["unmatched"]) == ("", [], ["妖"])


def screened(quant: Topics, *conditions: dict[str, Any], **more: Any) -> Any:
    return quant.api.post("/quant/screener", json={"conditions": list(conditions), **more})


def test_a_list_of_conditions_is_a_query(quant: Topics) -> None:
    reported = screened(
        quant,
        {"field": "pe_ttm", "op": "between", "value": [-5.5, 60]},
        {"field": "st", "op": "=", "value": False},
        {"field": "market", "op": "in", "value": ["SH", "SZ"]},
        {"field": "change_pct", "op": ">", "value": -3},
        {"field": "name", "op": "is not null"},
        sort="-amount",
        limit=15,
    ).json()
    query = (
        "pe_ttm between -5.5 and 60 and not st and market in ('SH', 'SZ') and change_pct > -3 "
        "and name is not null order by amount desc"
    )
    whole = found(quant, query)
    assert codes(reported) == codes(whole)[:15]
    assert set(reported) == {"date", "items", "matched", "total", "explain", "first_date", "note"}
    assert (reported["first_date"], reported["note"]) == (TODAY, None)
    assert reported["explain"] == whole["explain"]
    assert reported["total"] == whole["total"] > len(reported["items"]) == len(reported["matched"]) == 15


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1e-7, "0.0000001"),
        (-1e-7, "-0.0000001"),
        (-0.0, "0"),
        (12.3456789, "12.3456789"),
        (1e14, "1" + 14 * "0"),
    ],
)
def test_a_number_of_a_form_means_itself(value: float, written: str, quant: Topics) -> None:
    reported = screened(quant, {"field": "change_pct", "op": ">", "value": value}, limit=500)
    assert reported.status_code == 200, reported.text
    whole = found(quant, f"change_pct > {written}")
    assert reported.json()["total"] == whole["total"]
    assert whole["normalized"] == f"change_pct > {written}"
    assert written_query(value) == whole["normalized"]


def written_query(value: float) -> str:
    condition = FieldCondition(field="change_pct", op=">", value=value)
    return written(query_of([condition], None))


@pytest.mark.parametrize("name", ["’", "“x”", "it's", "（1）", '"'])
def test_a_text_of_a_form_means_itself(name: str, quant: Topics) -> None:
    for condition in ({"op": "=", "value": name}, {"op": "in", "value": [name, "银行"]}):
        answer = screened(quant, {"field": "name", **condition})
        assert (answer.status_code, answer.json()["total"]) == (200, 0), answer.text


@pytest.mark.parametrize(
    ("condition", "more", "parameter"),
    [
        ({"field": "pe_tm", "op": ">", "value": 1}, {}, "conditions.0.field"),
        ({"field": "pe_ttm", "op": "like", "value": "1"}, {}, "conditions.0.op"),
        ({"field": "pe_ttm", "op": ">", "value": "1"}, {}, "conditions.0.value"),
        ({"field": "pe_ttm", "op": "between", "value": [1]}, {}, "conditions.0.value"),
        ({"field": "pe_ttm", "op": ">", "value": 1e30}, {}, "conditions.0.value"),
        ({"field": "pe_ttm", "op": ">", "value": 1e-40}, {}, "conditions.0.value"),
        ({"field": "name", "op": "=", "value": 1}, {}, "conditions.0.value"),
        ({"field": "st", "op": "=", "value": 1}, {}, "conditions.0.value"),
        ({"field": "pe_ttm", "op": ">", "value": 1}, {"sort": "-nothing"}, "sort"),
        ({"field": "pe_ttm", "op": ">", "value": 1}, {"limit": 501}, "limit"),
        ({"field": "pe_ttm", "op": ">", "value": 1}, {"logic": "or"}, "logic"),
        ({"field": "pe_ttm", "op": ">", "value": 1}, {"date": "2026-08-16"}, "date"),
        ({"field": "pe_ttm", "op": ">", "value": 1}, {"as_of": "2027-01-01"}, "as_of"),
    ],
)
def test_a_wrong_condition_is_named(
    condition: dict[str, Any], more: dict[str, Any], parameter: str, quant: Topics
) -> None:
    answer = screened(quant, condition, **more)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"].startswith(f"{parameter}: ")


@pytest.mark.parametrize(
    "body",
    [
        {"dsl": "pb>1", "page": 0},
        {"dsl": "pb>1", "pageSize": 9},
        {"dsl": "pb>1", "date": "x"},
        {"dsl": 3},
        {},
    ],
)
def test_a_wrong_search_is_refused(body: dict[str, Any], quant: Topics) -> None:
    assert quant.api.post("/screener/find", json=body).status_code == 422


def test_a_date_without_rows_is_empty(quant: Topics) -> None:
    reported = found(quant, "pb > 0", date="2020-01-02")
    assert (reported["items"], reported["total"], reported["date"], reported["explain"]) == ([], 0, None, [])
