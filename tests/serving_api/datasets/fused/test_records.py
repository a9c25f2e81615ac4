"""Fused records of a stock, series and status, on both engines."""

import pytest

from core.calendar import shipped_calendar
from serving_api.datasets.fused.periods import last_day, period_of, resampled
from serving_api.stocks.bars import Bar
from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, TODAY, get, put, results

STOCK = f"/datamgr/fusion/stock/{MAOTAI}"
AUDIT = {"src", "provenance", "quality_flags", "batch_id", "valid_from", "created_at", "updated_at"}


def test_a_stock_has_master_profile_and_eight_periods_newest_first(fused: Bench) -> None:
    answer = get(fused, STOCK).json()
    found = answer["results"]

    assert list(found["master"])[:5] == ["code", "name", "total_shares", "float_shares", "quality"]
    assert found["master"]["total_shares"] == 1_256_197_800
    assert found["profile"]["full_name"] == "贵州茅台酒股份有限公司"
    periods = [row["report_period"] for row in found["finance"]]
    assert periods == sorted(periods, reverse=True)
    assert (len(periods), periods[0]) == (8, "2026-06-30")
    assert found["latest_finance"] == found["finance"][0]
    assert found["quality"] == {"master": "ok", "profile": "ok", "finance": "ok"}
    assert answer["data_availability"] == {
        "kline": True,
        "valuation": True,
        "moneyflow": False,
        "quote": False,
        "finance": True,
    }
    assert not AUDIT & set(found["master"])


def test_parts_that_are_missing_are_null(fused: Bench) -> None:
    found = results(fused, f"/datamgr/fusion/stock/{PINGAN}")

    assert (found["profile"], found["finance"], found["latest_finance"]) == (None, [], None)
    assert found["quality"] == {"master": "ok"}


@pytest.mark.parametrize("tail", ["", "/valuation", "/industry"])
def test_without_a_fused_record_it_is_404(fused: Bench, tail: str) -> None:
    answer = get(fused, f"/datamgr/fusion/stock/999999{tail}")

    assert answer.status_code == 404
    assert set(answer.json()) == {"detail"}


def test_before_the_first_revision_there_is_no_record(fused: Bench) -> None:
    assert get(fused, STOCK, as_of="2026-06-30").status_code == 404
    later = get(fused, STOCK, as_of="2026-08-02")
    assert later.status_code == 200
    assert later.json()["as_of"] == "2026-08-02T23:59:59.999999+08:00"


def test_valuation_is_the_newest_row_with_its_snapshots(fused: Bench) -> None:
    found = results(fused, f"{STOCK}/valuation", snapshots=5)

    assert found["valuation"]["as_of_date"] == TODAY
    assert found["valuation"]["price"] == 1429.0
    assert [row["date"] for row in found["snapshots"]] == shipped_calendar().last(5, TODAY)
    assert set(found["snapshots"][0]) == {"date", "price", "pe_ttm", "pb", "total_market_cap"}
    assert found["total_snapshots"] == 30
    assert results(fused, f"{STOCK}/valuation", snapshots=60)["total_snapshots"] == 30


def test_industry_has_the_named_fields_and_parsed_concepts(fused: Bench) -> None:
    found = results(fused, f"{STOCK}/industry")

    assert list(found)[:4] == ["code", "name", "industry", "em_industry"]
    assert (found["industry"], found["sw_l1"], found["sw_l2"]) == ("白酒", "801120", None)
    assert found["concepts"] == ["消费"]


def test_stored_period_bars(fused: Bench) -> None:
    answer = get(fused, f"{STOCK}/kline-bar", periods=2).json()

    assert (answer["code"], answer["period"], answer["adjust"], answer["total"]) == (
        MAOTAI,
        "week",
        "none",
        2,
    )
    assert [bar["date"] for bar in answer["results"]] == ["2026-08-14", "2026-08-21"]
    assert answer["results"][0]["bar_count"] == 5
    turned = results(fused, f"{STOCK}/kline-bar", ascending=False)
    assert [bar["date"] for bar in turned] == ["2026-08-21", "2026-08-14", "2026-08-07"]
    assert results(fused, f"/datamgr/fusion/stock/{PINGAN}/kline-bar") == []


