"""Scorecards and the built-in strategies over picks written by hand."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import TypeAdapter

from core.calendar import shipped_calendar
from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from resources.warehouse.batch_records import Batch
from resources.warehouse.engine import transaction
from resources.warehouse.slices import Slice
from serving_api.app import create_app
from serving_api.framework.routing import PlatformRoute
from serving_api.framework.system_time import SystemTime
from serving_api.quant.scorecard.routes import builtin_router, router
from serving_api.quant.scorecard.strategies import summed
from tests.conftest import SQLITE_OFTEN, mariadb_database
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import FAST, Bench, Ticks, make_settings, without_upstreams

DAYS = shipped_calendar().last(40, market.TODAY)
OLD, DAY, NEW = DAYS[5], DAYS[25], DAYS[-1]
TABLES = (
    "track_builtin", "track_preset", "scorecard_daily", "calc_market_phase", "fusion_kline_daily",
    "fusion_index_daily", "calc_strategy_hit",
)  # fmt: skip


def pick(group: str, day: str, rank: int, code: str, profit: float | None, **more: Any) -> dict[str, Any]:
    settled = profit is not None
    key = "preset_key" if group[0] in "mv" else "board_key"
    return {
        key: group, "trade_date": day, "rank_no": rank, "code": code, "name": f"N{code}", "industry": "银行",
        "score": 90.0 - rank, "price_at_pick": 10.0, "reason": "composite 80", "detail": '{"composite": 80}',
        "status": "reviewed" if settled else "pending", "profit_pct": profit,
        "index_profit_pct": 1.0 if settled else None,
        "excess_pct": profit - 1.0 if profit is not None else None,
        "hold_days": 5 if settled else None, "unfillable": False if settled else None, **more,
    }  # fmt: skip


BUILTIN = [
    pick("dragon", OLD, 1, "600519", 10.0, unfillable=True),
    pick("dragon", OLD, 6, "000001", -5.0, industry="软件"),
    pick("dragon", DAY, 1, "300750", 5.0),
    pick("dragon", DAY, 2, "688981", None, status="partial"),
    pick("dragon", NEW, 1, "600519", None),
    pick("composite", DAY, 1, "600519", 2.0),
]
PRESETS = [pick("momentumCore", DAY, 1, "600519", 4.0), pick("valueDeep", DAY, 1, "000001", -1.0)]
CARD = {
    "trace_id": "t1", "source": "chat", "code": "600519", "name": "N", "decision_date": DAY,
    "direction": "bearish", "total_score": 70.0, "price_at_decision": 10.0, "conclusion": "falls",
    "review_outcome": "hit", "review_profit_pct": -3.0,
}  # fmt: skip


HITS = [
    {
        "trade_date": day,
        "strategy_key": "ma_cross",
        "code": "000333",
        "name": "美的",
        "score": 60.0,
        "price": 10.0,
    }
    for day in (OLD, NEW)
]
RESTED = {**HITS[0], "strategy_key": "turtle", "code": "000334"}
"""A hit of a stock that has no bar on the third of its dates."""  # fmt: skip
HELD = DAYS[6:11]


def scorecard(day: str, picks: int, reviewed: int, gains: list[float], losses: list[float]) -> dict[str, Any]:
    """Of hits with these returns, the first gain of which nobody could have had; the index stood still."""
    returns, wins = len(gains) + len(losses), len(gains)
    sums = {"gain_sum_pct": sum(gains), "loss_sum_pct": sum(losses), "excess_sum_pct": sum(gains + losses)}
    counts = {"returns": returns, "excess_returns": returns, "wins": wins, "losses": len(losses)}
    without = {
        "reviewed": reviewed - bool(gains), "returns": returns - bool(gains), "wins": wins - bool(gains),
        "excess_returns": returns - bool(gains), "losses": len(losses), "gain_sum_pct": sum(gains[1:]),
        "loss_sum_pct": sum(losses), "excess_sum_pct": sum(gains[1:] + losses),
    }  # fmt: skip
    return {
        "stat_date": day, "source": "strategy", "group_key": "ma_cross", "picks": picks, "reviewed": reviewed,
        "unfillable": int(bool(gains)), **counts, **sums,
        **{f"fillable_{name}": value for name, value in without.items()},
    }  # fmt: skip


SCORECARDS = [
    scorecard(OLD, 10, 10, [10.0], []),  # nine never traded: settled without a return
    scorecard(DAY, 40, 10, [3.0, 2.0], [-5.0] * 3 + [0.0] * 5),
    scorecard(NEW, 5, 0, [], []),
]


def declared() -> list[Table]:
    return [table for table in builtin_registry().tables if table.name in TABLES]


def put(warehouse: Any, table: str, rows: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame([{"src": "test", **row} for row in rows])
    warehouse.writer.write(warehouse.table(table), frame, where=Slice(), batch=Batch(partition_key="test"))


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def shared_warehouse_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('warehouse') / 'warehouse.sqlite3'}"
        return
    yield from mariadb_database("tests.serving_api.areas.scorecards")


@pytest.fixture(scope="module")
def bench(shared_warehouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder: Path = tmp_path_factory.mktemp("data")
    tables = declared()
    with closing(market.open_warehouse(shared_warehouse_url, folder, tables=tables)) as warehouse:
        warehouse.migrate()
        put(warehouse, "track_builtin", BUILTIN)
        put(warehouse, "track_preset", PRESETS)
        phase = {"phase": "rise", "phase_label": "升温", "score": 60.0, "confidence": 1.0, "duration_days": 1}
        put(warehouse, "calc_market_phase", [{"trade_date": DAY, **phase}])
        bar = market.bar("600519", NEW, 10.0, market="SH", sec_type="stock", change_pct=1.5)
        held = [
            market.bar("000333", day, 10.0 + at, market="SZ", sec_type="stock", open=10.0)
            for at, day in enumerate(HELD)
        ]
        rested = [{**one, "code": "000334"} for at, one in enumerate(held) if at != 2]
        put(warehouse, "fusion_kline_daily", [bar, *held, *rested])
        index = [{"code": "sh000300", "date": day, "open": 1000.0, "close": 1010.0} for day in HELD]
        put(warehouse, "fusion_index_daily", index)
        put(warehouse, "calc_strategy_hit", [*HITS, RESTED])
        put(warehouse, "scorecard_daily", SCORECARDS)
        with transaction(warehouse.engine) as connection:
            statement = warehouse.sql.insert("decision_card", list(CARD))
            cards = [CARD, CARD | {"trace_id": "t2", "source": "desk", "direction": "neutral"}]
            connection.exec_driver_sql(statement, [tuple(card.values()) for card in cards])
    ticks = Ticks()
    app = create_app(
        make_settings(folder),
        clock=FrozenClock(market.NOW),
        system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
        warehouse_reader=market.open_warehouse(shared_warehouse_url, folder, tables=tables, read_only=True),
        warehouse_writer=market.open_warehouse(shared_warehouse_url, folder, tables=tables),
        passwords=FAST,
    )
    with running(without_upstreams(app)) as api:
        yield Bench(api, ticks, shared_warehouse_url, folder)


def reported(bench: Bench, path: str, **params: Any) -> Any:
    answer = bench.api.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_answer_has_its_documented_shape(bench: Bench) -> None:
    needed = {f"/scorecard/{name}": "builtin" for name in ("picks", "breakdown", "record")}
    for route in (*router.routes, *builtin_router.routes):
        assert isinstance(route, PlatformRoute)
        path = route.path.removeprefix("/api/v1").replace("{code}", "600519").replace("{key}", "dragon")
        params = {"source": needed[path]} if path in needed else {}
        TypeAdapter(route.model).validate_python(reported(bench, path, **params))


def test_overview_with_and_without_unfillable_picks(bench: Bench) -> None:
    answer = reported(bench, "/scorecard/overview")
    assert (answer["hold_days"], answer["as_of"]) == (5, NEW)
    rows = {(row["source"], row["group_key"]): row for row in answer["items"]}
    assert list(rows) == [
        ("builtin", "composite"), ("builtin", "dragon"), ("preset", "momentumCore"), ("preset", "valueDeep"),
        ("decision", "chat"), ("strategy", "ma_cross"),
    ]  # fmt: skip
    dragon = rows["builtin", "dragon"]
    assert (dragon["picks"], dragon["reviewed"], dragon["unfillable"]) == (5, 4, 1)
    assert dragon["win_rate_pct"] == 50.0  # the one without a return stays in the denominator
    assert dragon["avg_profit_pct"] == pytest.approx(10 / 3, abs=1e-4)
    assert dragon["profit_loss_ratio"] == 1.5
    assert dragon["fillable"] == {
        "reviewed": 3, "win_rate_pct": 33.3333, "avg_profit_pct": 0.0, "avg_excess_pct": -1.0,
        "profit_loss_ratio": 1.0,
    }  # fmt: skip
    assert rows["decision", "chat"]["avg_profit_pct"] == 3.0  # a fall that was foretold
    assert {row["source"] for row in reported(bench, "/scorecard/overview", source="preset")["items"]} == {
        "preset"
    }
    recent = reported(bench, "/scorecard/overview", source="builtin", days=1)["items"]
    assert [(row["group_key"], row["picks"], row["win_rate_pct"]) for row in recent] == [("dragon", 1, None)]


def test_decision_cards_are_held_for_ten_dates(bench: Bench) -> None:
    answer = reported(bench, "/scorecard/overview", source="decision")
    assert (answer["hold_days"], answer["items"][0]["hold_days"]) == (10, 10)
    rows = reported(bench, "/scorecard/overview")["items"]
    assert {row["hold_days"] for row in rows if row["source"] != "decision"} == {5}


def test_an_answer_of_hits_is_old_when_bars_came(bench: Bench) -> None:
    path, params = "/scorecard/picks", {"source": "strategy"}
    tag = {"If-None-Match": bench.api.get(path, params=params).headers["etag"]}
    assert bench.api.get(path, params=params, headers=tag).status_code == 304
    with closing(bench.warehouse(tables=declared())) as warehouse:
        late = market.bar("000333", DAYS[0], 10.0, market="SZ", sec_type="stock", open=10.0)
        put(warehouse, "fusion_kline_daily", [late])
    bench.ticks.seconds += 60  # MariaDB is asked for versions now and then
    assert bench.api.get(path, params=params, headers=tag).status_code == 200


def test_picks_newest_first_by_pages(bench: Bench) -> None:
    answer = reported(bench, "/scorecard/picks", source="builtin", group="dragon", pageSize=10)
    assert (answer["total"], answer["page"], answer["pageSize"]) == (5, 1, 10)
    assert [(row["trade_date"], row["rank"]) for row in answer["items"]] == [
        (NEW, 1), (DAY, 1), (DAY, 2), (OLD, 1), (OLD, 6)
    ]  # fmt: skip
    assert answer["items"][3]["unfillable"] is True
    assert reported(bench, "/scorecard/picks", source="builtin", status="partial")["total"] == 1
    assert reported(bench, "/scorecard/picks", source="builtin", date=DAY)["total"] == 3
    (card,) = reported(bench, "/scorecard/picks", source="decision")["items"]
    assert (card["rank"], card["profit_pct"], card["status"]) == (None, 3.0, "reviewed")
    assert reported(bench, "/scorecard/picks", source="decision", date=NEW)["total"] == 0


@pytest.mark.parametrize(
    ("path", "params", "named"),
    [
        ("/scorecard/picks", {}, "source"),
        ("/scorecard/picks", {"source": "other"}, "source"),
        ("/scorecard/picks", {"source": "builtin", "group": "momentumCore"}, "group"),
        ("/scorecard/picks", {"source": "builtin", "pageSize": 9}, "pageSize"),
        ("/scorecard/picks", {"source": "builtin", "date": "2026-08-22"}, "date"),
        ("/scorecard/breakdown", {"source": "builtin", "by": "weather"}, "by"),
        ("/scorecard/overview", {"days": 751}, "days"),
        ("/scorecard/stock/6005", {}, "code"),
        ("/builtin-strategies/dragon/board", {"limit": 21}, "limit"),
        ("/builtin-strategies/dragon/board", {"date": "2026-08-16"}, "date"),
    ],
)
def test_a_wrong_parameter_is_named(bench: Bench, path: str, params: dict[str, Any], named: str) -> None:
    answer = bench.api.get(path, params=params)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(named)


def test_strategies_by_their_scorecards_and_single_hits_as_they_are_read(bench: Bench) -> None:
    (row,) = reported(bench, "/scorecard/overview", source="strategy")["items"]
    assert (row["picks"], row["reviewed"], row["unfillable"]) == (55, 20, 2)
    assert row["win_rate_pct"] == 15.0  # three of twenty, eleven of which have a return
    assert row["avg_profit_pct"] == row["avg_excess_pct"] == 0.0
    assert row["fillable"]["reviewed"] == 18
    assert row["fillable"]["avg_profit_pct"] == pytest.approx(-13 / 9, abs=1e-4)
    months = reported(bench, "/scorecard/breakdown", source="strategy", by="month")["items"]
    assert sum(month["picks"] for month in months) == 55
    wrong = bench.api.get("/scorecard/breakdown", params={"source": "strategy", "by": "industry"})
    assert (wrong.status_code, wrong.json()["detail"][:2]) == (422, "by")

    hits = reported(bench, "/scorecard/picks", source="strategy", group="ma_cross")
    assert hits["total"] == 2
    pending, reviewed = hits["items"]
    assert (pending["trade_date"], pending["status"], pending["profit_pct"]) == (NEW, "pending", None)
    assert (reviewed["status"], reviewed["profit_pct"], reviewed["excess_pct"]) == ("reviewed", 40.0, 39.0)
    assert (reviewed["buy_date"], reviewed["sell_date"]) == (HELD[0], HELD[-1])
    assert reported(bench, "/scorecard/stock/000333")["stats"]["picks"] == 2
    (rested,) = reported(bench, "/scorecard/stock/000334")["items"]  # nobody else's bars are read
    assert (rested["status"], rested["profit_pct"]) == ("partial", 40.0)
    wrong = bench.api.get("/scorecard/picks", params={"source": "strategy", "status": "pending"})
    assert (wrong.status_code, wrong.json()["detail"][:6]) == (422, "status")


def test_figures_of_a_few_dates_are_not_shown_with_counts_of_all() -> None:
    figures = ("win_rate_pct", "avg_profit_pct", "avg_excess_pct", "profit_loss_ratio")
    older = {**dict.fromkeys(SCORECARDS[0]), "picks": 30, "reviewed": 30}
    mixed = summed([older, *SCORECARDS])
    assert (mixed["picks"], mixed["reviewed"]) == (85, 50)
    assert {name: mixed[name] for name in figures} == dict.fromkeys(figures)
    assert mixed["fillable"] == {"reviewed": None, **dict.fromkeys(figures)}
    # Of a date whose picks are all pending nothing is missing.
    pending = {**older, "reviewed": 0}
    assert summed([pending, *SCORECARDS])["win_rate_pct"] == summed(SCORECARDS)["win_rate_pct"] == 15.0


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("month", sorted({OLD[:7], DAY[:7], NEW[:7]})),
        ("industry", ["银行", "软件"]),
        ("phase", ["unknown", "升温"]),
        ("rank", ["01-05", "06-10"]),
        ("board", ["main", "gem", "star"]),
    ],
)
def test_break_downs(bench: Bench, by: str, keys: list[str]) -> None:
    answer = reported(bench, "/scorecard/breakdown", source="builtin", by=by)
    assert answer["by"] == by
    assert [row["key"] for row in answer["items"]] == keys
    assert sum(row["picks"] for row in answer["items"]) == len(BUILTIN)


def test_every_pick_of_a_stock(bench: Bench) -> None:
    answer = reported(bench, "/scorecard/stock/600519")
    assert [(row["trade_date"], row["source"], row["group_key"]) for row in answer["items"]] == [
        (NEW, "builtin", "dragon"), (DAY, "preset", "momentumCore"), (DAY, "decision", "chat"),
        (DAY, "builtin", "composite"), (OLD, "builtin", "dragon"),
    ]  # fmt: skip
    assert answer["stats"] == {"picks": 5, "reviewed": 4, "win_rate_pct": 100.0, "avg_profit_pct": 4.75}
    assert reported(bench, "/scorecard/stock/000002")["items"] == []


def test_sources_and_strategies(bench: Bench) -> None:
    rows = {row["key"]: row for row in reported(bench, "/scorecard/sources")["items"]}
    assert list(rows) == ["builtin", "preset", "decision", "strategy"]
    assert (rows["builtin"]["picks"], rows["builtin"]["first_date"]) == (6, OLD)
    assert [group["key"] for group in rows["builtin"]["groups"]] == ["dragon", "tactic", "composite"]
    assert len(rows["preset"]["groups"]) == 14
    assert rows["decision"]["groups"] == [{"key": "chat", "label": "chat"}]
    assert rows["decision"]["picks"] == reported(bench, "/scorecard/picks", source="decision")["total"] == 1

    cards = {row["key"]: row for row in reported(bench, "/builtin-strategies")["items"]}
    assert list(cards) == ["dragon", "tactic", "composite"]
    assert (cards["dragon"]["last_date"], cards["dragon"]["win_rate_pct"]) == (NEW, 50.0)
    assert (cards["tactic"]["last_date"], cards["tactic"]["win_rate_pct"]) == (None, None)
    assert {row["board_size"] for row in cards.values()} == {20}


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/scorecard/overview", {"source": "builtin"}),
        ("/scorecard/breakdown", {"source": "builtin"}),
        ("/scorecard/stock/600519", {}),
        ("/builtin-strategies/dragon/performance", {}),
    ],
)
def test_a_record_says_how_far_back_it_reaches(bench: Bench, path: str, params: dict[str, Any]) -> None:
    whole, cut = (reported(bench, path, days=days, **params) for days in (20, 100))

    assert (whole["first_date"], whole["note"]) == (OLD, None)
    assert cut["note"] == f"35 of 100 trade dates are stored; the first stored date is {OLD}"


def test_a_rate_comes_with_its_count(bench: Bench) -> None:
    cards = {row["key"]: row for row in reported(bench, "/builtin-strategies")["items"]}
    assert (cards["dragon"]["picks"], cards["dragon"]["reviewed"]) == (5, 4)
    assert (cards["tactic"]["reviewed"], cards["tactic"]["win_rate_pct"]) == (0, None)
    stats = reported(bench, "/scorecard/stock/600519")["stats"]
    assert 0 < stats["reviewed"] < stats["picks"]


def test_a_board_and_its_performance(bench: Bench) -> None:
    newest = reported(bench, "/builtin-strategies/dragon/board")
    assert (newest["date"], newest["total"]) == (NEW, 1)
    assert newest["items"][0]["change_pct"] == 1.5
    assert newest["items"][0]["detail"] == {"composite": 80}
    older = reported(bench, "/builtin-strategies/dragon/board", date=DAY, limit=1)
    assert older["total"] == 2  # stand on it, one is shown
    assert [(row["rank"], row["code"], row["price"]) for row in older["items"]] == [(1, "300750", 10.0)]
    assert bench.api.get("/builtin-strategies/other/board").status_code == 404
    assert bench.api.get("/builtin-strategies/other/performance").status_code == 404

    found = reported(bench, "/builtin-strategies/dragon/performance")
    assert (found["stats"]["picks"], found["stats"]["fillable"]["win_rate_pct"]) == (5, 33.3333)
    # A fifth of each date's mean return (2.5, then 5.0), compounded; the index earned 1.0 each time.
    assert [row["date"] for row in found["curve"]] == [OLD, DAY]
    assert [row["avg_profit_pct"] for row in found["curve"]] == [2.5, 5.0]
    assert [row["cum_pct"] for row in found["curve"]] == [0.5, pytest.approx((1.005 * 1.01 - 1) * 100)]
    assert found["curve"][-1]["index_cum_pct"] == pytest.approx((1.002**2 - 1) * 100, abs=1e-4)
    assert [row["trade_date"] for row in found["recent"]] == [NEW, DAY, DAY, OLD, OLD]


def test_the_record_of_a_board_is_its_performance_and_a_preset_has_one_too(bench: Bench) -> None:
    performance = reported(bench, "/builtin-strategies/dragon/performance")
    found = reported(bench, "/scorecard/record", source="builtin", group="dragon")
    assert found["stats"] == performance["stats"]
    assert found["curve"] == performance["curve"]
    assert sum(month["picks"] for month in found["months"]) == performance["stats"]["picks"]

    preset = reported(bench, "/scorecard/record", source="preset", group="momentumCore")
    assert [(month["key"], month["reviewed"], month["win_rate_pct"]) for month in preset["months"]] == [
        (DAY[:7], 1, 100.0)
    ]
    assert preset["curve"] == [{"date": DAY, "avg_profit_pct": 4.0, "cum_pct": 0.8, "index_cum_pct": 0.2}]
    wrong = bench.api.get("/scorecard/record", params={"source": "preset", "group": "dragon"})
    assert (wrong.status_code, "momentumCore" in wrong.text) == (422, True)


def test_without_a_database_answers_are_empty(own: Bench) -> None:
    own.lose_database()
    nothing = {"items": [], "hold_days": 5, "as_of": None, "first_date": None, "note": None}
    assert reported(own, "/scorecard/overview") == nothing
    assert reported(own, "/builtin-strategies/dragon/board")["items"] == []
    assert reported(own, "/builtin-strategies/dragon/performance")["curve"] == []
    assert len(reported(own, "/builtin-strategies")["items"]) == 3
