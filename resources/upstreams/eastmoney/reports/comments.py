"""The portal's own marks of every stock (千股千评), a report of the data centre (RPT_DMSK_TS_STOCKNEW): the
newest session alone."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import text_or_none
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report, among, code_of, day_of, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import nothing_to_missing, number, price, promised

COMMENT_COLUMNS: dict[str, str] = {
    **texts("code trade_date name"),
    **numbers("price change_pct total_score rank_no rank_change org_participation_pct focus_index"),
    **numbers("prime_cost turnover_pct pe_dynamic"),
}
_PROMISED = ("SECURITY_CODE", "TRADE_DATE", "TOTALSCORE")
_SLACK_CNY = 5.0


def comments_report(day: str, codes: Sequence[str] | None = None) -> Report:
    """Every stock on one trade date, or some."""
    where = (on_day("TRADE_DATE", day), *(() if codes is None else (among("SECURITY_CODE", codes),)))
    return Report("RPT_DMSK_TS_STOCKNEW", EVERY_COLUMN, where, ("SECURITY_CODE",), ("code", "trade_date"))


def comment_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `COMMENT_COLUMNS`: CNY, percent, marks of 0 to 100; `rank_no` from 1. PayloadError when a row
    contradicts itself."""
    return frame([_row(row) for row in rows], COMMENT_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _PROMISED, "comment")
    code = code_of(row["SECURITY_CODE"], "comment")
    what = f"comment {code}"

    def value(name: str) -> float:
        return number(row.get(name), f"{what} {name}")

    share = number(row.get("ORG_PARTICIPATE"), f"{what} ORG_PARTICIPATE", scale=100.0)
    score = price(row["TOTALSCORE"], f"{what} TOTALSCORE")
    if share < 0 or share > 100:
        raise PayloadError(f"{what}: ORG_PARTICIPATE is no fraction: another unit")
    if score > 100:
        raise PayloadError(f"{what}: TOTALSCORE {score} is above 100")
    _check_flow(value, what)
    return {
        "code": code,
        "trade_date": day_of(row["TRADE_DATE"], f"{what} TRADE_DATE"),
        "name": text_or_none(row.get("SECURITY_NAME_ABBR"), f"{what} name"),
        "price": nothing_to_missing(price(row.get("CLOSE_PRICE"), f"{what} CLOSE_PRICE")),
        "change_pct": value("CHANGE_RATE"),
        "total_score": score,
        "rank_no": nothing_to_missing(price(row.get("RANK"), f"{what} RANK")),
        "rank_change": value("RANK_UP"),
        "org_participation_pct": share,
        "focus_index": price(row.get("FOCUS"), f"{what} FOCUS"),
        "prime_cost": nothing_to_missing(price(row.get("PRIME_COST"), f"{what} PRIME_COST")),
        "turnover_pct": price(row.get("TURNOVERRATE"), f"{what} TURNOVERRATE"),
        "pe_dynamic": value("PE_DYNAMIC"),
    }


def _check_flow(value: Any, what: str) -> None:
    """The inflow of the large hands is that of their two sizes: it fails when columns are shifted."""
    parts = value("SUPERDEAL_INFLOW") - value("SUPERDEAL_OUTFLOW")
    parts += value("BIGDEAL_INFLOW") - value("BIGDEAL_OUTFLOW")
    gap = abs(value("PRIME_INFLOW") - parts)
    if not math.isnan(gap) and gap > _SLACK_CNY:
        raise PayloadError(f"{what}: PRIME_INFLOW is not the sum of its parts by {gap:.2f}")
