"""The whole day of the sample market: all tables of the registry, against what the world has for them."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pytest

from platform_assets.pipeline.whole_day import load_day, steps
from resources.warehouse.stored import ANY
from serving_api.inspection.walk import Walk
from simulated_market.world.model import World
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.pipeline.conftest import TODAY, Services, opened_services
from tests.pipeline.every_read import EveryRead, Read
from tests.serving_api.areas.conftest import in_front
from tests.serving_api.conftest import ADMIN
from tests.serving_api.market import put

EVENING = datetime.fromisoformat(f"{TODAY}T22:30")
"""After the last task of the day."""
DATES_BEFORE = 60

WITHOUT_ROWS = {
    "raw_kline": "bars of single codes, on request",
    "raw_minute_kline": "bars of single codes, on request",
    "raw_hk_finance": "a tenth of the companies a day: none of the few pairs has its turn",
    "ref_exright_item": "no quoted reference price of the evening is without its event",
    "calc_breadth_sample": "taken every five minutes of a session, and the evening is none",
    "calc_pattern_daily": "none of the world's stocks completes a pattern within the dates that are stored",
}

_NO_WORKER = "no scheduler and no worker took part in this load"
_NO_PATTERN = WITHOUT_ROWS["calc_pattern_daily"]
ONLY_HERE = {
    "calc_pattern_daily": _NO_PATTERN,
    "get_pattern_history": _NO_PATTERN,
    "get_pattern_by_date": _NO_PATTERN,
    "/api/v1/quant/patterns/{code}": _NO_PATTERN,
    "/api/v1/quant/pattern-performance": _NO_PATTERN,
    "get_dividend_yield_rank": "the load of a day alone holds no dividends of the last twelve months",
    "/api/v1/datamgr/schedule": _NO_WORKER,
    "/api/v1/tasks/runs": _NO_WORKER,
    "/api/v1/datamgr/tasks/runs": _NO_WORKER,
    "/api/v1/datamgr/commands": _NO_WORKER,
    "/api/v1/datamgr/commands/{command_id}": _NO_WORKER,
    "/api/v1/datamgr/sync-logs": _NO_WORKER,
    "/api/v1/datamgr/upstreams": "the clients of this load count their calls nowhere",
}
"""What an installation has and this load has not."""

WARNINGS = {
    # 300114 closes at its limit of 20 % and is the only member of these two.
    ("fusion_industry_index", "change_is_plausible", "801737", "2026-08-20"),
    ("fusion_industry_index", "change_is_plausible", "856301", "2026-08-20"),
    # Where the simulated line turns, neighbouring months are close together and the one beyond them far out.
    ("fusion_macro_indicator", "is_near_its_past", "cn_cpi_rural_yoy", "2011-07-01"),
    # Indices that a market of 60 companies does not have.
    ("fusion_index_daily", "not_served", None, None),
    ("raw_index_constituent", "not_served", None, None),
    ("raw_index_valuation", "not_served", None, None),
}
"""(table, check, name, date): what the world was built to cause, no more and no less."""


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def loaded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_world: World
) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("every")
    for url in engine_url(request.param, folder):
        with opened_services(url, folder, sample_world) as services:
            services.clock.at = EVENING
            dates = services.run.calendar.last(DATES_BEFORE, TODAY)
            services.master()
            services.fuse("exright", *dates)
            services.fuse("kline_daily", *dates)
            services.fuse("index_daily", *dates)
            services.fresh()
            assert load_day(services.run, services.scope()) == {}
            services.extra["at"] = (url, folder)
            yield services


def test_every_table_has_rows_or_the_world_says_why_not(loaded: Services) -> None:
    tables, _ = steps(loaded.registry)
    empty = {name for name in tables if not loaded.warehouse.query(f"SELECT 1 FROM {name} LIMIT 1")}

    assert empty == set(WITHOUT_ROWS)
    asked = {name for (name,) in loaded.warehouse.query("SELECT DISTINCT table_name FROM sys_batch")}
    assert asked == set(tables)
    assert loaded.warehouse.rows("sys_batch", ANY.status != "success") == []


def test_warnings_are_those_that_the_world_causes(loaded: Services) -> None:
    reported = set()
    for row in loaded.warehouse.rows("sys_quality_record"):
        if row["natural_key"]:  # the other records count those of a check
            key = json.loads(row["natural_key"])
            name, day = (key.get(first) or key.get(second) for first, second in
                         (("code", "indicator"), ("date", "period_date")))  # fmt: skip
            reported.add((row["table_name"], row["check_name"], name, day))

    assert reported == WARNINGS


def test_consensus_of_the_evening_is_no_part_of_the_close(loaded: Services) -> None:
    def valued(as_of: str | None) -> dict[str, tuple[object, object]]:
        rows = loaded.warehouse.rows("fusion_valuation", as_of=as_of)
        return {str(row["code"]): (row["eps_fy1"], row["pe_forward"]) for row in rows}

    at_close, now = valued(f"{TODAY} 15:30:00.000000"), valued(None)

    assert set(at_close.values()) == {(None, None)}
    assert at_close.keys() == now.keys()
    assert sum(eps is not None for eps, _ in now.values()) > 20


def test_all_that_can_be_asked_for_answers_or_is_empty_by_nature(loaded: Services) -> None:
    """Tables, freshness, interfaces and read routes, as `python -m serving_api.inspection` walks them."""
    url, folder = loaded.extra["at"]
    with in_front(loaded, url, folder) as api:
        token = api.post("/auth/login", json=ADMIN).json()["access_token"]

        def ask(method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, Any]:
            headers = {"Authorization": f"Bearer {token}"}
            answer = api.request(method, f"/{path}", params=query, json=body, headers=headers)
            is_json = "json" in answer.headers.get("content-type", "")
            return answer.status_code, answer.json() if is_json else None

        found = Walk(loaded.registry, ask, loaded.warehouse.query).all()

    assert {name for one in found for name in one.unexplained} == set(ONLY_HERE)
    assert [one.looked_at > 40 for one in found] == [True] * 4


def test_the_same_day_again_asks_and_writes_nothing(loaded: Services) -> None:
    """Runs last but one: the other tests look at the first load."""

    def asked() -> int:
        return int(loaded.warehouse.query("SELECT COUNT(*) FROM sys_fetch")[0][0])

    before, versions = asked(), loaded.warehouse.versions()
    loaded.fresh()

    assert load_day(loaded.run, loaded.scope()) == {}

    assert asked() > 1.5 * before
    changed = {
        name for name, now in loaded.warehouse.versions().items()
        if now["version"] != versions.get(name, {}).get("version") and not name.startswith("sys_")
    }  # fmt: skip
    assert changed == set()


AFFECTED, OTHER = "600040", "600041"
"""Of one the ledger has an open item."""
NOT_ADJUSTED = {
    "/api/v1/stocks/{code}",
    "/api/v1/stocks/{code}/base-info",
    "/api/v1/stocks/{code}/industry-compare",
    "/api/v1/datamgr/fusion/stock/{code}",
    "/api/v1/datamgr/fusion/stock/{code}/kline-bar",
}
"""They read tables with columns of adjusted prices, but none of these columns unless they are asked to."""
AGGREGATES = {
    "get_scorecard",
    "/api/v1/scorecard/overview",
    "/api/v1/scorecard/breakdown",
    "/api/v1/scorecard/record",
    "/api/v1/builtin-strategies",
    "/api/v1/builtin-strategies/{key}/performance",
    "/api/v1/quant/strategies/{key}/validation",
    "/api/v1/quant/pattern-performance",
    "/api/v1/market/dragon-review",
    "/api/v1/market/dragon-review-curve",
    "/api/v1/market/lhb-branch-stat",
}
"""Figures over many stocks, which they do not name."""
ROWS: dict[str, dict[str, Any]] = {
    "calc_pattern_daily": {"date": TODAY, "double_bottom": 100},
    "calc_signal_hit": {"trade_date": TODAY, "signal_key": "double_bottom", "direction": 1, "price": 8.0},
    "calc_strategy_hit": {"trade_date": TODAY, "strategy_key": "trend", "name": "-", "score": 1.0},
    "calc_dragon_score": {
        "trade_date": TODAY, "name": "-", "total_score": 50.0, "coverage": 1.0, "rank_no": 9, "grade": "B",
        "limit_days": 1, "review_status": "pending",
    },
    "fusion_dragon_tiger": {"date": TODAY, "reason_key": "a" * 16, "reason": "-", "name": "-", "close": 8.0},
    "fusion_block_trade": {
        "date": TODAY, "row_key": "a" * 16, "price": 8.0, "volume": 100, "amount": 800.0, "close": 8.0,
    },
}  # fmt: skip
"""Rows of both stocks in tables that the world's day may not have one of."""
ITEM = {
    "code": AFFECTED, "date": TODAY, "market": "SH", "before_date": "2026-08-20", "close_before": 8.0,
    "quoted": 6.59, "expected": 8.0, "factor": 1.21396, "status": "open", "opened_on": TODAY,
    "asked_on": TODAY,
}  # fmt: skip


