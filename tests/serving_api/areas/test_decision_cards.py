"""Decision cards: who sees them, which are judged, and how."""

from contextlib import closing
from typing import Any

import pytest

from core.calendar import TradeCalendar, shipped_calendar
from resources.warehouse.engine import transaction
from serving_api.quant.decision_cards import queries, service
from tests.serving_api import market
from tests.serving_api.conftest import Bench

CALENDAR = shipped_calendar()
DECIDED = "2026-07-20"
JUDGED_ON = CALENDAR.offset(DECIDED, 10)


def card(code: str, day: str, direction: str, **more: Any) -> dict[str, Any]:
    return {
        "trace_id": f"desk_{code}_{day}", "source": "desk", "code": code, "decision_date": day,
        "direction": direction, "price_at_decision": 10.0, "conclusion": "said", "scores_json": '{"a": 1}',
        **more,
    }  # fmt: skip


CARDS = [
    card("600519", DECIDED, "bullish"),
    card("601398", DECIDED, "bearish", source="chat", trace_id="chat_601398"),
    card("601939", DECIDED, "bullish"),
    card("000001", DECIDED, "neutral"),
    card("000858", "2026-08-05", "bullish"),
    card("000100", "2026-07-21", "bullish"),
]


def fill(own: Bench, cards: list[dict[str, Any]] = CARDS, bars: list[dict[str, Any]] | None = None) -> None:
    with closing(own.warehouse()) as warehouse:
        warehouse.migrate()
        market.put(
            warehouse,
            market.KLINE,
            bars
            or [
                market.bar("600519", DECIDED, 10.0, 1.0),
                market.bar("600519", JUDGED_ON, 6.0, 2.0),
                market.bar("600519", CALENDAR.offset(JUDGED_ON, 1), 99.0, 2.0),
                market.bar("601398", DECIDED, 10.0),
                market.bar("601398", CALENDAR.offset(DECIDED, 4), 10.5),
                market.bar("601398", CALENDAR.offset(DECIDED, 5), 1.0, is_suspended=True),
                market.bar("601939", DECIDED, 10.0),
                market.bar("601939", JUDGED_ON, 10.1),
                market.bar("000100", "2026-07-21", 10.0),
            ],
        )
        names = sorted({name for one in cards for name in one})
        with transaction(warehouse.engine) as connection:
            connection.exec_driver_sql(
                warehouse.sql.insert("decision_card", names),
                [tuple(one.get(name) for name in names) for one in cards],
            )


def test_cards_are_judged_once_by_what_the_price_did_in_ten_trade_dates(own_on_both: Bench) -> None:
    own = own_on_both
    fill(own)
    stranger = own.api.post("/decision-cards/review")
    assert stranger.status_code == 401
    assert own.api.post("/decision-cards/review", headers=own.member()).status_code == 403
    admin = own.admin()

    wrong = own.api.post("/decision-cards/review", json={"limit": 301}, headers=admin)
    assert wrong.status_code == 422
    assert wrong.json()["detail"].startswith("limit")

    first = own.api.post("/decision-cards/review", json={"limit": 1}, headers=admin).json()
    assert first == {"reviewed": 1, "skipped": 0, "cutoff": "2026-08-04"}
    again = own.api.post("/decision-cards/review", headers=admin).json()
    assert again == {"reviewed": 2, "skipped": 1, "cutoff": "2026-08-04"}  # 000100 has no bar after it

    rows = {row["code"]: row for row in own.api.get("/decision-cards").json()["items"]}
    reported = {code: (row["review_outcome"], row["review_actual_trend"]) for code, row in rows.items()}
    assert reported == {
        "600519": ("hit", "上涨"),
        "601398": ("miss", "上涨"),  # its last price before the tenth date
        "601939": ("neutral", "震荡"),
        "000001": (None, None),
        "000858": (None, None),
        "000100": (None, None),
    }
    assert (rows["600519"]["review_profit_pct"], rows["601398"]["review_profit_pct"]) == (20.0, 5.0)
    assert rows["600519"]["reviewed_at"] == "2026-08-21 15:30:00"
    assert rows["600519"]["scores_json"] == {"a": 1}

    counts = own.api.get("/decision-cards/stats").json()
    assert counts == {
        "total": 6, "reviewed": 3, "hit": 1, "miss": 1, "neutral": 1, "win_rate_pct": 50.0,
        "by_source": [
            {"source": "chat", "total": 1, "reviewed": 1, "hit": 0, "miss": 1, "neutral": 0,
             "win_rate_pct": 0.0},
            {"source": "desk", "total": 5, "reviewed": 2, "hit": 1, "miss": 0, "neutral": 1,
             "win_rate_pct": 100.0},
        ],
        "first_date": "2026-07-20",
        "note": "25 of 180 trade dates are stored; the first stored date is 2026-07-20",
    }  # fmt: skip


def review(own: Bench, **body: Any) -> Any:
    return own.api.post("/decision-cards/review", json=body, headers=own.admin()).json()


def test_a_verdict_waits_for_the_markets_bars_of_the_tenth_date(own: Bench) -> None:
    codes = [f"60000{at}" for at in range(6)]
    dates = CALENDAR.between(DECIDED, CALENDAR.offset(JUDGED_ON, -1))
    bars = [market.bar(code, day, 10.0 if day == DECIDED else 8.0) for code in codes for day in dates]
    # The load of the tenth date's stocks failed; somebody downloaded one, and funds and bonds are there.
    alone = market.bar(codes[5], JUDGED_ON, 12.0)
    others = [market.bar(f"{code}{at}", JUDGED_ON, 1.0) for code in ("51030", "12300") for at in range(6)]
    cards = [card("600000", DECIDED, "bullish"), card("600005", DECIDED, "bullish")]
    fill(own, cards, [*bars, alone, *others])
    assert review(own) == {"reviewed": 0, "skipped": 2, "cutoff": "2026-08-04"}

    with closing(own.warehouse()) as warehouse:
        market.put(warehouse, market.KLINE, [market.bar(code, JUDGED_ON, 12.0) for code in codes])
    assert review(own)["reviewed"] == 2
    rows = own.api.get("/decision-cards").json()["items"]
    assert [(row["review_outcome"], row["review_profit_pct"]) for row in rows] == [("hit", 20.0)] * 2