@pytest.mark.parametrize("adjust", ["none", "qfq"])
def test_a_bar_says_whether_its_period_is_over_and_what_it_holds(fused: Bench, adjust: str) -> None:
    (*_, month) = results(fused, f"{STOCK}/kline-bar", period="month", adjust=adjust)
    weeks = results(fused, f"{STOCK}/kline-bar", periods=2, adjust=adjust)

    assert (month["date"], month["last_date"], month["is_closed"]) == ("2026-08-31", TODAY, False)
    assert [(week["last_date"], week["is_closed"]) for week in weeks] == [("2026-08-14", True), (TODAY, True)]
    # At 14:59 of its last day the week still ran.
    running = results(fused, f"{STOCK}/kline-bar", adjust=adjust, as_of="2026-08-21T14:59:00")
    assert [week["is_closed"] for week in running if week["date"] == TODAY] in ([False], [])


def test_adjusted_period_bars_are_made_of_adjusted_days(fused: Bench) -> None:
    days = results(fused, f"/stocks/{MAOTAI}/kline", days=60, adjust="qfq")
    weeks = results(fused, f"{STOCK}/kline-bar", adjust="qfq")

    last = [day for day in days if period_of(day["date"], "week") == period_of(TODAY, "week")]
    newest = weeks[-1]
    assert newest["date"] == TODAY
    assert (newest["open"], newest["close"]) == (last[0]["open"], last[-1]["close"])
    assert newest["high"] == max(day["high"] for day in last)
    assert newest["volume"] == sum(day["volume"] for day in last)
    assert (newest["bar_count"], newest["quality"]) == (len(last), "warning")
    assert weeks[-2]["quality"] == "ok"
    raised = results(fused, f"{STOCK}/kline-bar", adjust="hfq")
    assert raised[-1]["close"] == pytest.approx(newest["close"] * 2)


@pytest.mark.parametrize(
    ("period", "days", "groups"),
    [
        ("week", ["2026-01-01", "2026-01-02", "2025-12-31"], 1),
        ("week", ["2026-01-02", "2026-01-05"], 2),
        ("month", ["2026-01-30", "2026-02-02"], 2),
        ("quarter", ["2026-01-05", "2026-03-31", "2026-04-01"], 2),
        ("year", ["2025-12-31", "2026-01-05"], 2),
    ],
)
def test_days_of_a_period(period: str, days: list[str], groups: int) -> None:
    assert len({period_of(day, period) for day in days}) == groups


@pytest.mark.parametrize(
    ("day", "period", "last"),
    [
        ("2026-08-19", "week", "2026-08-23"),
        ("2026-08-23", "week", "2026-08-23"),
        ("2026-02-03", "month", "2026-02-28"),
        ("2024-02-03", "month", "2024-02-29"),
        ("2026-12-01", "month", "2026-12-31"),
        ("2026-11-30", "quarter", "2026-12-31"),
        ("2026-04-01", "quarter", "2026-06-30"),
        ("2026-04-01", "year", "2026-12-31"),
    ],
)
def test_the_last_day_of_a_period(day: str, period: str, last: str) -> None:
    assert last_day(day, period) == last


def test_a_period_without_prices_keeps_its_volume() -> None:
    days = [Bar("2026-08-20", None, None, None, None, None, None, 1.0)]

    assert resampled(days, {}, "week", "none", shipped_calendar())[0] == {
        "quality": "ok",
        "period": "week",
        "date": "2026-08-21",  # the last trade date of the week, as stored bars have it
        "last_date": "2026-08-20",
        "open": None,
        "close": None,
        "high": None,
        "low": None,
        "volume": 0,
        "amount": 0.0,
        "bar_count": 1,
    }