def _reads(loaded: Services) -> list[Read]:
    """Every answer that holds data."""
    url, folder = loaded.extra["at"]
    with in_front(loaded, url, folder) as api:
        every = EveryRead(api, loaded.registry, loaded.warehouse.query, (AFFECTED, OTHER))
        return [read for read in every.all() if read.holds]


def test_every_answer_with_a_value_of_a_provisional_factor_says_so(loaded: Services) -> None:
    """Runs last: it writes to the tables."""
    warehouse, adjusted = loaded.warehouse, loaded.registry.adjusted
    ledger = warehouse.table("ref_exright_item")
    for name, row in ROWS.items():
        own = {code for (code,) in warehouse.query(f"SELECT DISTINCT code FROM {name}")}
        for code in {AFFECTED, OTHER} - own:
            put(warehouse, warehouse.table(name), [{"code": code, **row}])
    put(warehouse, ledger, [ITEM])

    reads = _reads(loaded)

    marked = {read.name: read for read in reads if read.is_marked}
    named = {
        read.name
        for read in reads
        if read.tables & adjusted.keys()
        and (read.code == AFFECTED or (read.code is None and AFFECTED in read.answer.text))
    }
    assert named - marked.keys() == NOT_ADJUSTED
    assert {one.name for one in marked.values() if one.name not in named} <= AGGREGATES
    assert [read.name for read in reads if read.is_marked and read.code == OTHER] == []
    # What is marked is tagged by tables whose version the ledger is a part of.
    assert [one.name for one in marked.values() if not one.tables & adjusted.keys()] == []
    assert len(marked) > 40

    put(warehouse, ledger, [{**ITEM, "status": "closed", "closed_by": "event", "closed_on": TODAY}])

    after = _reads(loaded)
    assert [read.name for read in after if read.is_marked] == []
    tags = {(read.name, read.code): read.tag for read in after}
    assert [one.name for one in marked.values() if one.tag and one.tag == tags[one.name, one.code]] == []
