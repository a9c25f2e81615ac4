"""Report periods of a stock: the fused route, the stock routes and the interfaces, on both engines."""

import pytest

from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, get, put, results
from tests.serving_api.datasets.fused.test_margin import call

FINANCE = f"/datamgr/fusion/stock/{MAOTAI}/finance"
STOCK = f"/stocks/{MAOTAI}"
RAW = ("2026-03-31", "2026-06-30")


@pytest.fixture(scope="module", autouse=True)
def raw_rows(fused: Bench) -> None:
    """Rows of the RAW tables, and a correction of the newest fused period."""
    warehouse = fused.extra["warehouse"]
    put(
        warehouse,
        "raw_fin_indicator",
        [
            {"code": MAOTAI, "report_period": period, "src": src, "revenue": 1e9, "indicators": text}
            for period in RAW
            for src, text in (
                ("tdx", '{"eps":9.9,"fixed_assets":5.0}'),
                ("em_f10", '{"current_ratio":1.5,"eps":1.25,"strange":7.0}'),
            )
        ],
    )
    put(
        warehouse,
        "raw_finstmt",
        [
            {"code": MAOTAI, "report_period": period, "statement": kind, "item": item, "value": value,
             "src": src}
            for period in RAW
            for kind, item, value, src in (
                ("income", "revenue", 2e9, "em_f10"),
                ("income", "revenue", 1e9, "eastmoney"),
                ("balance", "cash", 3e8, "em_f10"),
            )
        ],
    )  # fmt: skip
    put(
        warehouse,
        "aux_finance_changes",
        [
            {"code": MAOTAI, "report_period": period, "item": item, "value": 1e8, "prev_value": 2e8,
             "change_pct": change, "src": "em_f10"}
            for period in RAW
            for item, change in (("goodwill", -50.0), ("revenue", 4.0))
        ],
    )  # fmt: skip
    put(
        warehouse,
        "raw_earnings_forecast",
        [
            {"code": MAOTAI, "report_period": "2026-06-30", "indicator": name, "ann_date": day,
             "predict_type": "略增", "src": "eastmoney"}
            for name in ("net_profit", "revenue")
            for day in ("2026-07-10", "2026-07-20")
        ],
    )  # fmt: skip


def test_periods_are_oldest_first_and_eight_by_default(fused: Bench) -> None:
    answer = get(fused, FINANCE).json()
    rows = answer["results"]

    assert (answer["code"], answer["periods"], len(rows)) == (MAOTAI, 8, 8)
    assert [row["report_period"] for row in rows] == sorted(row["report_period"] for row in rows)
    assert list(rows[0])[:5] == ["report_period", "revenue", "net_profit", "eps", "bvps"]
    assert rows[-1]["report_period"] == "2026-06-30"
    assert results(fused, FINANCE, periods=2) == rows[-2:]
    assert results(fused, f"/datamgr/fusion/stock/{PINGAN}/finance") == []
    assert results(fused, FINANCE, as_of="2026-06-30") == []


@pytest.mark.parametrize("periods", [0, 21, "x"])
def test_periods_beyond_their_bounds_are_refused(fused: Bench, periods: object) -> None:
    answer = get(fused, FINANCE, periods=periods)

    assert answer.status_code == 422
    assert "periods" in answer.text


def test_rows_of_a_stock_are_newest_first(fused: Bench) -> None:
    answer = fused.api.get(f"{STOCK}/finance").json()

    assert answer["source"] == "fusion"
    assert answer["results"][0] == {
        "year": 2026,
        "report_period": "2026-06-30",
        "revenue": 1e10,
        "netProfit": 1e9,
        "roe": 8.5,
        "eps": 10.0,
        "bvps": 150.0,
    }
    assert len(answer["results"]) == 10
    before = fused.api.get(f"{STOCK}/finance", params={"as_of": "2026-06-30"}).json()
    assert (before["results"], before["source"]) == ([], "fusion")
    assert fused.api.get("/stocks/12/finance").status_code == 422