def test_stocks_come_in_the_asked_order_without_unknown_ones(fused: Bench) -> None:
    answer = get(fused, "/datamgr/fusion/stocks", codes=f"{PINGAN},{MAOTAI},999999").json()
    found = answer["results"]

    assert (found["total"], answer["stats"]["total"]) == (2, 2)
    assert [row["code"] for row in found["stocks"]] == [PINGAN, MAOTAI]
    assert found["stocks"][1]["industry"] == "白酒"
    assert found["stocks"][1]["report_period"] == "2026-06-30"
    assert found["stocks"][0]["revenue"] is None


def test_index_bars_count_per_code(fused: Bench) -> None:
    answer = get(fused, "/datamgr/fusion/index/daily", codes="sz399001,sh000001", periods=3).json()

    assert answer["total"] == 6
    assert [row["code"] for row in answer["results"]] == ["sz399001"] * 3 + ["sh000001"] * 3
    dates = [row["date"] for row in answer["results"][:3]]
    assert dates == shipped_calendar().last(3, TODAY)
    turned = results(fused, "/datamgr/fusion/index/daily", periods=3, ascending=False)
    assert [row["date"] for row in turned[:3]] == dates[::-1]


def test_the_three_broad_indices_are_the_default(fused: Bench) -> None:
    assert {row["code"] for row in results(fused, "/datamgr/fusion/index/daily")} == {"sh000001", "sz399001"}


DAYS = shipped_calendar().last(60, TODAY)


@pytest.mark.parametrize(
    ("tail", "asked", "enough", "more", "first", "note"),
    [
        ("/margin", "periods", 40, 120, DAYS[-40], "40 of 120 trade dates"),
        ("/holder", "periods", 30, 60, DAYS[-30], "30 of 60 counts"),
        ("/finance", "periods", 10, 20, "2024-03-31", "10 of 20 report periods"),
        ("/valuation", "snapshots", 30, 60, DAYS[-30], "30 of 60 dates"),
        ("/announcements", "periods", 40, 41, DAYS[-40], "40 of 41 notices"),
        ("/news", "periods", 40, 41, DAYS[-40], "40 of 41 headlines"),
        ("/dragon-tiger", "periods", 41, 42, DAYS[-40], "41 of 42 listings"),
        ("/block-trade", "periods", 2, 50, TODAY, "2 of 50 deals"),
        ("/kline-bar", "periods", 3, 240, "2026-08-07", "3 of 240 week bars"),
        ("/kline-bar?period=month", "periods", 1, 2, "2026-08-31", "1 of 2 month bars"),
        ("/kline-bar?adjust=qfq", "periods", 12, 240, DAYS[0], "13 of 240 week bars"),
    ],
)
def test_rows_of_a_stock_say_how_far_back_they_reach(
    fused: Bench, tail: str, asked: str, enough: int, more: int, first: str, note: str
) -> None:
    path, _, query = f"{STOCK}{tail}".partition("?")
    other = dict([query.split("=")]) if query else {}
    whole, short = (get(fused, path, **other, **{asked: count}).json() for count in (enough, more))

    assert (whole["first_date"], "note" in whole) == (first, False)
    assert (short["first_date"], short["note"]) == (
        first,
        f"{note} are stored; the first stored date is {first}",
    )


@pytest.mark.parametrize("tail", ["/margin", "/dragon-tiger", "/block-trade", "/kline-bar"])
def test_a_stock_of_which_nothing_is_stored_says_so(fused: Bench, tail: str) -> None:
    answer = get(fused, f"/datamgr/fusion/stock/999999{tail}").json()

    assert (answer["results"], answer["note"]) == ([], "nothing is stored yet")
    assert "first_date" not in answer


