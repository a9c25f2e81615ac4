"""Share buybacks and how far they have come, a report of the data centre (RPTA_WEB_GETHGLIST_NEW)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import day_or_none, security_code
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report, among, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, price, promised, string_of

BUYBACK_COLUMNS: dict[str, str] = {
    **texts("code update_date start_date end_date progress"),
    **numbers("amount_low amount_high shares_low shares_high price_cap shares_bought amount_bought"),
}
PROGRESS = {
    "001": "董事会预案",
    "002": "股东大会通过",
    "003": "股东大会否决",
    "004": "实施中",
    "005": "停止实施",
    "006": "完成实施",
}
_SLACK = 0.01


def buybacks_report(since: str | None, until: str, codes: Sequence[str] | None = None) -> Report:
    """Buybacks with their latest announcement on the days of [since, until] (None: ever)."""
    first = () if since is None else (on_day("UPDATEDATE", since, ">="),)
    some = () if codes is None else (among("DIM_SCODE", codes),)
    where = (*some, *first, on_day("UPDATEDATE", until, "<="))
    sort = ("UPD", "DIM_DATE", "DIM_SCODE")
    return Report("RPTA_WEB_GETHGLIST_NEW", EVERY_COLUMN, where, sort, ("code", "start_date"))


def buyback_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `BUYBACK_COLUMNS`: CNY, shares, CNY per share. PayloadError when a row contradicts itself."""
    return frame([_row(row) for row in rows], BUYBACK_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("DIM_SCODE", "DIM_TRADEDATE", "REPURPROGRESS", "UPDATEDATE"), "buyback")
    code = security_code(row["DIM_SCODE"], "buyback")
    what = f"buyback {code}"
    progress = string_of(row["REPURPROGRESS"], f"{what} REPURPROGRESS")
    if progress not in PROGRESS:
        raise PayloadError(f"{what}: REPURPROGRESS {progress[:8]!r} is unknown")
    made: dict[str, Any] = {
        "code": code,
        "update_date": iso_day(string_of(row["UPDATEDATE"], f"{what} UPDATEDATE")[:10], f"{what} UPDATEDATE"),
        "start_date": iso_day(
            string_of(row["DIM_TRADEDATE"], f"{what} DIM_TRADEDATE")[:10], f"{what} DIM_TRADEDATE"
        ),
        "end_date": day_or_none(row.get("REPURENDDATE"), f"{what} REPURENDDATE"),
        "progress": PROGRESS[progress],
        "amount_low": amount(row.get("JEXX"), f"{what} JEXX"),
        "amount_high": amount(row.get("JESX"), f"{what} JESX"),
        "shares_low": amount(row.get("REPURNUMLOWER"), f"{what} REPURNUMLOWER"),
        "shares_high": amount(row.get("REPURNUMCAP"), f"{what} REPURNUMCAP"),
        "price_cap": price(row.get("REPURPRICECAP"), f"{what} REPURPRICECAP"),
        "shares_bought": amount(row.get("REPURNUM"), f"{what} REPURNUM"),
        "amount_bought": amount(row.get("REPURAMOUNT"), f"{what} REPURAMOUNT"),
    }
    if made["update_date"] < made["start_date"]:
        raise PayloadError(f"{what}: UPDATEDATE {made['update_date']} before its begin")
    for low, high in (("amount_low", "amount_high"), ("shares_low", "shares_high")):
        if made[low] > made[high]:
            raise PayloadError(f"{what}: {low} {made[low]:.0f} beyond {high} {made[high]:.0f}")
    # A buyback cannot cost more than its cap: else money, shares or price are in another unit.
    if made["amount_bought"] > made["shares_bought"] * made["price_cap"] * (1 + _SLACK):
        raise PayloadError(f"{what}: REPURAMOUNT beyond REPURNUM x REPURPRICECAP: wrong unit")
    return made
