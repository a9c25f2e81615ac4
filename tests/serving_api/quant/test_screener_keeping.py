"""What the screener keeps is dropped when a table moves; what was known before can be asked for."""

import asyncio
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.arrays import Floats
from core.calendar import shipped_calendar
from serving_api.quant.screener.history import KNOWN_THEN_BARS, Histories
from tests.serving_api import market
from tests.serving_api.conftest import Bench

ROW = {
    "code": "600519",
    "trade_date": market.TODAY,
    "name": "贵州茅台",
    "market": "SH",
    "list_date": "2001-08-27",
    "current_price": 69.5,
    "total_market_cap": 8_729_200.0,
    "industry": "白酒",
}


def fill(bench: Bench) -> Bench:
    warehouse = bench.warehouse()
    warehouse.migrate()
    market.put(warehouse, market.WIDE, [{**ROW, "pe_ttm": 21.5}], public_at=f"{market.TODAY} 15:00:00.000000")
    warehouse.close()
    return bench


@pytest.fixture
def filled(own: Bench) -> Bench:
    return fill(own)


def total(bench: Bench, dsl: str, **more: Any) -> int:
    answer = bench.api.post("/screener/find", json={"dsl": dsl, **more})
    assert answer.status_code == 200, answer.text
    found: int = answer.json()["total"]
    return found


def test_a_corrected_row_is_found_at_once_and_the_old_one_as_of_then(filled: Bench) -> None:
    assert total(filled, "pe_ttm < 20") == 0
    later = market.FrozenClock(market.NOW.replace(hour=15, minute=20))
    warehouse = filled.warehouse(clock=later)
    market.put(warehouse, market.WIDE, [{**ROW, "pe_ttm": 15.0}])
    warehouse.close()
    filled.ticks.advance(2)  # MariaDB is asked for versions once a second

    assert total(filled, "pe_ttm < 20") == 1
    assert total(filled, "pe_ttm < 20", as_of=f"{market.TODAY}T15:10") == 0
    assert total(filled, "pe_ttm > 20", as_of=f"{market.TODAY}T15:10") == 1
    assert total(filled, "listed_days = 9125 and name like '茅台'") == 1


def test_with_an_instant_few_bars_are_looked_back(filled: Bench) -> None:
    as_of = f"{market.TODAY} 15:10:01"
    assert total(filled, "price > ma(close, 500)") == 0
    assert total(filled, f"price > ma(close, {KNOWN_THEN_BARS})", as_of=as_of) == 0

    for path, wish in (
        ("/screener/find", {"dsl": "price > ma(close, 500)"}),
        ("/screener/find", {"dsl": f"price > ma(close, {KNOWN_THEN_BARS + 1})"}),
    ):
        answer = filled.api.post(path, json={**wish, "as_of": as_of})
        assert answer.status_code == 422, answer.text
        assert "as_of" in str(answer.json()["detail"])


def test_bars_of_an_instant_do_not_block_other_requests() -> None:
    class Slow:
        """Reads of an instant end when they are let go."""

        def __init__(self) -> None:
            self.begun, self.go = asyncio.Event(), asyncio.Event()

        async def scan(self, _load: Any, asked: Any, columns: list[str], bars: int) -> dict[str, Floats]:
            if asked.as_of is not None:
                self.begun.set()
                await self.go.wait()
            return {column: np.zeros((1, bars)) for column in columns}

    async def both() -> None:
        slow = Slow()
        reading: Any = slow
        histories = Histories(reading, shipped_calendar())
        then: Any = SimpleNamespace(date=market.TODAY, as_of=f"{market.TODAY} 15:10:01")
        now: Any = SimpleNamespace(date=market.TODAY, as_of=None)
        waiting = asyncio.create_task(histories.of(then, {"close": 5}, "1"))
        await slow.begun.wait()
        found = await asyncio.wait_for(histories.of(now, {"close": 5}, "1"), timeout=5)
        assert list(found) == ["close"]
        slow.go.set()
        assert list(await waiting) == ["close"]

    asyncio.run(both())


def test_columns_and_bars_that_are_not_there_are_missing(filled: Bench) -> None:
    assert total(filled, "rsi6 is null and rsi6 is null and volume is null") == 1
    assert total(filled, "ma(close, 5) > 0") == 0
    values = filled.api.post("/quant/formulas/eval", json={"formula": "MA(C,5)"}).json()
    assert (values["items"], values["date"]) == ([], market.TODAY)


def test_without_a_database_the_answer_is_empty(filled: Bench) -> None:
    filled.lose_database()
    for path, body in (
        ("/screener/find", {"dsl": "pb > 0"}),
        ("/screener/nl-find", {"query": "低估值"}),
        ("/quant/screener", {"conditions": [{"field": "pb", "op": ">", "value": 0}]}),
        ("/quant/formulas/eval", {"formula": "C>O"}),
    ):
        answer = filled.api.post(path, json=body)
        assert (answer.status_code, answer.json()["items"], answer.json()["total"]) == (200, [], 0), path


@pytest.mark.soak
def test_both_engines_read_rows_and_bars_alike(own_on_both: Bench) -> None:
    days = shipped_calendar().last(30, market.TODAY)
    warehouse = fill(own_on_both).warehouse()
    bars = [
        market.bar("600519", day, 50.0 + at, 1.0 if at < 20 else 2.0, sec_type="stock")
        for at, day in enumerate(days)
    ]
    bars[25]["is_suspended"] = True
    market.put(warehouse, market.KLINE, bars)
    warehouse.close()

    # Before the ex-date prices count half; the day of rest counts for nothing.
    known = "ma(close, 5) between 76.799 and 76.801 and ref(close, 10) = 34 and count(close > 0, 29) = 29"
    assert total(own_on_both, known) == 1
    assert total(own_on_both, known, as_of=market.TODAY) == 1
    assert total(own_on_both, "count(close > 0, 30) > 0") == 0
    values = own_on_both.api.post("/quant/formulas/eval", json={"formula": "V+REF(C,10)"}).json()
    assert values["items"] == [{"code": "600519", "name": "贵州茅台", "value": 44.0}]
    test_a_corrected_row_is_found_at_once_and_the_old_one_as_of_then(own_on_both)