def test_indicators_by_group_of_the_best_source(fused: Bench) -> None:
    found = fused.api.get(f"{STOCK}/finance-indicators").json()["results"]

    # Two periods of the indicator table do not hide what was fused of the others.
    assert (found["code"], found["periods"][:2], len(found["periods"])) == (
        MAOTAI,
        ["2026-06-30", "2026-03-31"],
        10,
    )
    items = {item["key"]: (group["key"], item) for group in found["groups"] for item in group["items"]}
    assert items["eps"][0] == "per_share"
    assert items["eps"][1]["values"][:2] == [1.25, 1.25]  # the portal's page before the terminal
    assert None not in items["eps"][1]["values"]
    assert items["current_ratio"][1]["values"] == [1.5, 1.5, *[None] * 8]
    assert items["current_ratio"][0] == "solvency"
    assert items["strange"][0] == "other"
    assert items["roe"][1]["values"][0] == 8.5  # fused; the page of the sample does not tell it
    assert found["updatedAt"]
    then = fused.api.get(f"{STOCK}/finance-indicators", params={"as_of": "2026-08-05"}).json()
    assert (len(then["results"]["periods"]), then["results"]["periods"][0]) == (10, "2026-06-30")
    wrong = fused.api.get(f"{STOCK}/finance-indicators", params={"as_of": "2026-08-05", "refresh": True})
    assert wrong.status_code == 422
    assert "refresh" in wrong.text


def test_detail_has_series_changes_and_indicators(fused: Bench) -> None:
    found = fused.api.get(f"{STOCK}/finance-detail").json()["results"]

    assert found["periods"][:2] == ["2026-06-30", "2026-03-31"]
    series = {one["key"]: one for one in found["series"]}
    assert list(series) == [
        "revenue", "netProfit", "deductedNetProfit", "grossMargin", "netMargin", "roe", "ocf", "debtRatio",
    ]  # fmt: skip
    revenue = series["revenue"]
    assert revenue["values"][:2] == [1e10, 9e9]
    # Half years 10 and 6 billion; quarters of 1 and 9 billion.
    assert revenue["yoy"][0] == pytest.approx(66.6667)
    assert revenue["qoq"][0] == pytest.approx(-88.8889)
    assert series["roe"]["yoy"][0] == 0.0  # points
    assert found["explanations"] == [
        {"report_period": "2026-06-30", "item": "goodwill", "change_pct": -50.0, "text": None}
    ]
    assert found["indicators"]["eps"] == 1.25
    nothing = fused.api.get(f"/stocks/{PINGAN}/finance-detail").json()["results"]
    assert (nothing["periods"], nothing["explanations"], nothing["indicators"]) == ([], [], {})


def test_interfaces_by_report_period(fused: Bench) -> None:
    assert call(fused, "get_finance_indicator", code=MAOTAI)["report_period"] == "2026-06-30"
    rows = call(fused, "get_finance_indicator_history", code=MAOTAI, periods=3, ascending=False)
    assert [row["report_period"] for row in rows] == ["2026-06-30", "2026-03-31", "2025-12-31"]
    assert [row["code"] for row in call(fused, "get_finance_indicator_by_date")] == [MAOTAI]
    growth = call(fused, "get_finance_growth", code=MAOTAI, periods=2)
    assert [row["report_period"] for row in growth] == ["2026-03-31", "2026-06-30"]
    assert growth[1]["revenue"] == 1e9
    assert growth[1]["revenue_qoq"] == pytest.approx(-88.8889)
    statement = call(fused, "get_finance_statement", code=MAOTAI, periods=1)
    assert [(row["item"], row["value"], row["src"]) for row in statement] == [("revenue", 1e9, "eastmoney")]
    assert call(fused, "get_finance_statement", code=MAOTAI, statement="balance")[0]["item"] == "cash"
    full = call(fused, "get_finance_indicators_full", code=MAOTAI)
    assert full["periods"] == ["2026-06-30", "2026-03-31"]
    changes = call(fused, "get_finance_changes", code=MAOTAI)
    assert [(row["item"], row["change_pct"]) for row in changes] == [("goodwill", -50.0), ("revenue", 4.0)]
    forecasts = call(fused, "get_earnings_forecast", code=MAOTAI, limit=3)
    assert len(forecasts) == 3
    assert forecasts[0]["report_period"] == "2026-06-30"
    assert len(call(fused, "get_earnings_forecast_by_period", report_period="2026-06-30")) == 4
    assert call(fused, "get_earnings_express", code=MAOTAI) == []


@pytest.mark.parametrize(
    ("name", "params", "reported"),
    [
        ("get_finance_indicator_by_date", {"report_period": "2026-05-31"}, "2026-03-31"),
        ("get_finance_indicator_by_date", {"report_period": "2026-12-31"}, "future"),
        ("get_finance_changes", {"code": MAOTAI, "report_period": "2026-06-29"}, "2026-03-31"),
        ("get_finance_statement", {"code": MAOTAI, "statement": "profit"}, "statement"),
    ],
)
def test_interfaces_name_the_parameter_that_is_wrong(
    fused: Bench, name: str, params: dict[str, object], reported: str
) -> None:
    answer = fused.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})

    assert answer.status_code == 422
    assert reported in answer.text
