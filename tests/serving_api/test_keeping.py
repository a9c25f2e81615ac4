"""Which answers may be kept, by whom: the rules of the specification, written down by hand."""

import re

from serving_api.framework.application import platform_routes
from tests.serving_api.conftest import Bench

# At 15:30 of a trade date. The first pattern that fits a path decides.
RULES = (
    (r"/api/v1/stocks/(batch-kline|\{code\}/kline)", "public, max-age=300"),
    (r"/api/v1/stocks/\{code\}/intraday", "public, max-age=3600"),
    (r"/api/v1/datamgr/(realtime|fusion/market)/.*", "no-store"),
    (r"/api/v1/datamgr/(gaps|backfill(/\{backfill_id\})?)", "no-store"),
    (r"/api/v1/datamgr/market/(industry-ranking|global-news|hot-stocks)", "no-store"),
    (r"/api/v1/datamgr/(market/stat|stock/\{code\}/(xdxr|fund-flow))", "no-store"),
    (r"/api/v1/(auth|chat|settings|notifications)(/.*)?|/health|(/api/v1)?/mcp/servers", "no-store"),
    (r"/api/v1/(alt-sources(/.*)?|sectors/.*|datamgr/(probe-all|upstreams|users)|realtime/.*)", "no-store"),
    (r"/api/v1/stocks/.*|/api/v1/datamgr/fusion/interfaces", "public, no-cache"),
    (r"/api/v1/(datamgr|tasks|research)/.*", "private, no-cache"),
    (
        r"/api/v1/(risk|convertible-bond|reit|fusion|earnings-window|hk-finance|macro|futures|index|industry"
        r"|market|quant|factor|screener|scorecard|builtin-strategies|decision-cards|notes|skills|analysis)(/.*)?",
        "public, no-cache",
    ),
    (r"(/api/v1)?/mcp/(tools|marketplace)", "public, no-cache"),
)


def rule_of(path: str) -> str:
    return next(policy for pattern, policy in RULES if re.fullmatch(pattern, path))


def test_every_read_is_kept_as_the_rules_say(bench: Bench) -> None:
    state = bench.api.app.state.platform
    reads = {
        route.path: route.cache_control(state)
        for route in platform_routes(bench.api.app)
        if route.methods == {"GET"}
    }

    assert reads == {path: rule_of(path) for path in reads}


def test_nothing_that_changes_something_is_kept(bench: Bench) -> None:
    state = bench.api.app.state.platform
    writes = {
        route.path: route.cache_control(state)
        for route in platform_routes(bench.api.app)
        if route.methods != {"GET"}
    }

    assert writes == dict.fromkeys(writes, "no-store")