def test_no_verdict_rests_on_provisional_days(own: Bench) -> None:
    codes = [f"60000{at}" for at in range(6)]
    bars = [
        market.bar(code, day, 10.0 if day == DECIDED else 12.0)
        for code in codes
        for day in CALENDAR.between(DECIDED, JUDGED_ON)
    ]
    fill(own, [card("600000", DECIDED, "bullish")], bars)
    state = own.api.app.state.platform
    state.calendar = TradeCalendar(CALENDAR.dates, CALENDAR.offset(JUDGED_ON, -1))
    assert review(own)["reviewed"] == 0

    state.calendar = TradeCalendar(CALENDAR.dates, JUDGED_ON)

    assert review(own)["reviewed"] == 1


def test_a_card_that_cannot_be_judged_holds_up_none_behind_it(own_on_both: Bench) -> None:
    own = own_on_both
    cards = [card("000100", DECIDED, "bullish"), *(card(f"60000{at}", DECIDED, "bullish") for at in range(3))]
    bars = [market.bar(f"60000{at}", day, 10.0) for at in range(3) for day in (DECIDED, JUDGED_ON)]
    fill(own, cards, bars)  # 000100 comes first and has no bar at all
    answers = [review(own, limit=1) for _ in range(4)]
    assert [(one["reviewed"], one["skipped"]) for one in answers] == [(1, 1), (1, 1), (1, 1), (0, 1)]


def test_cards_without_bars_are_counted_and_not_walked(
    own_on_both: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_on_both
    before = CALENDAR.offset(DECIDED, -1)
    never = [card("00700", DECIDED, "bullish", trace_id=f"never_{at:04}") for at in range(700)]
    older = card("600000", before, "bearish")
    bars = [market.bar("600000", day, 10.0) for day in (DECIDED, JUDGED_ON)]
    fill(own, [*never, older, card("600000", DECIDED, "bullish", trace_id="z")], bars)
    read: list[str] = []

    def last_bar(session: Any, code: str, until: str, after: str | None = None) -> Any:
        read.append(code)
        return queries_last_bar(session, code, until, after)

    queries_last_bar = queries.last_bar
    monkeypatch.setattr(queries, "last_bar", last_bar)

    assert review(own, limit=1) == {"reviewed": 1, "skipped": 701, "cutoff": "2026-08-04"}
    assert read == ["600000", "600000"]
    assert review(own) == {"reviewed": 0, "skipped": 701, "cutoff": "2026-08-04"}


def test_one_review_looks_at_so_many_cards(own: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "BATCHES", 2)
    monkeypatch.setattr(service, "CARDS_AT_ONCE", 3)
    cards = [card("600000", DECIDED, "bullish", trace_id=f"card_{at}") for at in range(9)]
    # Bars of the stock, but the load of the market's tenth date failed.
    others = [market.bar(f"60000{at}", day, 10.0) for at in range(1, 9) for day in CALENDAR.last(20, DECIDED)]
    bars = [market.bar("600000", day, 10.0) for day in (DECIDED, JUDGED_ON)]
    fill(own, cards, [*bars, *others])

    assert review(own) == {"reviewed": 0, "skipped": 6, "cutoff": "2026-08-04"}


def test_cards_by_code_source_and_review(own: Bench) -> None:
    fill(own)
    assert own.api.get("/decision-cards", params={"source": "chat"}).json()["total"] == 1
    assert own.api.get("/decision-cards", params={"reviewed": "true"}).json()["total"] == 0
    page = own.api.get("/decision-cards", params={"page": 2, "page_size": 4}).json()
    assert (len(page["items"]), page["total"], page["page"], page["page_size"]) == (2, 6, 2, 4)
    found = own.api.get("/decision-cards", params={"code": "600519"}).json()["items"]
    assert [row["trace_id"] for row in found] == ["desk_600519_2026-07-20"]
    assert own.api.get("/decision-cards", params={"code": "6005"}).status_code == 422
    newest = own.api.get("/decision-cards/stats", params={"days": 3}).json()
    assert (newest["total"], newest["note"]) == (0, None)


def test_a_card_of_a_provisional_factor_stays_marked(own: Bench) -> None:
    """By the factor of its day: also when the event is known since."""
    fill(own)
    item = {"code": "600519", "date": DECIDED, "market": "SH", "before_date": "2026-07-17", "quoted": 6.59,
            "close_before": 8.0, "expected": 8.0, "factor": 1.21, "status": "closed", "closed_by": "event",
            "opened_on": DECIDED, "closed_on": JUDGED_ON}  # fmt: skip
    with closing(own.warehouse()) as warehouse:
        market.put(warehouse, market.EX_ITEMS, [item])

    assert own.api.get("/decision-cards?code=600519").headers.get("X-Factor") == "provisional"
    assert "X-Factor" not in own.api.get("/decision-cards?code=601398").headers


def test_without_a_database_there_are_no_cards(own: Bench) -> None:
    own.lose_database()
    assert own.api.get("/decision-cards").json() == {"items": [], "total": 0, "page": 1, "page_size": 50}
    assert own.api.get("/decision-cards/stats").json()["total"] == 0
