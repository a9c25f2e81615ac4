"""The portal's host of the past cuts off after ten calls: no table of the market is walked over there."""

from collections import Counter
from contextlib import suppress

import pytest

from core.declaration.dataset import Source
from core.declaration.scope import Scope
from core.errors import PlatformError
from platform_assets.source_calls import calls_of, downloads
from resources.fetch_record import FetchLog
from resources.upstreams.hosts import PORTAL_HISTORY, SITES
from tests.pipeline.conftest import Services

MOST = SITES[PORTAL_HISTORY].most_calls or 0
CALLS = frozenset({"kline", "fflow_day", "trends2"})
"""Names under which calls of that host are logged."""
METHODS = frozenset(
    f"eastmoney.{name}"
    for name in (
        "kline",
        "daily_bars",
        "fund_flow_daily",
        "levels",
        "futures_bars",
        "trends2",
        "board_flow_daily",
    )
)
DAY = "2026-08-12"
WALKING = [
    (table, place, source)
    for table, sources in downloads().items()
    for place, source in enumerate(sources)
    if calls_of(source.fetch) & METHODS
]


def asked(services: Services, source: Source, scope: Scope) -> Counter[str]:
    log = FetchLog()
    view = services.run.ctx.new_run().view(log, read=services.run.read)
    with suppress(PlatformError, KeyError, ValueError, IndexError):
        source.fetch(view, scope)
    return Counter(
        one.call_name for one in log.items if one.call_name in CALLS and one.upstream == "eastmoney"
    )


@pytest.mark.parametrize(
    ("table", "place", "source"), WALKING, ids=lambda one: str(getattr(one, "name", one))
)
def test_no_source_walks_over_the_market_there(
    alone: Services, table: str, place: int, source: Source
) -> None:
    codes = tuple(str(code) for code in alone.run.ctx.new_run().securities()["code"])
    assert len(codes) > MOST
    for scope in (Scope((DAY,)), Scope((DAY,), codes)):
        assert sum(asked(alone, source, scope).values()) <= MOST


def test_a_few_codes_are_asked_there(alone: Services) -> None:
    (portal,) = (
        source for table, _, source in WALKING if (table, source.name) == ("fusion_kline_daily", "eastmoney")
    )
    codes = tuple(str(code) for code in alone.run.ctx.new_run().securities()["code"])[:MOST]
    assert asked(alone, portal, Scope((DAY,), codes)) == {"kline": MOST}


def test_past_bars_of_the_market_come_from_the_quote_site_and_the_batch_says_why(alone: Services) -> None:
    alone.master(DAY)
    alone.fuse("exright", DAY)
    rules = [{"upstream": "tdx", "call": "*bars*", "kind": "dead"}]
    rules.append({"upstream": "tdx_packages", "call": "*", "kind": "reset"})
    alone.faults.replace(rules)
    alone.fresh()
    loaded = alone.fuse("kline_daily", DAY)

    rows = alone.run.warehouse.query("SELECT src, COUNT(*) FROM fusion_kline_daily GROUP BY src")
    assert dict(rows).keys() <= {"tencent", "sina"}
    assert dict(rows)["tencent"] > 50
    reasons = {item["src"]: item.get("reason", "") for item in loaded.sources}
    assert "does not serve bars" in reasons["tdx"] or "without data" in reasons["tdx"]
    assert reasons["tencent"] == ""


def test_past_money_flow_of_the_market_is_the_main_net_of_the_quote_site(alone: Services) -> None:
    run = alone.run
    loaded = alone.raw("raw_fund_flow", DAY)
    (portal, site) = loaded.sources[:2]

    assert (portal["src"], portal["error"]) == ("eastmoney", "Unavailable")
    assert "eastmoney.push2his cuts off after 10 calls: not asked for" in portal["reason"]
    assert (site["src"], site.get("error")) == ("tencent", None)
    rows = run.warehouse.query("SELECT src, COUNT(*), SUM(main_net IS NULL) FROM raw_fund_flow GROUP BY src")
    assert [(src, missing) for src, _, missing in rows] == [("tencent", 0)]
