"""The limit pool, the industry ranking and strong stocks: live, stored where nobody answers, empty else."""

from datetime import datetime

import pytest

from serving_api.live.admin_reads.service import STAT_TTL, live_of
from serving_api.live.clients import Answered
from simulated_market.world.model import PRICE_UNIT
from tests.serving_api import market as stored
from tests.serving_api.live.admin_reads.conftest import CLOSED, TRADING, FetchContext

LIMIT_UP = "/datamgr/fusion/market/limit-up"
ENDS = "/datamgr/fusion/market/industry-ranking"
RANKING = "/datamgr/market/industry-ranking"
HOT = "/datamgr/market/hot-stocks"
TODAY = "2026-08-21"
FIELDS = "code name price change_pct amount float_cap turnover_pct limit_days first_seal last_seal".split()
FIELDS += "seal_fund break_times industry zt_stat".split()


def pool_row(code: str, day: str = TODAY, pool: str = "up", **other: object) -> dict[str, object]:
    return {
        "trade_date": day,
        "pool": pool,
        "code": code,
        "name": "甲",
        "price": 9.9,
        "src": "eastmoney",
        **other,
    }


def put(ctx: FetchContext, table: str, *rows: dict[str, object]) -> None:
    stored.put(ctx.warehouse, ctx.warehouse.table(table), rows)


def test_a_running_session_is_asked_and_a_closed_one_is_read(ctx: FetchContext) -> None:
    put(
        ctx,
        "raw_limit_pool",
        pool_row("000002", first_seal_time="09:40:00"),
        pool_row("000001", pool="down"),
    )
    running = ctx.results(LIMIT_UP)
    ctx.clock.at = CLOSED
    closed = ctx.results(LIMIT_UP, date="20260821")

    sealed = {
        one.code
        for one in ctx.world.securities(TRADING)
        if one.kind == "stock"
        and (quote := ctx.world.quote(one, TRADING)) is not None
        and quote.limit_up is not None
        and not quote.suspended
        and quote.price >= quote.limit_up
    }
    assert {row["code"] for row in running} == sealed
    assert [(row["code"], row["first_seal"]) for row in closed] == [("000002", "09:40:00")]
    assert closed[0]["limit_days"] is None


