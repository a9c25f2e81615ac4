"""Bars are of the instrument that was asked for, also while the terminal's list cannot say so."""

from typing import Any

import pytest

from tests.pipeline.conftest import TODAY, Services

STOCK, FUND = "600040", "510001"
AWAY = {"upstream": "tdx", "call": "*", "kind": "reset"}


def corrupted(code: str) -> list[dict[str, Any]]:
    """The second site, whose lines bear no code, answers for `code` with the index of Shanghai."""
    args = {"serve": "sh000001", "under": code}
    return [AWAY, {"upstream": "sina", "call": "bars", "kind": "wrong_instrument", "args": args}]


@pytest.fixture
def stored(alone: Services) -> Services:
    """Services with the security list and the bars of the day before."""
    yesterday = alone.run.calendar.offset(TODAY, -1)
    alone.at(yesterday)
    alone.master(yesterday)
    alone.bars(yesterday)
    alone.at(TODAY)
    return alone


@pytest.mark.parametrize(
    ("code", "list_away", "says"),
    [
        (STOCK, False, "the list says"),  # the portal's list has the close before
        (FUND, False, "stored is"),  # which holds no funds
        (STOCK, True, "stored is"),
    ],
)
def test_bars_of_another_instrument_are_refused(
    stored: Services, code: str, list_away: bool, says: str
) -> None:
    rules = corrupted(code)
    if list_away:
        rules.append({"upstream": "eastmoney", "call": "clist", "kind": "truncate"})
    stored.faults.replace(rules)
    ctx = stored.run.context_for(stored.run.ctx.log)
    symbol = next(one for one in ctx.symbols((code,)))
    with pytest.raises(Exception, match=f"{says} .*another instrument"):
        ctx.accept_bars(symbol, ctx.sina.daily_bars(symbol, 20))

    stored.faults.replace(rules[:1] + rules[2:])
    accepted = ctx.accept_bars(symbol, ctx.sina.daily_bars(symbol, 20))
    assert len(accepted) > 10


def test_a_range_loaded_without_the_terminal_stores_no_other_instrument(stored: Services) -> None:
    away = [
        {"upstream": upstream, "call": call, "kind": "truncate"}
        for upstream, call in (("eastmoney", "kline"), ("tencent", "bars"))
    ]
    stored.faults.replace([*corrupted(STOCK), *away])
    dates = stored.run.calendar.last(4, TODAY)[:2]
    loaded = stored.fuse("kline_daily", *dates, codes=(STOCK, FUND))
    rows = stored.warehouse.frame("fusion_kline_daily")
    rows = rows[rows["date"].isin(dates)]
    assert set(rows["code"]) == {FUND}
    assert [item["src"] for item in loaded.sources if item.get("rows")] == ["sina"]
