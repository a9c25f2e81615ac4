"""/market/backtest*: the guide's vector through the API, books that add up, bad input, unknown codes."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from platform_assets.compute.backtests.strategies import STRATEGIES
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from serving_api.app import create_app
from tests.compute.backtests.days import S60, s60
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.serving_api import market
from tests.serving_api.client import Api, running
from tests.serving_api.conftest import FAST, make_settings

NOW = datetime(2026, 8, 21, 15, 30)
DATES = shipped_calendar().last(60, market.TODAY)
EXRIGHT = next(table for table in builtin_registry().tables if table.name == "ref_exright")
TABLES = (market.KLINE, market.MASTER, EXRIGHT)
FIGURES = (
    "final_capital", "total_return_pct", "annual_return_pct", "benchmark_return_pct", "max_drawdown_pct",
    "sharpe", "win_rate_pct", "profit_factor", "turnover", "trade_count",
)  # fmt: skip


def bars() -> list[dict[str, Any]]:
    """The guide's series as 600000; as 600001 with a suspension and without limits, a dividend on its last
    days; as 510300, which is no share."""
    days = s60()
    rows = []
    for at, (opened, high, low, close, volume) in enumerate(S60.tolist()):
        row = {
            "date": DATES[at], "open": opened, "high": high, "low": low, "close": close,
            "volume": int(volume), "market": "SH", "sec_type": "stock", "adj_factor": 1.0,
            "is_suspended": False,
        }  # fmt: skip
        limits = {
            "limit_up": None if at == 0 else days.limit_up[at],
            "limit_down": None if at == 0 else days.limit_down[at],
            "limit_status": "none",
        }
        rows.append({"code": "600000", **row, **limits})
        rows.append({"code": "600001", **row, "limit_status": None, "is_suspended": at in (15, 16)})
        rows.append({"code": "510300", **row, "sec_type": "etf"})
    return [row for row in rows if not (row["code"] == "600001" and row["date"] == DATES[17])]


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder: Path = tmp_path_factory.mktemp("backtests")
    for url in engine_url(request.param, folder, "tests.serving_api.areas.backtests"):
        yield from opened(url, folder)


def opened(url: str, folder: Path) -> Iterator[Api]:
    warehouse = market.open_warehouse(url, folder, tables=TABLES)
    warehouse.migrate()
    market.put(warehouse, market.KLINE, bars())
    names = [{"code": "600000", "name": "浦发银行"}]
    market.put(warehouse, market.MASTER, names, public_at="2026-08-01 09:00:00")
    event = {"code": "600001", "date": DATES[40], "category": 1, "row_key": "k", "cash_per10": 2.0}
    warehouse.writer.write(
        EXRIGHT,
        pd.DataFrame([{**event, "src": "tdx"}]),
        where=Slice.of_codes(["600001"]),
        batch=Batch(partition_key="test"),
    )
    app = create_app(
        make_settings(folder),
        clock=FrozenClock(NOW),
        warehouse_reader=market.open_warehouse(url, folder, tables=TABLES, read_only=True),
        warehouse_writer=warehouse,
        passwords=FAST,
    )
    with running(app) as made:
        yield made
    warehouse.close()


def reported(api: Api, path: str, **params: Any) -> Any:
    answer = api.get(f"/market/backtest{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_guides_vector_through_the_api(api: Api) -> None:
    body = reported(api, "/strategy", code="600000", fast_period=5, slow_period=10)

    assert body["name"] == "浦发银行"
    assert body["params"] == {"fast_period": 5, "slow_period": 10}
    assert (body["start_date"], body["end_date"]) == (DATES[0], DATES[-1])
    shown = ("buy_date", "buy_price", "sell_date", "sell_price", "shares")
    assert [tuple(trade[name] for name in shown) for trade in body["trades"]] == [
        (DATES[14], 22.33, DATES[23], 21.89, 4400),
        (DATES[36], 18.41, None, None, 5300),
    ]
    assert [fill["cash_after"] for fill in body["fills"]] == [1722.46, 97965.26, 366.89]
    assert body["final_capital"] == body["equity"][-1]["value"] == 136894.89
    assert body["total_return_pct"] == 36.8949
    assert len(body["equity"]) == 60
    assert {fee["component"] for fee in body["fees"]} == {"commission", "stamp", "transfer"}
    assert "60 of 250" in body["note"]
    assert "validation" not in body or body["validation"] is None


@pytest.mark.parametrize("key", STRATEGIES)
def test_books_of_every_strategy_add_up_from_the_answer_alone(api: Api, key: str) -> None:
    for code in ("600000", "600001"):
        body = reported(api, "/strategy", code=code, strategy=key, initial_capital=50000)
        deals = {fill["date"]: fill for fill in body["fills"]}
        paid = {one["date"]: one for one in body["entitlements"]}
        closes = {
            row["date"]: row["close"] for row in bars() if row["code"] == code and not row["is_suspended"]
        }
        cash, held, close = 50000.0, 0, 0.0
        for point in body["equity"]:
            if point["date"] in paid:
                cash += paid[point["date"]]["cash"]
            if point["date"] in deals:
                deal = deals[point["date"]]
                assert deal["amount"] == pytest.approx(deal["price"] * deal["shares"], abs=1e-6)
                sign = 1 if deal["side"] == "sell" else -1
                fees = deal["commission"] + deal["stamp"] + deal["transfer"]
                cash += sign * deal["amount"] - fees
                held -= sign * deal["shares"]
                assert (round(cash, 2), held) == (deal["cash_after"], deal["shares_after"])
            close = closes.get(point["date"], close)
            assert point["value"] == pytest.approx(cash + held * close, abs=0.004)
        assert body["final_capital"] == body["equity"][-1]["value"]


def test_a_run_that_never_bought_says_why(api: Api) -> None:
    poor = reported(api, "/strategy", code="600000", fast_period=5, slow_period=10, initial_capital=1000)
    assert (poor["fills"], poor["total_return_pct"]) == ([], 0.0)
    assert {one["reason"] for one in poor["blocked"]} == {"insufficient_cash"}
    assert "Nothing was bought: all 2 purchases were refused" in poor["note"]
    assert "1000.00 CNY is too small" in poor["note"]

    quiet = reported(api, "/strategy", code="600000", fast_period=50, slow_period=60)
    assert "Nothing was bought: the rule gave no order" in quiet["note"]

    stop = reported(api, "", code="600000", initial_capital=1000)
    assert stop["fills"] == []
    assert "Nothing was bought" in stop["note"]

    bought = reported(api, "/strategy", code="600000", fast_period=5, slow_period=10)
    assert "Nothing was bought" not in bought["note"]


def test_a_suspension_blocks_and_unknown_limits_and_dividends_are_noted(api: Api) -> None:
    body = reported(api, "/strategy", code="600001", strategy="momentum", fast_period=3)
    assert "price limits of 57 days are not known" in body["note"]
    assert len(body["equity"]) == 60, "a date without a row is a day of the window"
    held = reported(api, "/strategy", code="600001", strategy="ma_cross", fast_period=5, slow_period=10)
    assert [one["date"] for one in held["entitlements"]] == [DATES[40]]
    assert held["entitlements"][0]["cash"] == pytest.approx(held["entitlements"][0]["shares_after"] * 0.2)


def test_validate_splits_and_names_its_neighbours(api: Api) -> None:
    body = reported(api, "/strategy", code="600000", fast_period=5, slow_period=10, validate="true")
    found = body["validation"]
    assert (found["in_sample"]["start_date"], found["in_sample"]["end_date"]) == (DATES[0], DATES[41])
    assert (found["out_of_sample"]["start_date"], found["out_of_sample"]["end_date"]) == (
        DATES[42],
        DATES[59],
    )
    assert [one["params"] for one in found["neighbours"]] == [
        {"fast_period": 4, "slow_period": 8}, {"fast_period": 6, "slow_period": 12},
    ]  # fmt: skip
    assert set(FIGURES) <= set(found["in_sample"])
    assert found["overfit_risk"] in (True, False, None)


@pytest.mark.parametrize("profile", ["conservative", "moderate", "aggressive"])
def test_the_trailing_stop(api: Api, profile: str) -> None:
    body = reported(api, "", code="600000", profile=profile)
    styles = {one["key"]: one for one in reported(api, "/strategies")["items"]}
    assert (body["profile"], body["atr_multiple"]) == (profile, styles[profile]["atr_multiple"])
    assert len(body["equity"]) == 60
    assert body["final_capital"] == body["equity"][-1]["value"]


def test_the_lists(api: Api) -> None:
    assert [one["key"] for one in reported(api, "/strategies")["items"]] == [
        "conservative",
        "moderate",
        "aggressive",
    ]
    items = reported(api, "/strategy/list")["items"]
    assert [one["key"] for one in items] == [
        "ma_cross", "macd_cross", "kdj_cross", "rsi_reversal", "boll_breakout", "boll_reversion", "turtle",
        "momentum", "volume_breakout",
    ]  # fmt: skip
    assert items[0]["params"] == [
        {"name": "fast_period", "default": 5, "min": 1, "max": 250},
        {"name": "slow_period", "default": 20, "min": 2, "max": 250},
    ]


@pytest.mark.parametrize("code", ["999999", "510300"])
@pytest.mark.parametrize("path", ["", "/strategy"])
def test_a_code_that_nothing_can_be_run_on(api: Api, path: str, code: str) -> None:
    body = reported(api, path, code=code)
    assert (body["trades"], body["equity"], body["blocked"]) == ([], [], [])
    assert {body[name] for name in FIGURES} == {None}
    assert body["note"]
    assert body["initial_capital"] == 100000.0


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("/strategy", "code"),
        ("/strategy?code=60000", "code"),
        ("/strategy?code=600000&strategy=best", "strategy"),
        ("/strategy?code=600000&fast_period=20", "fast_period"),
        ("/strategy?code=600000&slow_period=251", "slow_period"),
        ("/strategy?code=600000&strategy=kdj_cross&slow_period=9", "slow_period"),
        ("/strategy?code=600000&initial_capital=0", "initial_capital"),
        ("/strategy?code=600000&initial_capital=inf", "initial_capital"),
        ("/strategy?code=600000&lookback_days=59", "lookback_days"),
        ("/strategy?code=600000&lookback_days=2501", "lookback_days"),
        ("/strategy?code=600000&validate=perhaps", "validate"),
        ("?code=600000&profile=wild", "profile"),
    ],
)
def test_bad_input_names_the_parameter(api: Api, query: str, parameter: str) -> None:
    answer = api.get(f"/market/backtest{query}")
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"].startswith(f"{parameter}: ")


def test_a_hundredth_of_a_cent_buys_nothing(api: Api) -> None:
    body = reported(api, "/strategy", code="600000", fast_period=5, slow_period=10, initial_capital=0.0001)
    assert {one["reason"] for one in body["blocked"]} == {"insufficient_cash"}
