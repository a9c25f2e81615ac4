"""Holder counts and dividends of a world: the shape of what was recorded, made from the world's own facts,
and never published before their day."""

import itertools
import json
from datetime import datetime, timedelta
from urllib.parse import urlencode

import numpy as np
import pytest

from simulated_market import corporate, insiders
from simulated_market.eastmoney.corporate import holder_row, payout_row, plan_text
from simulated_market.eastmoney.reports import Reports
from simulated_market.finance import FinanceBook
from simulated_market.wire import HttpRequest, View
from tests.simulated_market.world.conftest import SLICE

ACTIONS = SLICE.parent / "upstreams" / "eastmoney" / "payloads" / "em_dc_corporate_actions_20260728.json"
NOW = datetime(2026, 8, 21, 16, 30)
HOLDER_KEYS = (
    "SECURITY_CODE CHANGE_SHARES CHANGE_REASON END_DATE INTERVAL_CHRATE AVG_MARKET_CAP AVG_HOLD_NUM "
    "TOTAL_MARKET_CAP TOTAL_A_SHARES HOLD_NOTICE_DATE HOLDER_NUM PRE_HOLDER_NUM HOLDER_NUM_CHANGE "
    "HOLDER_NUM_RATIO PRE_END_DATE"
)
"""Of the sample in the wire format's description."""


def ask(world, now, name, where, **more):
    params = {"reportName": name, "columns": "ALL", "filter": where, "pageSize": "500"} | more
    request = HttpRequest("GET", "/api/data/v1/get", urlencode(params), {})
    return json.loads(Reports(FinanceBook()).report(request, View(world, now)).body)


def dividends(world, now):
    view = View(world, now)
    return [one for security in corporate.stocks(view) for one in corporate.payouts(view, security)]


def test_rows_have_the_keys_that_were_recorded(world):
    recorded = json.loads(ACTIONS.read_bytes())["RPT_SHAREBONUS_DET"][0]
    view = View(world, NOW)

    made = payout_row(dividends(world, NOW)[0])
    count = holder_row(corporate.holder_counts(view, world.find("sh600040"))[0], view)

    assert set(recorded) <= set(made)
    assert set(made) - set(recorded) == {"BASIC_EPS"}
    # The recording left the name out; a public client reads it.
    assert set(count) == {*HOLDER_KEYS.split(), "SECURITY_NAME_ABBR"}
    paid = next(one for one in dividends(world, NOW) if one.cash == 1.15)
    assert plan_text(paid) == "10派1.15元(含税,扣税后1.035元)"


def test_every_event_with_cash_or_shares_has_its_dividend(world):
    found = {(one.security.symbol, one.ex_day): one for one in dividends(world, NOW)}
    sessions = world.trade_dates()
    events = 0
    for security in corporate.stocks(View(world, NOW)):
        for event in world.exrights(security, NOW):
            cash, _, shares, rights = event.values
            if event.category != 1 or rights or not (cash or shares):
                continue
            events += 1
            at = int(np.searchsorted(sessions, event.date))
            one = found[security.symbol, event.date]
            assert (one.cash, one.bonus + one.transfer) == (cash, shares)
            assert one.record == sessions[at - 1]
            assert one.period < one.planned < one.decided < one.implemented < one.record < one.ex_day
            assert 4 <= at - int(np.searchsorted(sessions, one.implemented)) <= 7
            planned, ex_day = (datetime.strptime(str(day), "%Y%m%d") for day in (one.planned, one.ex_day))
            assert 6 < (ex_day - planned).days / 7 < 13
    assert events > 60


def test_a_dividend_is_published_stage_by_stage(world):
    """Planned on 2026-06-15, implemented on 2026-08-14."""
    where = "(SECURITY_CODE=\"601302\")(NOTICE_DATE>='2026-06-01')"

    def reported(day):
        found = ask(world, datetime.fromisoformat(f"{day}T20:00"), "RPT_SHAREBONUS_DET", where)
        rows = found["result"]["data"] if found["code"] == 0 else []
        return [(row["ASSIGN_PROGRESS"], row["NOTICE_DATE"][:10], row["EX_DIVIDEND_DATE"]) for row in rows]

    assert reported("2026-06-14") == []
    assert reported("2026-06-15") == [("董事会预案", "2026-06-15", None)]
    decided = reported("2026-08-13")
    assert [(row[0], row[2]) for row in decided] == [("股东大会决议", None)]
    assert "2026-06-15" < decided[0][1] < "2026-08-14"
    assert reported("2026-08-14") == [("实施分配", "2026-08-14", "2026-08-24 00:00:00")]


