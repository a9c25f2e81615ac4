"""SQL of the finance reads. Every function takes a Session first. `as_of` is the bound instant, or None for
the current rows; RAW tables keep no versions, so they are not read with an instant."""

from typing import Any

import orjson

from platform_assets.datasets.finance_indicator import AuxChanges, RawIndicator
from resources.warehouse.stored import ANY, stored
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session

FINANCE = stored("fusion_finance_indicator")
INDICATORS = stored("raw_fin_indicator", RawIndicator)
CHANGES = stored("aux_finance_changes", AuxChanges)
_RANK = ("eastmoney", "em_f10", "tdx")
_PER_PERIOD = len(_RANK)
PAGE = "em_f10"
"""The source that reads the page of a single company."""


def indicators(session: Session, code: str, periods: int) -> list[Row]:
    """The newest periods of the indicator table, newest first: code, report_period, ann_date, updated,
    paged (whether the company's own page was read, which has every indicator), and every number of
    `indicators`, of the best source that has it."""
    columns = ("report_period", "ann_date", "src", "indicators", "imported_at")
    of, most = [INDICATORS.c.code == code], periods * _PER_PERIOD
    rows = session.dicts(
        INDICATORS, *of, columns=columns, order=[INDICATORS.c.report_period.desc()], limit=most
    )
    merged: dict[str, Row] = {}
    for row in sorted(rows, key=lambda one: _place(one["src"])):
        reported: dict[str, Any] = orjson.loads(row["indicators"]) if row["indicators"] else {}
        one = merged.setdefault(row["report_period"], {"ann_date": None, "updated": "", "paged": False})
        one["ann_date"] = one["ann_date"] or row["ann_date"]
        one["updated"] = max(one["updated"], str(row["imported_at"]))
        one["paged"] = one["paged"] or row["src"] == PAGE
        for name, value in reported.items():
            one.setdefault(name, value)
    newest = sorted(merged.items(), reverse=True)[:periods]
    return [{"code": code, "report_period": period, **row} for period, row in newest]


def changes(session: Session, code: str, period: str | None) -> list[Row]:
    """Items of a report (by default the newest) with their change from the year before, by item."""
    of = [CHANGES.c.code == code]
    period = period or session.first(CHANGES, "report_period", *of, order=[CHANGES.c.report_period.desc()])
    if period is None:
        return []
    return public_rows(session, CHANGES, *of, CHANGES.c.report_period == period, order=[CHANGES.c.item])


def statement(session: Session, table: str, code: str, kind: str, periods: int) -> list[Row]:
    """Items of a statement in its newest periods, newest first, each of the best source that has it."""
    which = [ANY.code == code, ANY.statement == kind]
    rows = session.dicts(table, *which, order=[ANY.report_period.desc(), "item"])
    kept = sorted({row["report_period"] for row in rows}, reverse=True)[:periods]
    best: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda one: _place(one["src"])):
        if row["report_period"] in kept:
            best.setdefault((row["report_period"], row["item"]), row)
    ordered = sorted(best.values(), key=lambda row: row["item"])
    ordered.sort(key=lambda row: row["report_period"], reverse=True)
    columns = ("code", "report_period", "statement", "item", "value", "ann_date", "yoy", "src")
    return [{name: row[name] for name in columns} for row in ordered]


def _place(src: Any) -> int:
    return _RANK.index(src) if src in _RANK else len(_RANK)
