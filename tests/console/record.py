"""`python -m tests.console.record http://127.0.0.1:8000 600040 [PAGE ...]`: records what the console's pages
read of a running platform, for the tests (`answers/PAGE.json.gz`). Needed after a change of a shape that a
page reads."""

import gzip
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

FOLDER = Path(__file__).with_name("answers")

SCREEN = "pe_ttm between 0 and 20 and roe >= 8% and not st order by roe desc"
SENTENCE = "市盈率低于20且净资产收益率大于5%的银行股"


ROW = "code={code}&trade_date=2026-11-25"
PLAN = {"dataset": "block_trade", "from": "2026-10-20", "to": "2026-11-25"}


@dataclass(frozen=True)
class Reads:
    """What a page reads: paths below /api/v1, those that are asked by POST with their body, and interfaces
    with their parameters."""

    paths: tuple[str, ...] = ()
    posts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


PAGES = {
    "stock": Reads(
        paths=(
            "stocks/{code}",
            "stocks/{code}/base-info",
            "stocks/{code}/kline?days=250&adjust=qfq&lines=true",
            "stocks/{code}/finance-detail",
            "stocks/{code}/industry-compare",
            "quant/patterns/{code}?days=250",
            "quant/cyq/{code}",
            "factor/breakdown/{code}",
        ),
        calls={
            "get_dividend_history": {"code": "{code}", "limit": 30},
            "get_announcements": {"code": "{code}", "limit": 30},
            "get_dragon_tiger_history": {"code": "{code}", "limit": 30},
            "get_limit_history": {"code": "{code}", "limit": 30},
            "get_fund_flow_history": {"code": "{code}", "limit": 60},
        },
    ),
    "today": Reads(
        paths=(
            "datamgr/day-report",
            "datamgr/stats/freshness",
            "datamgr/upstreams",
            "datamgr/exrights",
            "datamgr/schedule",
            "datamgr/tasks/runs?limit=40",
            "datamgr/day-grid?days=30",
            "datamgr/gaps?page_size=200",
        ),
    ),
    "lineage": Reads(paths=(f"datamgr/lineage/fusion_quote_snapshot?{ROW}&column=price&payload=true",)),
    "data": Reads(
        paths=(
            "datamgr/contracts",
            "datamgr/contracts/kline_daily",
            "datamgr/batches?fusion_type=kline_daily&limit=60",
            "datamgr/reconcile?dataset=kline_daily",
            "datamgr/gaps?dataset=block_trade&page_size=20",
            "datamgr/quality-records?table=fusion_kline_daily&limit=20",
        ),
        posts={"datamgr/backfill/plan": PLAN},
    ),
    "screens": Reads(
        paths=("screener/filters", "screener/presets", "quant/formulas"),
        posts={
            "screener/find": {"dsl": SCREEN, "page": 1, "pageSize": 50},
            "screener/nl-find": {"query": SENTENCE, "page": 1, "pageSize": 50},
            "quant/formulas/eval": {"formula": "(C/REF(C,20)-1)*100", "limit": 200},
        },
    ),
    "scorecards": Reads(
        paths=(
            "scorecard/sources",
            "scorecard/overview?days=250",
            "scorecard/record?source=builtin&group=tactic&days=250",
            "scorecard/picks?source=builtin&group=tactic&status=reviewed&pageSize=50",
        ),
    ),
    "market": Reads(
        paths=(
            "realtime/sector-treemap?children=1000",
            "market/sentiment",
            "market/distribution",
            "market/breadth-intraday",
            "market/emotion-cycle?days=60",
            "market/limit-count-history?days=60",
            "market/cross-market-risk",
        ),
        calls={"get_limit_ladder": {}},
    ),
}


def recorded(base: str, code: str, page: str) -> dict[str, Any]:
    """Path below /api/v1 (with {code} for the code), or name of an interface -> answer."""
    reads = PAGES[page]
    with httpx.Client(base_url=f"{base}/api/v1/", timeout=60.0) as client:
        if password := os.environ.get("RECORD_PASSWORD"):  # of admin, for pages that he alone may read
            login = client.post("auth/login", json={"username": "admin", "password": password})
            client.headers["Authorization"] = f"Bearer {login.raise_for_status().json()['access_token']}"
        found = {
            path.partition("?")[0]: client.get(path.format(code=code)).raise_for_status().json()
            for path in reads.paths
        }
        for path, body in reads.posts.items():
            found[path] = client.post(path, json=body).raise_for_status().json()
        for name, params in reads.calls.items():
            filled = {key: code if value == "{code}" else value for key, value in params.items()}
            called = {"interface": name, "params": filled}
            found[name] = client.post("datamgr/fusion/call", json=called).raise_for_status().json()
    return found


def answers(page: str) -> dict[str, Any]:
    """What was recorded for a page."""
    found: dict[str, Any] = json.loads(gzip.decompress((FOLDER / f"{page}.json.gz").read_bytes()))
    return found


if __name__ == "__main__":
    address, stock, *pages = sys.argv[1:]
    for chosen in pages or PAGES:
        text = json.dumps(recorded(address, stock, chosen), ensure_ascii=False)
        (FOLDER / f"{chosen}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
