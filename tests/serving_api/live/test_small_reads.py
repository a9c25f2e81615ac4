"""Trading time, calendar, breadth, ticker, money flow, anomalies and the change detector."""

from datetime import datetime
from typing import Any

import pytest

from serving_api.market import change_detector
from tests.serving_api import market as stored
from tests.serving_api.live.admin_reads.conftest import CLOSED, FetchContext

STATES = {
    "2026-08-21T09:14:59": ("pre_open", "2026-08-21T09:30:00", "2026-08-21T11:30:00"),
    "2026-08-21T09:15:00": ("auction", "2026-08-21T09:30:00", "2026-08-21T11:30:00"),
    "2026-08-21T09:30:00": ("trading", "2026-08-21T13:00:00", "2026-08-21T11:30:00"),
    "2026-08-21T11:30:00": ("noon_break", "2026-08-21T13:00:00", "2026-08-21T15:00:00"),
    "2026-08-21T13:00:00": ("trading", "2026-08-24T09:30:00", "2026-08-21T15:00:00"),
    "2026-08-21T15:00:00": ("closed", "2026-08-24T09:30:00", "2026-08-24T11:30:00"),
    "2026-08-22T11:00:00": ("closed", "2026-08-24T09:30:00", "2026-08-24T11:30:00"),
    "2026-10-01T11:00:00": ("holiday", "2026-10-08T09:30:00", "2026-10-08T11:30:00"),
}


@pytest.mark.parametrize("now", sorted(STATES))
def test_trading_time_by_the_calendar(bench: FetchContext, now: str) -> None:
    bench.clock.at = datetime.fromisoformat(now)
    reported = bench.api.get("/realtime/trading-time").json()
    state, opens, closes = STATES[now]
    assert reported == {
        "is_trading": state == "trading",
        "state": state,
        "now": f"{now}+08:00",
        "next_open": f"{opens}+08:00",
        "next_close": f"{closes}+08:00",
        "is_trade_day": now[:10] in {"2026-08-21"},
    }


def test_a_day_that_is_not_published_is_provisional_and_says_so(bench: FetchContext) -> None:
    bench.clock.at = datetime(2027, 3, 1, 10, 0)
    assert bench.api.get("/realtime/trading-time").json()["state"] == "trading"
    reported = bench.api.get("/market/calendar", params={"year": 2027, "month": 2}).json()
    assert (reported["is_trade_day"], reported["is_confirmed"]) == (True, False)
    assert (reported["prev_trade_date"], reported["next_trade_date"]) == ("2027-02-26", "2027-03-02")
    assert {day["is_confirmed"] for day in reported["days"]} == {False}
    assert not any(day["is_open"] for day in reported["days"][4:14])  # the Spring Festival
    bench.clock.at = datetime(2026, 12, 31, 10, 0)
    # The day itself is published, the next trade date is not.
    assert not bench.api.get("/market/calendar").json()["is_confirmed"]
    assert {day["is_confirmed"] for day in bench.api.get("/market/calendar").json()["days"]} == {True}


def test_beyond_the_calendar_the_session_is_unknown(bench: FetchContext) -> None:
    bench.clock.at = datetime(2100, 3, 1, 10, 0)
    reported = bench.api.get("/realtime/trading-time").json()
    assert (reported["is_trading"], reported["state"], reported["next_open"]) == (None, None, None)
    assert bench.api.get("/market/sentiment").json()["_source"] is None
    days = bench.api.get("/market/calendar").json()
    assert {day["is_open"] for day in days["days"]} == {None}


def test_calendar_of_a_month(bench: FetchContext) -> None:
    reported = bench.api.get("/market/calendar", params={"year": 2026, "month": 10}).json()
    assert [day["date"] for day in reported["days"]][::30] == ["2026-10-01", "2026-10-31"]
    assert next(day["date"] for day in reported["days"] if day["is_open"]) == "2026-10-08"
    assert (reported["today"], reported["prev_trade_date"], reported["next_trade_date"]) == (
        "2026-08-21",
        "2026-08-20",
        "2026-08-24",
    )
    assert bench.api.get("/market/calendar", params={"month": 13}).status_code == 422


def sample(time: str, up: int) -> dict[str, Any]:
    return {
        "sample_time": time,
        "trade_date": time[:10],
        "up_count": up,
        "down_count": 1,
        "flat_count": 0,
        "limit_up_count": 0,
        "limit_down_count": 0,
        "amount": 1e9,
        "index_change_pct": 0.5,
        "sample_based": False,
    }


def put_all(bench: FetchContext, table: str, rows: list[dict[str, Any]]) -> None:
    columns = list(rows[0])
    marks = ", ".join("?" for _ in columns)
    with bench.warehouse.engine.begin() as connection:
        for row in rows:
            connection.exec_driver_sql(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(row.values())
            )


def test_breadth_of_the_newest_sessions_with_today(bench: FetchContext) -> None:
    times = ["2026-08-19 09:35:00", "2026-08-20 09:35:00", "2026-08-21 09:35:00", "2026-08-21 09:40:00"]
    put_all(bench, "calc_breadth_sample", [sample(time, up) for up, time in enumerate(times)])
    reported = bench.api.get("/market/breadth-intraday", params={"days": 2}).json()
    assert [row["time"] for row in reported["items"]] == times[1:]
    assert [row["up"] for row in reported["items"]] == [1, 2, 3]
    assert (reported["days"], reported["total"]) == (2, 3)
    assert (reported["first_date"], reported["note"]) == ("2026-08-19", None)
    more = bench.api.get("/market/breadth-intraday", params={"days": 4}).json()
    assert more["note"] == "3 of 4 trade dates are stored; the first stored date is 2026-08-19"


