"""Lists of which one row cannot be read, is empty, or comes twice: that row alone is lost, with a record.

Calls are found by recording a correct day (`corrupted_market`); then each is spoilt in one row of each of its
lists while the tables that it feeds are loaded again.
"""

import json
import re
from typing import Any

import pytest

from core.declaration.tables import Table
from resources.warehouse.warehouse import Warehouse
from tests.pipeline.corrupted_market import (
    TODAY,
    Call,
    CorrectDay,
    Reported,
    accepted,
    answered_otherwise,
    has_something,
    reported,
    written,
)

FEW = ("block_trade", "executive_holding", "futures", "limit_pool", "margin", "news_flash", "org_survey")
"""Datasets of the quick matrix: events and balances of eleven upstreams."""
HOW = ("text", "null", "repeat")
LEAST = 6
"""Rows of a list that is spoilt: in a shorter one, one row may be more than the share."""

WHOLE_ANSWERS = {
    "eastmoney ulist": "six series of other markets, each asked for by name",
    "szse month_days": "a calendar month, of which every day must be there",
}
"""Calls whose answer is one fact: it counts as a whole, or another source is asked. The terminal's records
have no rows of text to spoil; `tests/upstreams/tdx` does that."""
FOLLOWS = {
    "fusion_market_cloud_map": "ranks of a market without one of its stocks",
    "raw_concept_blocks": "several rows of one row of the list",
    "raw_index_constituent": "several rows of one row of the list",
}
"""Tables that hold more of a lost row than one row."""

_COUNTED = re.compile(r"fusion_stock_industry \(.*\) concept_count: ")
"""A board less is one less for each stock that was in it."""
_MISCOUNTED = re.compile(r"\d+ (rows )?of \d+( rows)?$")
"""A list that is longer than its count, which the fault does not find everywhere, is refused."""


def fault(how: str) -> dict[str, Any]:
    return {"kind": "spoil_rows", "args": {"how": how, "rows": 1, "least": LEAST, "counted": True}}


def refusals(warehouse: Warehouse, call: Call) -> list[str]:
    """What sources gave as the reason why they have no rows; not those that were asked for the rest of
    another one, which is what a lost row is for."""
    batches = warehouse.query("SELECT table_name, sources_json FROM sys_batch WHERE started_at>=?", (TODAY,))
    return [
        f"{table}: {one['reason']}"
        for table, sources in batches
        for one in json.loads(sources or "[]")
        if one.get("reason") and "asked_for" not in one and not _MISCOUNTED.search(one["reason"])
    ]


def lost(day: CorrectDay, now: Reported, table: Table) -> tuple[set[str], int]:
    """(codes, or keys, of rows that are missing, how many rejected rows are on record)."""
    true, found = written(day.services.warehouse, table), written(now.services.warehouse, table)
    names = ("code",) if "code" in table.key else table.key
    missing = {str([true[key][name] for name in names]) for key in true.keys() - found.keys()}
    (count,) = now.services.warehouse.query(
        "SELECT COUNT(*) FROM sys_quality_record q JOIN sys_batch b ON b.batch_id=q.batch_id "
        "WHERE b.table_name=? AND b.started_at>=? AND q.natural_key IS NOT NULL",
        (table.name, TODAY),
    )[0]
    return missing, int(count)


def complaints(day: CorrectDay, call: Call, how: str) -> tuple[list[str], bool]:
    """(what else was lost than the spoilt rows, whether any answer was another one)."""
    with reported(day, call, fault(how)) as now:
        if not answered_otherwise(day, now):
            return [], False
        found = [f"{table} failed: {reason}" for table, reason in now.failures.items()]
        found += refusals(now.services.warehouse, call)
        for table in call.tables:
            missing, records = lost(day, now, table)
            if table.name.startswith("raw_") and len(missing) > records:
                found.append(f"{table.name}: {len(missing)} rows lost, {records} on record")
        found += accepted(day, call, now)
    found = [line for line in found if not line.startswith(tuple(FOLLOWS)) and not _COUNTED.match(line)]
    return [f"{call} {how}: {line}" for line in found], True


def every_spoilt_row(day: CorrectDay, hows: tuple[str, ...] = HOW) -> tuple[list[str], int]:
    wrong, heard = [], 0
    for call in day.calls:
        if call.upstream == "tdx" or (str(call) in WHOLE_ANSWERS):
            continue
        for how in hows:
            if has_something(day, call, fault(how)):
                lines, changed = complaints(day, call, how)
                wrong += lines[:9]
                heard += changed
    return wrong, heard


def test_a_spoilt_row_costs_itself(few: CorrectDay) -> None:
    wrong, heard = every_spoilt_row(few)

    assert not wrong, "\n".join(wrong)
    assert heard > 20


@pytest.mark.soak
def test_a_spoilt_row_costs_itself_in_every_table(whole: CorrectDay) -> None:
    wrong, heard = every_spoilt_row(whole)

    assert not wrong, "\n".join(wrong)
    assert heard > 100
