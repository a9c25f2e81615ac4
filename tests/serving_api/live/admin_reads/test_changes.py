"""Intraday anomalies through the catalog: the newest of several pages, kept while the portal is away."""

from datetime import datetime
from typing import Any

import pytest

from resources.upstreams.eastmoney.quotes import changes as upstream
from serving_api.live.admin_reads import changes
from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.live.admin_reads.test_interfaces import call, value

NAME = "get_realtime_stock_changes"


def test_the_newest_events_of_the_session(ctx: FetchContext) -> None:
    rows = value(ctx, NAME)

    assert rows
    assert set(rows[0]) == {
        "time", "code", "name", "type", "type_label", "price", "change_percent", "info"
    }  # fmt: skip
    assert [row["time"] for row in rows] == sorted((row["time"] for row in rows), reverse=True)
    assert rows[0]["time"] <= "10:30:00"
    assert value(ctx, NAME, limit=2) == rows[:2]
    assert call(ctx, NAME, limit=2).headers["x-data-source"] == "finance_portal_a"
    assert call(ctx, NAME, limit=0).status_code == 422


def test_pages_are_joined_and_only_needed_ones_requested(ctx: FetchContext, monkeypatch: Any) -> None:
    whole = value(ctx, NAME, limit=300)
    size = len(whole) // 3
    for module in (upstream, changes):
        monkeypatch.setattr(module, "PAGE_ROWS", size)

    before = ctx.calls("eastmoney")
    assert value(ctx, NAME, limit=size) == whole[:size]
    assert ctx.calls("eastmoney") == before + 1
    assert value(ctx, NAME, limit=300) == whole
    assert ctx.calls("eastmoney") == before + 1 + -(-len(whole) // size)


@pytest.mark.parametrize("kind", ["reset", "html"])
def test_the_last_answer_stays_while_the_portal_is_unavailable(ctx: FetchContext, kind: str) -> None:
    kept = value(ctx, NAME)
    ctx.ticks.advance(changes.CHANGES_TTL + 1)
    ctx.faults.replace([{"upstream": "eastmoney", "call": "stock_changes", "kind": kind}])

    assert value(ctx, NAME) == kept
    assert value(ctx, NAME, limit=200) == kept
    ctx.clock.at = datetime(2026, 8, 24, 10, 30)
    assert value(ctx, NAME) == []  # of another day


def test_before_the_session_of_a_day_there_are_no_events_of_it(ctx: FetchContext) -> None:
    """The portal tells of the session before until then, and no event has a date."""
    ctx.clock.at = datetime(2026, 8, 21, 9, 14)
    before = ctx.calls("eastmoney")
    assert value(ctx, NAME) == []
    assert ctx.calls("eastmoney") == before

    ctx.clock.at = datetime(2026, 8, 21, 10, 30)
    assert value(ctx, NAME) != []
