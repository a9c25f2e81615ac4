"""Hong Kong: stored figures first, else the portal's; the premium of shares at home."""

from typing import Any

import pytest

from tests.serving_api.areas.conftest import Topics


@pytest.fixture(scope="module")
def pair(topics: Topics) -> dict[str, Any]:
    return topics.rows("ref_ah_pair")[0]


def test_stored_figures_are_those_of_the_portal(topics: Topics, pair: dict[str, Any]) -> None:
    stored = {row["h_code"] for row in topics.rows("ref_ah_pair")} & {
        row["code"] for row in topics.rows("raw_hk_finance")
    }
    (other,) = {row["h_code"] for row in topics.rows("ref_ah_pair")} - stored
    assert stored == {pair["h_code"]}

    for code in (pair["h_code"], other):  # one from the store, one asked now
        reported = topics.reported(f"/hk-finance/{code}/indicators", periods=3)
        assert (reported["code"], reported["currency"], reported["total"]) == (code, "CNY", 3)
        ends = [one["report_period"] for one in reported["items"]]
        assert ends == sorted(ends, reverse=True)
        assert all(end[5:] in ("12-31", "06-30") for end in ends)

        income = topics.reported(f"/hk-finance/{code}/statements", periods=2)
        assert income["periods"] == ends[:2]
        lines = {one["item"]: one["values"] for one in income["items"]}
        assert lines["营业额"] == [one["revenue"] for one in reported["items"][:2]]
        assert lines["股东应占溢利"] == [one["net_profit"] for one in reported["items"][:2]]


def test_periods_that_are_asked_of_the_portal_say_that_none_is_stored(topics: Topics) -> None:
    stored = {row["code"] for row in topics.rows("raw_hk_finance")}
    (other,) = {row["h_code"] for row in topics.rows("ref_ah_pair")} - stored
    for part, given in (("indicators", None), ("statements", 5)):
        whole, less = (topics.reported(f"/hk-finance/{other}/{part}", periods=asked) for asked in (2, 60))
        reported = given or less["total"]
        assert (whole["first_date"], whole["note"], less["first_date"]) == (None, None, None)
        assert less["note"] == f"the source has {reported} of 60 report periods; nothing is stored yet"


def test_dividends_and_profile(topics: Topics, pair: dict[str, Any]) -> None:
    reported = topics.reported(f"/hk-finance/{pair['h_code']}/dividend")
    assert reported["total"] == len(reported["items"]) > 0
    for one in reported["items"]:
        assert (one["currency"], f"{one['dividend_ps']:.4f}" in one["plan"]) == ("HKD", True)
    profile = topics.reported(f"/hk-finance/{pair['h_code']}/profile")
    assert profile["name"] == pair["h_name"]
    assert profile["full_name"].startswith(pair["h_name"])
    assert profile["shares"] is None


def test_an_unknown_company_is_an_empty_structure(topics: Topics) -> None:
    assert topics.reported("/hk-finance/99999/indicators")["items"] == []
    assert topics.reported("/hk-finance/99999/statements")["periods"] == []
    assert topics.reported("/hk-finance/99999/dividend")["items"] == []
    assert topics.reported("/hk-finance/99999/profile")["full_name"] is None
    answer = topics.get("/hk-finance/600519/indicators")
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("code: ")
    assert topics.get("/hk-finance/00700/statements", statement="x").status_code == 422


def test_the_premium_of_a_company_that_is_listed_twice(topics: Topics, pair: dict[str, Any]) -> None:
    reported = topics.reported(f"/stocks/{pair['a_code']}/ah-premium")["results"]
    assert (reported["code"], reported["h_code"]) == (pair["a_code"], pair["h_code"])
    implied = (reported["a_price"] / (reported["h_price"] * reported["fx_rate"]) - 1) * 100
    assert reported["premium_pct"] == pytest.approx(implied, abs=0.05)
    once = topics.reported("/stocks/600040/ah-premium")
    assert (once["results"], once["ok"]) == (None, True)
    past = topics.reported(f"/stocks/{pair['a_code']}/ah-premium", as_of="2026-08-20")
    assert past["results"] is None


def test_the_premium_says_that_none_of_a_past_date_is_stored(topics: Topics, pair: dict[str, Any]) -> None:
    path = f"/stocks/{pair['a_code']}/ah-premium"
    for answer in (topics.reported(path), topics.reported(path, as_of="2026-08-20")):
        assert "no premium of a past date is stored" in answer["note"]
        assert "first_date" not in answer


def test_the_catalog_knows_the_pairs_and_the_figures(topics: Topics, pair: dict[str, Any]) -> None:
    def call(interface: str, **params: Any) -> Any:
        answer = topics.api.post("/datamgr/fusion/call", json={"interface": interface, "params": params})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    assert call("get_ah_pairs")[0]["h_code"] == pair["h_code"]
    reported = topics.reported(f"/stocks/{pair['a_code']}/ah-premium")["results"]
    assert call("get_ah_premium", code=pair["a_code"]) == reported
    assert call("get_ah_premium", code="600040") is None
    rows = call("get_hk_finance", code=pair["h_code"], periods=2)
    assert len(rows) == 2
    assert set(rows[-1]["items"]) == {"balance", "income", "cashflow"}
    assert rows[-1]["total_assets"] > 0
