"""Margin trading of a stock and of the markets, read on both engines."""

import pytest

from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, get, results

MARGIN = f"/datamgr/fusion/stock/{MAOTAI}/margin"


def call(fused: Bench, name: str, **params: object) -> object:
    answer = fused.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_rows_are_oldest_first_and_thirty_by_default(fused: Bench) -> None:
    rows = results(fused, MARGIN)

    assert len(rows) == 30
    assert [row["date"] for row in rows] == sorted(row["date"] for row in rows)
    assert list(rows[0])[:7] == ["date", "rzye", "rzmre", "rqye", "rzrqye", "fin_ratio_pct", "loan_volume"]
    assert rows[-1]["rzye"] == 1.9e10 + 39
    assert rows[-1]["loan_volume"] == 133_635
    assert results(fused, MARGIN, periods=2) == rows[-2:]


def test_a_stock_that_cannot_be_bought_on_credit_has_no_rows(fused: Bench) -> None:
    assert results(fused, f"/datamgr/fusion/stock/{PINGAN}/margin") == []
    assert results(fused, MARGIN, as_of="2026-07-01") == []


@pytest.mark.parametrize("periods", [0, 121])
def test_periods_beyond_their_bounds_are_refused(fused: Bench, periods: int) -> None:
    answer = get(fused, MARGIN, periods=periods)

    assert answer.status_code == 422
    assert "periods" in answer.text


def test_sums_of_the_markets_come_without_securities(fused: Bench) -> None:
    rows = call(fused, "get_margin_total")
    assert [row["code"] for row in rows] == ["TOTAL_SH", "TOTAL_SZ"]
    assert [row["code"] for row in call(fused, "get_margin_total", exchange="SZSE")] == ["TOTAL_SZ"]
    answer = fused.api.post(
        "/datamgr/fusion/call", json={"interface": "get_margin_total", "params": {"exchange": "NYSE"}}
    )
    assert answer.status_code == 422
    assert "exchange" in answer.text
    assert call(fused, "get_margin", code=MAOTAI)["rzye"] == 1.9e10 + 39
