"""Picks of boards and presets: made on their date, reviewed when their window has closed, then left alone."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.calendar import TradeCalendar, shipped_calendar
from core.clock import ManualClock
from core.declaration.registry import builtin_registry
from core.declaration.scope import Scope
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.load import load_fused
from platform_assets.pipeline.run import PipelineRun
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse

CALENDAR = shipped_calendar()
DAYS = CALENDAR.between("2026-06-01", "2026-08-21")
CODES = [f"60000{at}" for at in range(6)]
INPUTS = (
    "fusion_kline_daily", "fusion_index_daily", "fusion_stock_wide", "calc_factor_score",
    "calc_dragon_score", "calc_indicator_daily", "calc_pattern_daily", "calc_strategy_hit",
)  # fmt: skip
TRACKS = ("track_builtin", "track_preset", "scorecard_daily")
PICKED = DAYS[0]


def close(at: int, day: int) -> float:
    """Code `at` moves by (at - 2) percent a day."""
    return round(10 * (1 + (at - 2) / 100) ** day, 4)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[PipelineRun]:
    registry = builtin_registry()
    tables = [registry.of_table(name).table for name in (*INPUTS, *TRACKS)]
    clock = ManualClock(datetime.fromisoformat(f"{PICKED}T18:15"))
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    warehouse = Warehouse(url, tables, clock=clock, payload_folder=tmp_path / "payloads")
    warehouse.migrate()
    ctx = FetchContext(clock=clock, calendar=CALENDAR, makers={})
    yield PipelineRun(registry, warehouse, ctx, CALENDAR, clock)
    warehouse.close()


def put(run: PipelineRun, table: str, rows: list[dict[str, Any]], day: str) -> None:
    frame = pd.DataFrame([{"src": "test", **row} for row in rows])
    declared = run.warehouse.table(table)
    where = Slice.of_date(str(declared.date_column), day)
    run.warehouse.writer.write(declared, frame, where=where, batch=Batch(partition_key=day), replace=True)


def bars(
    run: PipelineRun,
    day: int,
    codes: list[str] = CODES,
    limit: float | None = None,
    factors: Mapping[str, float] | None = None,
) -> None:
    date = DAYS[day]
    put(
        run,
        "fusion_kline_daily",
        [
            {
                "code": code, "date": date, "market": "SH", "sec_type": "stock", "open": close(at, day),
                "high": close(at, day), "low": close(at, day), "close": close(at, day), "volume": 1000,
                "adj_factor": (factors or {}).get(code, 1.0), "is_suspended": False,
                "limit_up": limit if at == 5 else 99.0,
            }
            for at, code in enumerate(CODES)
            if code in codes
        ],
        date,
    )  # fmt: skip
    index = {"code": "sh000300", "date": date, "open": 1000.0 + day, "close": 1000.0 + day}
    put(run, "fusion_index_daily", [index], date)


def market(run: PipelineRun, day: int, *, scores: bool = True, **composites: float) -> None:
    """Wide rows and, unless left out, the factor scores of a date; 600000 is under special treatment."""
    date = DAYS[day]
    wide = [
        {
            "code": code, "trade_date": date, "name": f"ST{at}" if at == 0 else f"N{at}", "market": "SH",
            "current_price": close(at, day), "amount": 1e6 * (at + 1), "is_st": at == 0, "industry": "银行",
            "is_suspended": False, "list_date": date if at == 4 else "2001-01-01", "roe": 10.0,
            "chg_20d": float(at),
        }
        for at, code in enumerate(CODES)
    ]  # fmt: skip
    put(run, "fusion_stock_wide", wide, date)
    if scores:
        put(
            run,
            "calc_factor_score",
            [
                {
                    "trade_date": date, "code": code, "momentum": 90.0, "trend": 70.0, "value": 10.0 * at,
                    "quality_score": 50.0, "composite": composites.get(f"c{at}", 60.0 + at),
                    "covered_weight": 0.5, "gate_blocked": at == 0,
                }
                for at, code in enumerate(CODES)
            ],
            date,
        )  # fmt: skip


def leaders(run: PipelineRun, day: int) -> None:
    """Leader scores of a date."""
    scores = zip(CODES, (99.0, 50.0, 80.0, 80.0, 90.0, 70.0), strict=True)
    rows = [
        {"trade_date": DAYS[day], "code": code, "total_score": score, "score_height": 20.0}
        for code, score in scores
    ]
    put(run, "calc_dragon_score", rows, DAYS[day])


def techniques(run: PipelineRun) -> None:
    """Bars, indicators and three patterns of the first six dates."""
    for day in range(6):
        bars(run, day)
        put(
            run,
            "calc_indicator_daily",
            [
                {
                    "code": code, "date": DAYS[day], "close": close(at, day), "rtsi": 50.0 + at,
                    "macd_hist": 0.1 * (day + 1), "kdj_k": 60.0, "kdj_d": 50.0, "boll_mid": 99.0,
                    "vol_ma5": 500.0, "ma20": 10.0 + day,
                }
                for at, code in enumerate(CODES)
            ],
            DAYS[day],
        )  # fmt: skip
    zero = dict.fromkeys(
        [spec.name for spec in run.warehouse.table("calc_pattern_daily").columns if not spec.nullable], 0
    )
    for day, code, direction in ((0, "600003", 100), (1, "600002", 100), (5, "600001", -100)):
        put(
            run,
            "calc_pattern_daily",
            [{**zero, "code": code, "date": DAYS[day], "double_bottom": direction}],
            DAYS[day],
        )


def load(run: PipelineRun, name: str, day: int, since: int | None = None) -> Loaded:
    assert isinstance(run.clock, ManualClock)
    run.clock.at = datetime.fromisoformat(f"{DAYS[day]}T18:15")
    run.ctx = run.ctx.new_run()
    scope = Scope(tuple(DAYS[(day if since is None else since) : day + 1]))
    return load_fused(run, run.registry.of_table(name), scope)


def stored(run: PipelineRun, table: str = "track_builtin", **equal: Any) -> pd.DataFrame:
    rows = run.warehouse.frame(table)
    for name, value in equal.items():
        rows = rows[rows[name] == value]
    return rows.sort_values([name for name in ("trade_date", "rank_no") if name in rows]).reset_index(
        drop=True
    )


def test_boards_of_a_date(run: PipelineRun) -> None:
    bars(run, 0)
    market(run, 0)
    leaders(run, 0)
    load(run, "track_builtin", 0)

    dragons = stored(run, board_key="dragon")
    # No ST (600000), nobody in his first five dates (600004); equal scores go by composite.
    assert dragons["code"].tolist() == ["600003", "600002", "600005", "600001"]
    assert dragons["rank_no"].tolist() == [1, 2, 3, 4]
    assert json.loads(dragons["detail"][0])["score_height"] == 20.0
    composite = stored(run, board_key="composite")
    assert composite["code"].tolist() == ["600005", "600004", "600003", "600002", "600001"]
    assert composite["score"].tolist() == [65, 64, 63, 62, 61]
    assert composite["price_at_pick"].tolist() == [10.0] * 5
    assert (composite["status"] == "pending").all()
    assert stored(run, board_key="tactic").empty  # no indicators, no patterns: no score


def test_without_stored_scores_the_composite_is_computed_from_the_wide_rows(run: PipelineRun) -> None:
    bars(run, 0)
    market(run, 0, scores=False)
    load(run, "track_builtin", 0)
    board = stored(run, board_key="composite")
    assert board["code"].tolist() == ["600005", "600004", "600003", "600002", "600001"]
    assert board["score"].notna().all()


def test_tactic_board_from_stored_indicators_and_patterns(run: PipelineRun) -> None:
    techniques(run)
    market(run, 5)
    load(run, "track_builtin", 5)

    board = stored(run, board_key="tactic")
    reported = {code: json.loads(detail) for code, detail in zip(board["code"], board["detail"], strict=True)}
    assert {code: one["signal"] for code, one in reported.items()} == dict.fromkeys(CODES[1:], 80.0)
    assert {code: one["pattern"] for code, one in reported.items()} == {
        "600001": 25.0, "600002": 75.0, "600003": 50.0, "600004": 50.0, "600005": 50.0,
    }  # fmt: skip
    # Six bars are too few for the health of price and volume: the other parts weigh more.
    assert all(one["covered"] == 0.75 and "vpa" not in one for one in reported.values())
    weighed = 0.35 * 52 + 0.25 * 75 + 0.15 * 80
    assert reported["600002"]["tactic"] == pytest.approx(weighed / 0.75, abs=1e-3)
    assert board["code"].tolist() == ["600002", "600005", "600004", "600003", "600001"]


def test_picks_are_reviewed_when_their_window_has_closed_and_stand_then(run: PipelineRun) -> None:
    for day in range(7):
        # 600003 rests on two dates, 600002 never trades again; 600005 opens at its limit.
        gone = {"600002": day > 0, "600003": day in (3, 4)}
        bars(run, day, [code for code in CODES if not gone.get(code)], limit=close(5, day))
    market(run, 0)
    load(run, "track_builtin", 0)
    assert set(stored(run)["status"]) == {"pending"}

    market(run, 1)
    load(run, "track_builtin", 1)
    assert set(stored(run, trade_date=PICKED)["status"]) == {"pending"}
    market(run, 5)
    load(run, "track_builtin", 5)
    found = stored(run, trade_date=PICKED).set_index("code")
    assert found["status"].to_dict() == {
        "600005": "reviewed", "600004": "reviewed", "600003": "partial", "600002": "pending",
        "600001": "reviewed",
    }  # fmt: skip
    first = found.loc["600005"]
    assert (first["buy_date"], first["sell_date"], first["hold_days"]) == (DAYS[1], DAYS[5], 5)
    assert first["profit_pct"] == pytest.approx((close(5, 5) / close(5, 1) - 1) * 100, abs=1e-3)
    assert first["excess_pct"] == pytest.approx(first["profit_pct"] - (1005 / 1001 - 1) * 100, abs=1e-3)
    assert first["reviewed_at"] == f"{DAYS[5]} 18:15:00"
    assert first["unfillable"]
    assert not found.loc["600004", "unfillable"]
    assert found.loc["600003", "hold_days"] == 5

    # Bars of other codes are changed and the date calculated again: what is settled stays as it was.
    before = stored(run, trade_date=PICKED)
    for day in range(7):
        bars(run, day, CODES[:2])
    market(run, 0, c1=99.0)
    again = load(run, "track_builtin", 6, since=0)
    after = stored(run, trade_date=PICKED).set_index("code")
    settled = before[before["status"] != "pending"].set_index("code")
    pd.testing.assert_frame_equal(after.loc[settled.index], settled)
    assert sum(one.rows_removed for one in again.results if one.partition_key == PICKED) == 0


def test_a_repaired_factor_moves_the_return_of_a_reviewed_pick(run: PipelineRun) -> None:
    """Its holding spans an ex-date of which the record came after the review: 5 % of the price went out."""
    for day in range(7):
        bars(run, day)
    for day in (0, 5):
        market(run, day)
    load(run, "track_builtin", 0)
    load(run, "track_builtin", 5)
    before = stored(run, trade_date=PICKED).set_index("code")
    assert before.loc["600004", "status"] == "reviewed"

    factor = 1 / 0.95
    for day in range(3, 7):
        bars(run, day, factors={"600004": factor})
    load(run, "track_builtin", 6)

    after = stored(run, trade_date=PICKED).set_index("code")
    wanted = (close(4, 5) * factor / close(4, 1) - 1) * 100
    assert after.loc["600004", "profit_pct"] == pytest.approx(wanted, abs=1e-3)
    assert after.loc["600004", "reviewed_at"] == f"{DAYS[6]} 18:15:00"
    kept = [code for code in before.index if code != "600004"]
    pd.testing.assert_frame_equal(after.loc[kept], before.loc[kept])
    same = ["rank_no", "score", "price_at_pick", "reason", "buy_price", "sell_price"]
    assert after.loc["600004", same].to_list() == before.loc["600004", same].to_list()


def test_no_pick_is_settled_on_provisional_days(run: PipelineRun) -> None:
    """Its five dates would be others if one of them turned out to be closed, and what is settled is final."""

    def published_until(day: str) -> None:
        run.calendar = TradeCalendar(CALENDAR.dates, day)
        run.ctx = FetchContext(clock=run.clock, calendar=run.calendar, makers={})

    for day in range(7):
        bars(run, day)
    market(run, 0)
    market(run, 5)
    load(run, "track_builtin", 0)
    published_until(DAYS[4])
    load(run, "track_builtin", 5)
    assert set(stored(run, trade_date=PICKED)["status"]) == {"pending"}

    # The third date turns out to be closed: the fifth one is a date later.
    run.calendar = run.calendar.corrected({DAYS[3]: False}, DAYS[6])
    run.ctx = FetchContext(clock=run.clock, calendar=run.calendar, makers={})
    market(run, 6)
    load(run, "track_builtin", 6)

    found = stored(run, trade_date=PICKED)
    assert set(found["sell_date"].dropna()) == {DAYS[6]}


def test_the_same_run_again_writes_nothing(run: PipelineRun) -> None:
    for day in range(7):
        bars(run, day)
        market(run, day)
    for table in ("track_preset", "scorecard_daily"):
        first = load(run, table, 6, since=0)
        assert [one.partition_key for one in first.results] == DAYS[:7]
        again = load(run, table, 6)
        assert sum(one.rows_written + one.rows_removed for one in again.results) == 0
        assert DAYS[6] in {one.partition_key for one in again.results}


def test_a_pick_that_never_trades_again_ends_partial_after_twenty_dates(run: PipelineRun) -> None:
    for day in range(22):
        bars(run, day, [code for code in CODES if code != "600005" or day == 0])
    market(run, 0)
    load(run, "track_builtin", 0)
    for day, status in ((19, "pending"), (20, "partial")):
        load(run, "track_builtin", day)
        found = stored(run, trade_date=PICKED, code="600005")
        assert found["status"].tolist() == [status]
    assert found[["profit_pct", "buy_date", "hold_days"]].isna().all(axis=None)


def test_picks_wait_for_the_markets_bars_and_not_for_those_of_one_code(run: PipelineRun) -> None:
    for day in range(6):
        bars(run, day, CODES if day < 5 else CODES[5:])  # the load of the fifth date failed but for one code
    market(run, 0)
    load(run, "track_builtin", 0)
    load(run, "track_builtin", 5)
    assert set(stored(run)["status"]) == {"pending"}

    bars(run, 6)
    load(run, "track_builtin", 6)
    assert set(stored(run)["status"]) == {"pending"}
    bars(run, 5)
    load(run, "track_builtin", 6)
    assert set(stored(run)["status"]) == {"reviewed"}
    assert set(stored(run)["sell_date"]) == {DAYS[5]}


def test_a_date_without_wide_rows_keeps_its_picks(run: PipelineRun) -> None:
    bars(run, 0)
    market(run, 0)
    load(run, "track_builtin", 0)
    before = stored(run)
    put_nothing = run.warehouse.table("fusion_stock_wide")
    run.warehouse.writer.write(
        put_nothing, pd.DataFrame({"code": []}), where=Slice(), batch=Batch(partition_key="x"), replace=True
    )
    load(run, "track_builtin", 0)
    pd.testing.assert_frame_equal(stored(run), before)


def test_presets_and_their_scorecard(run: PipelineRun) -> None:
    for day in range(6):
        bars(run, day, limit=close(5, day))
    market(run, 0)
    load(run, "track_preset", 0)
    load(run, "scorecard_daily", 0)
    picks = stored(run, "track_preset")
    assert picks.groupby("preset_key")["code"].apply(list).to_dict() == {
        "momentumCore": ["600005", "600004", "600003", "600002", "600001"],  # ties: composite first
    }
    assert picks["reason"][0].startswith("动量核心: 动量 90.0")
    card = stored(run, "scorecard_daily")
    assert card[["source", "group_key", "picks", "reviewed"]].to_numpy().tolist() == [
        ["preset", "momentumCore", 5, 0]
    ]
    assert card["win_rate_pct"].isna().all()

    load(run, "track_preset", 5)
    load(run, "scorecard_daily", 5)
    (row,) = stored(run, "scorecard_daily").to_dict("records")
    profits = [(close(at, 5) / close(at, 1) - 1) * 100 for at in range(1, 6)]
    assert (row["picks"], row["reviewed"], row["unfillable"]) == (5, 5, 1)
    assert (row["returns"], row["fillable_returns"], row["fillable_reviewed"]) == (5, 4, 4)
    assert row["win_rate_pct"] == pytest.approx(60.0)
    assert row["avg_profit_pct"] == pytest.approx(np.mean(profits), abs=1e-3)
    assert row["median_profit_pct"] == pytest.approx(np.median(profits), abs=1e-3)
    assert (row["avg_hold_days"], row["stat_date"]) == (5.0, PICKED)


def test_strategies_are_reviewed_whenever_their_date_is_looked_at(run: PipelineRun) -> None:
    for day in range(6):
        bars(run, day)
    hits = [
        {"trade_date": PICKED, "strategy_key": key, "code": code, "price": 10.0}
        for key, code in (("ma_cross", "600001"), ("ma_cross", "600005"), ("turtle", "600003"))
    ]
    put(run, "calc_strategy_hit", hits, PICKED)
    load(run, "scorecard_daily", 0)
    load(run, "scorecard_daily", 5)

    rows = stored(run, "scorecard_daily").sort_values("group_key")
    assert rows[["source", "group_key", "picks", "reviewed"]].to_numpy().tolist() == [
        ["strategy", "ma_cross", 2, 2], ["strategy", "turtle", 1, 1]
    ]  # fmt: skip
    assert rows["win_rate_pct"].tolist() == [50.0, 100.0]
    assert rows["avg_hold_days"].tolist() == [5.0, 5.0]
    assert rows[["returns", "wins", "losses"]].to_numpy().tolist() == [[2, 1, 1], [1, 1, 0]]
    gain, loss = ((close(at, 5) / close(at, 1) - 1) * 100 for at in (5, 1))
    assert rows["gain_sum_pct"].tolist()[0] == pytest.approx(gain, abs=1e-3)
    assert rows["loss_sum_pct"].tolist()[0] == pytest.approx(loss, abs=1e-3)