def test_a_date_that_is_not_stored_is_asked_for(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED

    answer = ctx.get(LIMIT_UP, date="2026-08-20")

    rows = answer.json()["results"]
    assert answer.headers["x-data-source"] == "finance_portal_a"
    close = datetime(2026, 8, 20, 15, 0)
    sealed = {
        one.code
        for one in ctx.world.securities(close)
        if one.kind == "stock"
        and (quote := ctx.world.quote(one, close)) is not None
        and quote.limit_up is not None
        and not quote.suspended
        and quote.price >= quote.limit_up
    }
    assert {row["code"] for row in rows} == sealed
    assert rows[0]["code"] == "300114"
    assert list(rows[0]) == FIELDS
    security = ctx.world.find("sz300114")
    assert security is not None
    _, floating = ctx.world.shares(security, CLOSED)
    assert rows[0]["float_cap"] == pytest.approx(floating * rows[0]["price"] / 1e4, abs=0.02)
    assert (rows[0]["limit_days"], rows[0]["zt_stat"]) == (4, "4天4板")


def test_days_without_trading_and_without_memory_are_empty(ctx: FetchContext) -> None:
    for day in ("2026-08-15", "20250103", "19851001"):
        assert ctx.results(LIMIT_UP, date=day) == []
    ctx.silence("eastmoney")
    assert ctx.results(LIMIT_UP) == []


@pytest.mark.parametrize(
    ("path", "params", "parameter"),
    [
        (LIMIT_UP, {"date": "2026-13-01"}, "date"),
        (LIMIT_UP, {"date": "yesterday"}, "date"),
        (LIMIT_UP, {"date": "20260824"}, "date"),
        (ENDS, {"top_n": "0"}, "top_n"),
        (RANKING, {"top_n": "101"}, "top_n"),
    ],
)
def test_bad_values_are_named(ctx: FetchContext, path: str, params: dict[str, str], parameter: str) -> None:
    answer = ctx.get(path, **params)

    assert answer.status_code == 422
    assert parameter in answer.text


def test_industries_are_ranked_from_both_ends(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED
    best = ctx.results(RANKING)
    ends = ctx.get(ENDS, top_n=3).json()

    boards = [board for board in ctx.world.boards(CLOSED) if board.kind == "industry"]
    assert ends["stats"]["total"] == ends["results"]["total"] == len(boards)
    assert [row["rank"] for row in best] == list(range(1, 21))
    changes = [row["change_pct"] for row in best]
    assert changes == sorted(changes, reverse=True)
    assert ends["results"]["top"] == best[:3]
    assert [row["rank"] for row in ends["results"]["bottom"]] == [
        len(boards),
        len(boards) - 1,
        len(boards) - 2,
    ]
    assert ctx.results(RANKING, top_n=1) == best[:1]
    row = next(row for row in best if row["name"] == "电池")
    assert row["up_count"] + row["down_count"] <= len(next(b for b in boards if b.name == "电池").members)
    assert row["amount"] > 1e6


def test_without_the_portal_the_stored_map_is_ranked(ctx: FetchContext) -> None:
    assert ctx.results(RANKING, top_n=1)
    ctx.ticks.advance(60)
    ctx.silence("eastmoney")
    empty = ctx.results(ENDS)
    ctx.ticks.advance(60)
    with ctx.warehouse.engine.begin() as connection:
        for code, change in (("BK0001", 1.5), ("BK0002", 2.5)):
            connection.exec_driver_sql(
                "INSERT INTO fusion_market_cloud_map (trade_date, node_code, parent_code, level, name,"
                " change_pct, amount_yi, src, quality, batch_id, valid_from)"
                f" VALUES ('{TODAY}', '{code}', 'ROOT', 'sector', 'x', {change}, 2.5, 'eastmoney', 'ok', 'b',"
                f" '{TODAY} 15:00:00.000000')"
            )
    ranked = ctx.results(ENDS)

    assert empty == {"top": [], "bottom": [], "total": 0}
    assert [row["code"] for row in ranked["top"]] == ["BK0002", "BK0001"]
    assert (ranked["top"][0]["rank"], ranked["top"][0]["amount"], ranked["total"]) == (1, 2.5e8, 2)


def test_hot_stocks_say_why(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED
    answer = ctx.get(HOT)

    rows = answer.json()["results"]
    assert answer.headers["x-data-source"] == "backup_source"
    assert answer.headers["cache-control"] == "no-store"
    assert rows
    changes = [row["change_pct"] for row in rows]
    assert changes == sorted(changes, reverse=True)
    for row in rows:
        assert "+".join(row["tags"]) == row["reason"]
        security = next(one for one in ctx.world.securities(CLOSED) if one.code == row["code"])
        quote = ctx.world.quote(security, CLOSED)
        assert quote is not None
        assert row["price"] == quote.price / PRICE_UNIT
        assert row["amount"] == pytest.approx(quote.amount, abs=0.01)


def test_before_the_auction_hot_stocks_are_those_of_the_session_before(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED.replace(day=20)
    before = ctx.results(HOT)
    ctx.ticks.advance(7200)
    ctx.clock.at = datetime(2026, 8, 21, 9, 0)

    assert ctx.results(HOT) == before


def test_without_the_topic_portal_stored_strong_stocks_are_used(ctx: FetchContext) -> None:
    ctx.silence("ths")
    assert ctx.results(HOT) == []
    row = {"trade_date": TODAY, "list_type": "ths_strong", "name": "甲", "reason": "芯片+军工", "src": "ths"}
    put(
        ctx,
        "raw_hot_stocks",
        {**row, "code": "000002", "change_pct": 7.5, "tags": '["芯片","军工"]'},
        {**row, "code": "000001", "change_pct": 9.5, "tags": None},
        {**row, "code": "000003", "change_pct": 9.9, "list_type": "ths_hot"},
    )
    put(ctx, "fusion_quote_snapshot", {"trade_date": TODAY, "code": "000002", "price": 5.5, "amount": 1e7})

    rows = ctx.results(HOT)

    assert [(row["code"], row["price"], row["tags"]) for row in rows] == [
        ("000001", None, []),
        ("000002", 5.5, ["芯片", "军工"]),
    ]


def test_answers_from_before_the_open_are_not_used_after_it(ctx: FetchContext) -> None:
    live = ctx.app.state.platform.part(live_of)
    asked = 0

    async def portal() -> Answered:
        nonlocal asked
        asked += 1
        return Answered([])

    async def tell() -> None:
        await live.reported("boards", live.ttl(20.0), portal, None)

    ctx.clock.at = datetime(2026, 8, 21, 9, 14)
    ctx.api.call(tell)
    ctx.api.call(tell)
    assert (asked, live.ttl(STAT_TTL)()) == (1, 60)

    ctx.clock.at = datetime(2026, 8, 21, 9, 15, 30)
    ctx.ticks.advance(90)
    ctx.api.call(tell)
    assert asked == 2


def test_a_day_without_a_pool_is_read_from_the_stored_bars(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED
    days = ["2026-03-02", "2026-03-03", "2026-03-04"]

    def bar(code: str, day: str, status: str, **other: object) -> dict[str, object]:
        figures = {"open": 10.0, "high": 11.0, "low": 10.0, "close": 11.0, "last_close": 10.0, "volume": 100}
        kind = {"market": "SZ", "sec_type": "stock", "is_suspended": False, "src": "tdx", "adj_factor": 1.0}
        return {"code": code, "date": day, "limit_status": status, "change_pct": 10.0, "amount": 1e6,
                **figures, **kind, **other}  # fmt: skip

    put(
        ctx,
        "fusion_kline_daily",
        *(bar("000001", day, "up") for day in days),
        bar("000002", days[0], "up"),
        bar("000002", days[1], "none", is_suspended=True),
        bar("000002", days[2], "up"),
        bar("000004", days[2], "up_open"),
        bar("123001", days[2], "up", sec_type="cb"),
        bar("000005", "2026-03-05", "up"),
    )
    span = {"code": "000001", "valid_from": "2020-01-01", "name": "旧名", "is_st": False, "src": "tdx"}
    put(ctx, "ref_name_history", span)

    rows = ctx.results(LIMIT_UP, date="2026-03-04")

    assert [list(row) for row in rows] == [FIELDS, FIELDS]
    assert [(row["code"], row["name"], row["limit_days"]) for row in rows] == [
        ("000001", "旧名", 3),
        ("000002", "000002", 2),
    ]
    assert (rows[0]["price"], rows[0]["change_pct"], rows[0]["first_seal"]) == (11.0, 10.0, None)
