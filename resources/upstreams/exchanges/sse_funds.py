"""Shanghai: units of every ETF by trade date (commonQuery, sqlId ..._ETFGM_SEARCH_L), in 万份."""

from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.exchanges.margin import code_of, name_of, same_day
from resources.upstreams.exchanges.sse_pages import page_params, parse_rows
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.paging import Page
from resources.upstreams.parsing.payload import amount, iso_day, required

UNIT_COLUMNS: dict[str, str] = {**texts("code trade_date name"), **numbers("total_shares")}
_SQL = "COMMON_SSE_ZQPZ_ETFZL_XXPL_ETFGM_SEARCH_L"
_WAN = 1e4
_MOST = 1e12
"""Units of one fund: more is another unit."""


def units_request(day: str, page: int = 1) -> Request:
    """One page of the ETFs of a trade date."""
    params = (*page_params(page), ("sqlId", _SQL), ("STAT_DATE", day))
    return Request("sse.query", "etf_units", "/commonQuery.do", params, label=f"{day} {page}")


def parse_units(body: bytes, day: str) -> Page:
    """One page, rows with the keys of `UNIT_COLUMNS`; empty where nothing is published. PayloadError for
    another day, or another unit."""
    raw, total = parse_rows(body, "SSE ETF units")
    rows = accepted_rows(raw, lambda row: _row(row, day), "SSE ETF units", lambda row: row.get("SEC_CODE"))
    return Page(rows, len(raw), total)


def _row(row: dict[str, Any], day: str) -> dict[str, Any]:
    code = code_of(row.get("SEC_CODE"), "SSE ETF units SEC_CODE")
    what = f"SSE ETF units {code}"
    units = required(amount(row.get("TOT_VOL"), f"{what} TOT_VOL", scale=_WAN), f"{what} TOT_VOL")
    if units > _MOST:
        raise PayloadError(f"{what}: {units:.0f} units: another unit")
    return {
        "code": code,
        "trade_date": same_day(iso_day(str(row.get("STAT_DATE")), f"{what} STAT_DATE"), day, what),
        "name": name_of(row.get("SEC_NAME"), f"{what} SEC_NAME"),
        "total_shares": float(round(units)),
    }


def units_frame(rows: list[dict[str, Any]], what: str = "SSE ETF units", source: str = "sse") -> pd.DataFrame:
    """All pages; columns `UNIT_COLUMNS`. PayloadError for a fund that came twice."""
    made = frame(rows, UNIT_COLUMNS)
    if made["code"].duplicated().any():
        raise PayloadError(f"{what}: a fund came twice", source=source)
    return made