def test_the_ticker_marks_what_names_the_company(bench: FetchContext) -> None:
    plain = bench.api.get("/market/news-marquee", params={"limit": 200}).json()
    assert plain["total"] > 0
    assert not any(row["related"] for row in plain["items"])
    assert [row["time"] for row in plain["items"]] == sorted(
        (row["time"] for row in plain["items"]), reverse=True
    )
    word = plain["items"][0]["title"][:4]
    reported = bench.api.get("/market/news-marquee", params={"limit": 200, "name": word}).json()
    assert reported["items"][0]["related"] is True
    assert bench.api.get("/market/news-marquee", params={"code": "60051"}).status_code == 422


def test_money_flow_of_the_running_session_comes_from_the_portal(bench: FetchContext) -> None:
    reported = bench.api.get("/realtime/money-flow/300114", params={"days": 5}).json()
    assert reported["_source"] == "finance_portal_a"
    assert len(reported["items"]) == 5
    one = bench.world.find("sz300114")
    assert one is not None
    flow = bench.world.flows(one, bench.clock.now())[-1]
    main = flow.super_large_in - flow.super_large_out + flow.large_in - flow.large_out
    assert reported["items"][-1]["date"] == "2026-08-21"
    assert reported["items"][-1]["main_net"] == pytest.approx(main, rel=1e-3)


def test_stored_money_flow_needs_no_request(bench: FetchContext) -> None:
    bench.clock.at = CLOSED
    table = bench.warehouse.table("fusion_fund_flow")
    rows = [{"code": "300114", "date": day, "main_net": 5.0} for day in ("2026-08-20", "2026-08-21")]
    stored.put(bench.warehouse, table, rows)
    before = bench.calls("eastmoney")
    reported = bench.api.get("/realtime/money-flow/300114").json()
    assert (reported["_source"], [row["main_net"] for row in reported["items"]]) == ("db_history", [5.0, 5.0])
    assert bench.calls("eastmoney") == before


def test_anomalies_report_the_breaker_and_stay_while_the_portal_is_unavailable(bench: FetchContext) -> None:
    first = bench.api.get("/realtime/stock-changes").json()
    assert (first["stale"], first["breaker"]) == (False, {"state": "CLOSED"})
    assert first["total"] == len(first["items"]) > 0
    bench.silence("eastmoney")
    for seconds in (21, 21):
        bench.ticks.advance(seconds)
        later = bench.api.get("/realtime/stock-changes").json()
    assert later["stale"] is True
    assert later["items"] == first["items"]
    assert later["breaker"] == {"state": "OPEN"}


def compare(bench: FetchContext, headers: dict[str, str], payload: dict[str, Any], key: str = "a") -> Any:
    answer = bench.api.post(
        "/market/change-detector/compare",
        json={"entity_type": "thesis", "entity_id": key, "payload": payload},
        headers=headers,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_changes_between_versions(bench: FetchContext) -> None:
    first = compare(bench, bench.headers, {"a": 1, "b": 2})
    same = compare(bench, bench.headers, {"b": 2, "a": 1})
    other = compare(bench, bench.headers, {"a": 1, "b": 3, "c": None})
    assert (first["first"], first["changed"], first["version"]) == (True, False, 1)
    assert (same["first"], same["changed"], same["version"]) == (False, False, 1)
    assert other["changed"] is True
    assert (other["version"], other["added"], other["removed"]) == (2, {"c": None}, {})
    assert other["changed_fields"] == [{"field": "b", "old": 2, "new": 3}]
    history = bench.api.get("/market/change-detector/history/thesis").json()
    assert [(row["entity_id"], row["version"], row["added"], row["changed"]) for row in history["items"]] == [
        ("a", 2, 1, 1)
    ]


def test_comparison_needs_a_login_and_has_limits(bench: FetchContext) -> None:
    body = {"entity_type": "thesis", "entity_id": "a", "payload": {"a": "x" * 65_536}}
    assert bench.api.post("/market/change-detector/compare", json=body).status_code == 401
    large = bench.api.post("/market/change-detector/compare", json=body, headers=bench.headers)
    assert large.status_code == 422
    assert large.json()["detail"].startswith("payload:")
    assert bench.warehouse.query("SELECT COUNT(*) FROM sys_change_snapshot") == [(0,)]


def test_growth_is_bounded_by_versions_and_by_entities(
    bench: FetchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_detector, "KEPT_VERSIONS", 3)
    monkeypatch.setattr(change_detector, "MOST_ENTITIES", 2)
    for number in range(6):
        compare(bench, bench.headers, {"n": number})
    assert bench.warehouse.query("SELECT MIN(version_no), COUNT(*) FROM sys_change_history") == [(4, 3)]
    compare(bench, bench.headers, {}, "b")
    bench.clock.at = CLOSED
    compare(bench, bench.headers, {}, "c")
    assert bench.warehouse.query("SELECT entity_id FROM sys_change_snapshot ORDER BY entity_id") == [
        ("b",),
        ("c",),
    ]