def test_what_was_not_known_then_is_said(fused: Bench) -> None:
    answer = get(fused, f"{STOCK}/margin", as_of="2026-07-01").json()

    assert answer["note"].startswith("0 of 30 trade dates of that time are stored")


def test_bars_of_indices_say_which_of_them_are_short(fused: Bench) -> None:
    path, first = "/datamgr/fusion/index/daily", DAYS[-10]
    whole = get(fused, path, codes="sh000001,sz399001", periods=10).json()
    some = get(fused, path, periods=10).json()
    nothing = get(fused, path, codes="sz399006").json()

    assert (whole["first_date"], "note" in whole) == (first, False)
    assert (some["first_date"], some["note"]) == (
        first,
        f"fewer than 10 bars are stored of sz399006; the first stored date is {first}",
    )
    assert ("first_date" in nothing, nothing["note"]) == (False, "nothing is stored yet")


@pytest.mark.parametrize(
    ("path", "params", "parameter"),
    [
        (f"{STOCK}/valuation", {"snapshots": 61}, "snapshots"),
        (f"{STOCK}/kline-bar", {"period": "day"}, "period"),
        (f"{STOCK}/kline-bar", {"periods": 1501}, "periods"),
        (f"{STOCK}/kline-bar", {"adjust": "x"}, "adjust"),
        (STOCK, {"as_of": "2026-09-01"}, "as_of"),
        ("/datamgr/fusion/stocks", {}, "codes"),
        ("/datamgr/fusion/stocks", {"codes": ",".join(f"{n:06d}" for n in range(501))}, "codes"),
        ("/datamgr/fusion/index/daily", {"codes": "600519"}, "codes"),
        ("/datamgr/fusion/index/daily", {"codes": ","}, "codes"),
        ("/datamgr/fusion/index/daily", {"codes": ",".join(f"sh{n:06d}" for n in range(21))}, "codes"),
    ],
)
def test_bad_values_are_named(fused: Bench, path: str, params: dict[str, object], parameter: str) -> None:
    answer = get(fused, path, **params)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{parameter}:")


def test_status_counts_every_fused_table_by_quality(fused: Bench) -> None:
    found = results(fused, "/datamgr/fusion/status")

    bars = found["tables"]["fusion_kline_daily"]
    assert (bars["rows"], bars["ok"], bars["warning"], bars["latestDate"]) == (61, 60, 1, TODAY)
    assert bars["latestUpdate"].endswith("+08:00")
    assert found["quality"]["warning"] == 1
    assert 0.98 < found["quality"]["okRatio"] < 1
    assert found["locks"] == {
        domain: {"held": False, "holder": None, "since": None} for domain in ("kline", "daily", "wide")
    }
    assert found["recent_tasks"] == []
    assert found["running"] is False


def test_an_unchanged_answer_need_not_be_sent_again(fused: Bench) -> None:
    first = get(fused, STOCK)
    headers = fused.extra["headers"] | {"If-None-Match": first.headers["etag"]}

    assert fused.api.get(STOCK, headers=headers).status_code == 304
    assert "fusion_stock_master" in first.headers["x-data-source"]


def test_a_stock_is_read_again_when_more_is_known(fused: Bench) -> None:
    """data_availability looks into other tables than the record; the tag of the answer follows them."""
    path = f"/datamgr/fusion/stock/{PINGAN}"
    first = get(fused, path)
    assert first.json()["data_availability"]["valuation"] is False

    put(
        fused.extra["warehouse"],
        "fusion_valuation",
        [{"code": PINGAN, "date": TODAY, "price": 11.0, "pe_ttm": 5.0, "pb": 0.6, "total_market_cap": 2e7}],
    )
    fused.ticks.advance(1.5)
    headers = fused.extra["headers"] | {"If-None-Match": first.headers["etag"]}
    again = fused.api.get(path, headers=headers)

    assert again.status_code == 200
    assert again.json()["data_availability"]["valuation"] is True
