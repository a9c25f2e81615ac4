"""/quant/strategies*, /stocks/{code}/strategy-hits, tactic-hits and strategy-audit over a few stored rows."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock
from core.declaration.columns import columns_from
from core.declaration.registry import builtin_registry
from core.declaration.tables import Layer, Table
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from serving_api.quant.strategies import service
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.serving_api import market
from tests.serving_api.at_once import Watched, answers_at_once
from tests.serving_api.client import Api, running
from tests.serving_api.conftest import FAST, make_settings

DATES = shipped_calendar().last(30, market.TODAY)


def _calc(name: str, key: str, notation: str, date: str = "trade_date") -> Table:
    return Table(name, Layer.CALC, columns_from(notation), tuple(key.split()), date_column=date)


HITS = _calc(
    "calc_strategy_hit", "trade_date strategy_key code",
    "trade_date:date strategy_key:s32 code:code name:s64 score:f price:px params:json",
)  # fmt: skip
SIGNALS = _calc(
    "calc_signal_hit", "trade_date signal_key code",
    "trade_date:date signal_key:s32 code:code direction:int price:px strength:f detail:json",
)  # fmt: skip
FACTORS = _calc(
    "calc_factor_score", "trade_date code",
    "trade_date:date code:code momentum:f quality_score:f value:f composite:f covered_weight:f "
    "gate_blocked:bool gate_code:s32 gate_reason:s255",
)  # fmt: skip
DRAGON = _calc(
    "calc_dragon_score", "trade_date code",
    "trade_date:date code:code name:s64 total_score:f score_height:f score_seal:f "
    "coverage:f rank_no:int grade:s4",
)  # fmt: skip
INDICATOR = _calc(
    "calc_indicator_daily", "code date",
    "code:code date:date close:px rtsi:f macd_hist:f kdj_k:f kdj_d:f boll_mid:px vol_ma5:f ma20:px", "date",
)  # fmt: skip
PATTERN = _calc("calc_pattern_daily", "code date", "code:code date:date double_bottom:int island:int", "date")
INDEX = Table(
    "fusion_index_daily", Layer.DWD, columns_from("code:code date:date open:f close:f"), ("code", "date"),
    date_column="date",
)  # fmt: skip
TABLES = (market.KLINE, market.WIDE, INDEX, HITS, SIGNALS, FACTORS, DRAGON, INDICATOR, PATTERN)


def put(warehouse: Warehouse, table: Table, rows: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame(rows)
    if table.layer is Layer.DWD:
        market.put(warehouse, table, rows)
        return
    where = Slice.of_codes(sorted(set(frame["code"])))
    warehouse.writer.write(table, frame, where=where, batch=Batch(partition_key="test"))


def hit(code: str, day: int, key: str = "ma_cross", **more: Any) -> dict[str, Any]:
    return {
        "trade_date": DATES[day], "strategy_key": key, "code": code, "name": "平安银行", "score": 60.0,
        "price": 10.0, "params": '{"fast_period":5,"slow_period":20}', **more,
    }  # fmt: skip


def fill(warehouse: Warehouse) -> None:
    """600001 rises by 1 a day and splits 1:2 on day 20; 600002 is suspended from day 11 on; 600003 opens
    sealed on day 21. 600004 was listed on day 26 and loses money; 600005 has no bar on the newest date.
    600006 splits 1:2 on day 19. The factors of 600001 on the newest date
    and of 600006 on day 18 are missing yet."""
    bars = []
    for at, day in enumerate(DATES):
        price, factor = (10.0 + at, 1.0) if at < 20 else ((10.0 + at) / 2, 2.0)
        factor = None if at == len(DATES) - 1 else factor
        own = {"change_pct": 1.5, "market": "SH"}
        bars.append({**market.bar("600001", day, price, factor), "open": price, **own})
        if at <= 10:
            bars.append({**market.bar("600002", day, 10.0), "open": 10.0, **own})
        if at >= 26:
            bars.append({**market.bar("600004", day, 10.0), "open": 10.0, **own})
        if at <= 28:
            bars.append({**market.bar("600005", day, 10.0), "open": 10.0, **own})
        if at >= 17:
            split = (10.0, None if at == 18 else 1.0) if at < 19 else (5.0, 2.0)
            bars.append({**market.bar("600006", day, *split), **own})
        sealed = {"limit_up": 11.0} if at == 21 else {}
        bars.append({**market.bar("600003", day, 11.0 if at >= 21 else 10.0), "open": 11.0, **own, **sealed})
    put(warehouse, market.KLINE, bars)
    put(warehouse, INDEX, [{"code": "sh000300", "date": day, "open": 100.0, "close": 101.0} for day in DATES])
    put(
        warehouse,
        HITS,
        [
            hit("600001", 18),
            hit("600002", 10),
            hit("600003", 20, score=90.0),
            hit("600001", 20, score=None),
            hit("600001", 29),
            hit("600006", 18, "turtle"),
            hit("600001", 18, "turtle", params='{"fast_period":20,"slow_period":10}'),
        ],
    )
    signals = [("ma_golden_cross", 1, 0.4), ("double_bottom", 1, None), ("volume_surge", 0, 2.5)]
    put(
        warehouse,
        SIGNALS,
        [
            {
                "trade_date": DATES[25 + at], "signal_key": key, "code": "600001", "direction": way,
                "price": 17.5, "strength": strength,
            }
            for at, (key, way, strength) in enumerate(signals)
        ],
    )  # fmt: skip
    wide = {
        "trade_date": DATES[-1],
        "roe": 12.0,
        "debt_ratio": 75.0,
        "revenue_yoy": 5.0,
        "net_profit_yoy": -3.0,
    }
    market.put(
        warehouse,
        market.WIDE,
        [
            {"code": "600001", "name": "平安", **wide},
            {"code": "600003", "name": "*ST海润", **wide, "roe": -4.0},
            {"code": "600004", "name": "新股", **wide, "roe": -1.0, "list_date": DATES[26]},
            {"code": "600005", "name": "停牌", **wide, "list_date": "2001-01-01"},
        ],
        public_at=f"{DATES[-1]} 15:00:00.000000",
    )
    score = {
        "trade_date": DATES[-1],
        "momentum": 80.0,
        "quality_score": 40.0,
        "value": None,
        "covered_weight": 0.5,
    }
    gate = {"gate_blocked": True, "gate_code": "st", "gate_reason": "ST in the name on the date"}
    put(
        warehouse,
        FACTORS,
        [
            {"code": "600001", "composite": 71.5, "gate_blocked": False, **score},
            {"code": "600003", "composite": 80.0, **score, **gate},
        ],
    )
    leader = {
        "trade_date": DATES[-1],
        "score_height": 15.0,
        "score_seal": None,
        "coverage": 0.8,
        "rank_no": 3,
    }
    put(
        warehouse,
        DRAGON,
        [
            {"code": "600003", "name": "*ST海润", "total_score": 66.0, "grade": "B", **leader},
            {"code": "600004", "name": "新股", "total_score": 77.0, "grade": "A", **leader},
            {"code": "600005", "name": "停牌", "total_score": 55.0, "grade": "B", **leader},
        ],
    )
    reported = {"rtsi": 70.0, "kdj_k": 60.0, "kdj_d": 50.0, "boll_mid": 15.0, "vol_ma5": 2000.0}
    put(
        warehouse,
        INDICATOR,
        [
            {"code": "600001", "date": DATES[-2], "close": 19.0, "macd_hist": 0.1, "ma20": 14.0, **reported},
            {"code": "600001", "date": DATES[-1], "close": 19.5, "macd_hist": 0.2, "ma20": 14.5, **reported},
            {"code": "600004", "date": DATES[-1], "close": 10.0, "macd_hist": 0.2, "ma20": 9.0, **reported},
            {"code": "600005", "date": DATES[-2], "close": 10.0, "macd_hist": 0.2, "ma20": 9.0, **reported},
        ],
    )
    fired = [("600001", DATES[-3], 100), ("600003", DATES[-1], -100)]
    patterns = [{"code": code, "date": day, "double_bottom": way, "island": 0} for code, day, way in fired]
    put(warehouse, PATTERN, patterns)


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder: Path = tmp_path_factory.mktemp("strategies")
    for url in engine_url(request.param, folder, "tests.serving_api.areas.strategies"):
        yield from opened(url, folder)


def opened(url: str, folder: Path) -> Iterator[Api]:
    warehouse = market.open_warehouse(url, folder, tables=TABLES)
    warehouse.migrate()
    fill(warehouse)
    app = create_app(
        make_settings(folder),
        clock=FrozenClock(datetime(2026, 8, 21, 18, 0)),
        warehouse_reader=market.open_warehouse(url, folder, tables=TABLES, read_only=True),
        warehouse_writer=warehouse,
        passwords=FAST,
    )
    with running(app) as made:
        yield made
    warehouse.close()


def reported(api: Api, path: str, **params: Any) -> Any:
    answer = api.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_tables_here_are_those_that_are_declared() -> None:
    declared = {table.name: table for table in builtin_registry().tables}
    for table in TABLES[2:]:
        columns = {spec.name: spec.family for spec in declared[table.name].columns}
        assert {spec.name: spec.family for spec in table.columns}.items() <= columns.items(), table.name
        assert declared[table.name].key == table.key


def test_the_strategies_and_when_they_last_bought(api: Api) -> None:
    items = {one["key"]: one for one in reported(api, "/quant/strategies")["items"]}
    assert len(items) == 9
    assert items["ma_cross"]["last_run"] == DATES[29]
    assert items["turtle"]["last_run"] == DATES[18]
    assert items["momentum"]["last_run"] is None
    assert items["ma_cross"]["kind"] == "trend"
    assert [one["name"] for one in items["ma_cross"]["params"]] == ["fast_period", "slow_period"]


def test_picks_of_a_date_best_first_and_of_the_newest_date(api: Api) -> None:
    body = reported(api, "/quant/strategies/ma_cross/picks", date=DATES[20])
    assert (body["date"], body["total"]) == (DATES[20], 2)
    assert [(one["rank"], one["code"], one["score"]) for one in body["items"]] == [
        (1, "600003", 90.0),
        (2, "600001", None),
    ]
    assert body["items"][0]["reason"] == "MA5 crossed above MA20"
    assert body["items"][0]["change_pct"] == 1.5
    newest = reported(api, "/quant/strategies/ma_cross/picks")
    assert (newest["date"], [one["code"] for one in newest["items"]]) == (DATES[29], ["600001"])
    assert reported(api, "/quant/strategies/momentum/picks")["items"] == []
    assert len(reported(api, "/quant/strategies/ma_cross/picks", date=DATES[20], limit=1)["items"]) == 1


def test_validation_follows_the_picks_for_five_dates(api: Api) -> None:
    body = reported(api, "/quant/strategies/ma_cross/validation")
    # Day 18: in at 29.00, out at the close of day 23, 16.50 x 2. Day 20: 15.50 to 17.50. 600003: in at 11.00,
    # out at 11.00. 600002 rested: settled without a return after twenty dates, which have not passed.
    profits = {18: 33 / 29 - 1, 20: 17.5 / 15.5 - 1}
    assert (body["picks"], body["reviewed"], body["unfillable"]) == (5, 3, 1)
    assert body["win_rate_pct"] == pytest.approx(200 / 3, abs=1e-4)
    assert body["avg_profit_pct"] == pytest.approx(sum(profits.values()) / 3 * 100, abs=1e-4)
    assert body["avg_excess_pct"] == pytest.approx(body["avg_profit_pct"] - 1.0, abs=1e-4)
    assert [point["date"] for point in body["curve"]] == [DATES[18], DATES[20]]
    assert body["curve"][0]["cum_pct"] == pytest.approx(profits[18] * 20, abs=1e-4)
    assert body["curve"][1]["cum_pct"] == pytest.approx(
        ((1 + profits[18] / 5) * (1 + profits[20] / 2 / 5) - 1) * 100, abs=1e-4
    )
    short = reported(api, "/quant/strategies/ma_cross/validation", days=5)
    assert (short["picks"], short["reviewed"], short["curve"]) == (1, 0, [])
    assert reported(api, "/quant/strategies/momentum/validation")["picks"] == 0


def test_a_validation_is_made_once_for_all_requests(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Watched(service.validation)
    monkeypatch.setattr(service, "validation", made)

    told_at_once = answers_at_once(api, ["/quant/strategies/ma_cross/validation?days=29"] * 5)

    assert made.calls == 1
    assert told_at_once == [told_at_once[0]] * 5
    assert told_at_once[0]["picks"] > 0


def test_hits_of_a_stock_with_what_came_after(api: Api) -> None:
    rows = reported(api, "/stocks/600001/strategy-hits")["results"]
    assert [(row["date"], row["strategyKey"]) for row in rows] == [
        (DATES[29], "ma_cross"), (DATES[20], "ma_cross"), (DATES[18], "ma_cross"), (DATES[18], "turtle"),
    ]  # fmt: skip
    assert rows[0]["strategyName"] == "均线金叉"
    # Adjusted: 28 on day 18, 39 on the newest.
    assert [row["changeSince"] for row in rows] == pytest.approx(
        [0.0, 30.0, 39 / 28 * 100 - 100, 39 / 28 * 100 - 100], abs=1e-4
    )
    (split,) = reported(api, "/stocks/600006/strategy-hits")["results"]
    assert split["changeSince"] == 0.0
    assert len(reported(api, "/stocks/600001/strategy-hits", days=10)["results"]) == 2
    assert len(reported(api, "/stocks/600001/strategy-hits", limit=1)["results"]) == 1
    assert reported(api, "/stocks/999999/strategy-hits")["results"] == []


def test_signals_and_patterns_of_a_stock(api: Api) -> None:
    rows = reported(api, "/stocks/600001/tactic-hits")["results"]
    assert [(row["date"], row["signalKey"], row["signalName"]) for row in rows] == [
        (DATES[27], "volume_surge", "放量"), (DATES[26], "double_bottom", "双底"),
        (DATES[25], "ma_golden_cross", "均线金叉"),
    ]  # fmt: skip
    assert [(row["direction"], row["strength"]) for row in rows] == [(0, 2.5), (1, None), (1, 0.4)]


def test_hits_of_the_past_say_how_far_back_they_reach(api: Api) -> None:
    """Picks from day 10 on, signals from day 25 on; a date on which a strategy bought nothing is no gap."""
    picked, signalled = DATES[10], DATES[25]
    board, early, none = (
        reported(api, f"/quant/strategies/{key}/picks", date=day)
        for key, day in (("ma_cross", DATES[20]), ("ma_cross", DATES[3]), ("momentum", DATES[20]))
    )
    assert [(one["first_date"], one["note"]) for one in (board, none)] == [(picked, None)] * 2
    assert early["note"] == f"nothing is stored of {DATES[3]}; the first stored date is {picked}"
    for path, first in (
        ("/quant/strategies/ma_cross/validation", picked),
        ("/stocks/600001/strategy-hits", picked),
        ("/stocks/600001/tactic-hits", signalled),
    ):
        whole, cut = reported(api, path, days=2), reported(api, path, days=250)
        assert (whole["first_date"], whole.get("note")) == (first, None), path
        assert cut["note"].endswith(f"of 250 trade dates are stored; the first stored date is {first}"), path


def systems(body: Any) -> dict[str, Any]:
    return {one["key"]: one for one in body["results"]["systems"]}


def test_the_audit_of_a_stock_names_scores_gates_and_what_is_missing(api: Api) -> None:
    body = reported(api, "/stocks/600001/strategy-audit")
    found = systems(body)
    boards = reported(api, "/builtin-strategies")["items"]
    assert [(key, one["name"]) for key, one in found.items()] == [(one["key"], one["name"]) for one in boards]
    assert body["results"]["date"] == DATES[-1]
    gate = body["results"]["gate"]
    assert (gate["passed"], gate["code"]) == (True, None)
    assert gate["warnings"] == ["debt ratio 75.00 % is between 70 % and 90 %"]
    composite = found["composite"]
    assert (composite["conclusion"], composite["score"], composite["passed"]) == ("strong", 71.5, True)
    assert composite["reasons"] == ["momentum 80.0", "quality_score 40.0"]
    assert composite["warnings"] == ["factors of 50 % of the weight are there"]
    assert (found["dragon"]["conclusion"], found["dragon"]["passed"]) == ("absent", False)
    # Of the five signals the rising MA20 and MACD, K > D and the close above the middle hold, the volume of
    # 1,000 does not.
    tactic = found["tactic"]
    health = reported(api, "/stocks/600001/vpa")["results"]["health"]
    assert 50 < health <= 100
    assert tactic["score"] == pytest.approx(0.35 * 70 + 0.25 * health + 0.25 * 75 + 0.15 * 80, abs=1e-2)
    assert tactic["warnings"] == []
    assert f"double_bottom +1 on {DATES[-3]}" in tactic["reasons"]


def test_a_gate_blocks_the_systems_that_it_is_of(api: Api) -> None:
    found = systems(reported(api, "/stocks/600003/strategy-audit"))
    assert (found["composite"]["conclusion"], found["composite"]["passed"]) == ("blocked", False)
    assert (found["dragon"]["conclusion"], found["dragon"]["score"]) == ("blocked", 66.0)
    assert found["tactic"]["conclusion"] == "missing"


def test_the_audit_goes_by_the_rules_of_the_boards(api: Api) -> None:
    found = systems(reported(api, "/stocks/600004/strategy-audit"))
    assert (found["tactic"]["conclusion"], found["tactic"]["passed"]) == ("blocked", False)
    assert found["tactic"]["reasons"][0].startswith("ROE -1.00 %")
    assert (found["dragon"]["conclusion"], found["dragon"]["score"]) == ("blocked", 77.0)
    assert found["dragon"]["reasons"][0] == f"listed on {DATES[26]}: in its first 5 trade dates"

    # On its newest date nobody has a pattern: nobody looked, though somebody did on the date before.
    found = systems(reported(api, "/stocks/600005/strategy-audit"))
    assert "pattern is missing" in found["tactic"]["warnings"]
    assert found["dragon"]["conclusion"] == "neutral"


def test_the_audit_of_an_unknown_stock_and_of_a_past_instant(api: Api) -> None:
    unknown = reported(api, "/stocks/999999/strategy-audit")
    assert unknown["results"]["date"] is None
    assert unknown["results"]["gate"]["passed"] is None
    assert {one["score"] for one in systems(unknown).values()} == {None}
    past = reported(api, "/stocks/600001/strategy-audit", as_of=f"{DATES[-1]}T14:59:00")
    assert past["as_of"].startswith(f"{DATES[-1]}T14:59:00")
    assert past["results"]["date"] == DATES[-2]
    assert systems(past)["composite"]["conclusion"] == "missing"
    assert any("rtsi" in reason for reason in systems(past)["tactic"]["reasons"])


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("/quant/strategies/best/picks", "key"),
        ("/quant/strategies/best/validation", "key"),
        ("/quant/strategies/ma_cross/picks?date=2026-08-22", "date"),
        ("/quant/strategies/ma_cross/picks?date=2026-08-16", "date"),
        ("/quant/strategies/ma_cross/picks?limit=0", "limit"),
        ("/quant/strategies/ma_cross/validation?days=2501", "days"),
        ("/stocks/60000/strategy-hits", "code"),
        ("/stocks/600000/strategy-hits?days=251", "days"),
        ("/stocks/600000/tactic-hits?limit=201", "limit"),
        ("/stocks/600000/strategy-audit?as_of=2027-01-01", "as_of"),
    ],
)
def test_bad_input_names_the_parameter(api: Api, path: str, parameter: str) -> None:
    answer = api.get(path)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"].startswith(f"{parameter}: ")