@pytest.mark.parametrize("day", ["2024-05-10", "2025-04-29", "2026-08-20"])
def test_nothing_is_published_before_its_notice(world, day):
    now = datetime.fromisoformat(f"{day}T20:00")
    today = int(day.replace("-", ""))
    view = View(world, now)

    assert all(one.noticed <= today for one in dividends(world, now))
    for security in corporate.stocks(view):
        for count in corporate.holder_counts(view, security):
            assert count.date < count.announced <= today
            assert count.a_shares > 0


def test_counts_are_those_of_the_terminal(world):
    view = View(world, NOW)
    for security in corporate.stocks(view):
        known, report = corporate.holder_counts(view, security), world.finance(security, NOW)
        if known and report is not None:
            assert (known[0].date, known[0].holders) == (report.report_date, report.holders)
        for newer, older in itertools.pairwise(known):
            assert (newer.before, newer.before_date) == (older.holders, older.date)


def test_trades_and_visits_fit_their_company_and_day(world):
    view = View(world, NOW)
    seen = 0
    for security in corporate.stocks(view):
        bars = world.bars(security, NOW)
        reported = insiders.trades(view, security)
        for before, after in itertools.pairwise(reported):
            assert before.date < after.date
            assert after.held - after.shares == before.held > 0
        for one in reported:
            at = int(np.searchsorted(bars.date, one.date))
            assert (bars.date[at], bars.close[at]) == (one.date, round(one.price * 10_000))
        seen += len(reported)
        for one in insiders.visits(view, security):
            assert one.date < one.announced <= 20260821
    assert seen > 300


def test_a_trade_is_published_two_sessions_later(world):
    """Every trade is published within days: a load looks two weeks back, no more."""
    days = [int(day) for day in world.trade_dates() if 20260601 <= int(day) <= 20260821]
    first_noticed = {}
    for place, day in enumerate(days):
        view = View(world, datetime.strptime(f"{day} 20", "%Y%m%d %H"))
        for security in corporate.stocks(view)[:25]:
            for one in insiders.trades(view, security):
                first_noticed.setdefault((security.symbol, one.date), place)
    late = [place - days.index(day) for (_, day), place in first_noticed.items() if day in days]
    assert late
    assert set(late) == {2}


def test_days_pages_and_codes_choose_rows(world):
    spring = "(HOLD_NOTICE_DATE>='2026-04-01')(HOLD_NOTICE_DATE<='2026-04-30')"
    sort = {"sortColumns": "SECURITY_CODE,END_DATE", "sortTypes": "1,1"}

    whole = ask(world, NOW, "RPT_HOLDERNUM_DET", spring, **sort)["result"]
    pages = [
        ask(world, NOW, "RPT_HOLDERNUM_DET", spring, **sort, pageSize="20", pageNumber=str(page))["result"]
        for page in (1, 2)
    ]

    keys = [(row["SECURITY_CODE"], row["END_DATE"]) for row in whole["data"]]
    assert keys == sorted(set(keys))
    assert whole["count"] == len(keys) > 40
    assert [row for page in pages for row in page["data"]] == whole["data"][:40]
    one = ask(world, NOW, "RPT_HOLDERNUM_DET", f'(SECURITY_CODE in ("{keys[0][0]}"))')["result"]["data"]
    assert {row["SECURITY_CODE"] for row in one} == {keys[0][0]}
    assert len(one) > 5


def test_a_replayed_market_knows_no_companies(replay):
    now = datetime(2022, 7, 29, 20, 0)
    since = (now - timedelta(days=365)).date().isoformat()

    for name, column in (
        ("RPT_SHAREBONUS_DET", "NOTICE_DATE"),
        ("RPT_HOLDERNUM_DET", "HOLD_NOTICE_DATE"),
        ("RPT_EXECUTIVE_HOLD_DETAILS", "CHANGE_DATE"),
        ("RPT_ORG_SURVEYNEW", "NOTICE_DATE"),
        ("RPT_MAIN_ORGHOLD", "REPORT_DATE"),
    ):
        answer = ask(replay, now, name, f"({column}>='{since}')")
        assert (answer["code"], answer["result"], answer["success"]) == (9201, None, False)
