"""Closing quotes of several dates in one load."""

import pandas as pd

from resources.fetch_record import FetchLog
from tests.pipeline.conftest import TODAY, Services

WEEK = ("2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20", TODAY)


def test_a_range_up_to_the_newest_session_has_bars_before_it_and_quotes_of_it(services: Services) -> None:
    services.raw("raw_quote", *WEEK)

    rows = pd.DataFrame(services.warehouse.rows("raw_quote")).query("src == 'tdx'")
    counts = rows.groupby("trade_date").size()
    assert list(counts.index) == list(WEEK)
    assert counts.min() > 0.9 * counts.max()
    booked = rows[rows["bid1"].notna()]
    assert set(booked["trade_date"]) == {TODAY}


def test_a_past_date_promises_the_stocks_that_were_listed_then(services: Services) -> None:
    """Of all that are listed today, ten years ago would look like half an answer."""
    services.master()
    listed = pd.DataFrame(services.warehouse.rows("fusion_stock_master")).query("sec_type == 'stock'")
    promised = services.registry.raws["raw_quote"].expected
    assert promised is not None

    ctx = services.run.ctx.view(FetchLog(), read=services.run.read)
    for day in ("2016-08-19", "2024-09-02", TODAY):
        then = int((listed["list_date"] <= day).sum())
        assert promised(ctx, services.scope(day)) == then
