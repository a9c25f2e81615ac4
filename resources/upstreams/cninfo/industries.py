"""p_sysapi1087 of the data service: PE of industries on one date, by one of two classifications.

The twelve values of a record are identified by their order.
"""

from datetime import datetime
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.cninfo.data_service import data_request, records_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, number, string_of

SCHEMES = {"csrc": "008001", "cni": "008200"}
RATIO_COLUMNS: dict[str, str] = {
    **texts("industry_code date industry_name level"),
    **numbers("pe_mean pe_median pe_weighted net_profit_yi total_market_cap_yi member_count"),
}
"""100 million CNY."""
_VALUES = 12


def ratios_request(scheme: str, day: str, now: datetime) -> Request:
    """`scheme` is csrc or cni."""
    params = (("tdate", day), ("sortcode", SCHEMES[scheme]))
    return data_request("/api/sysapi/p_sysapi1087", "industry_ratios", params, now, label=f"{scheme} {day}")


def parse_ratios(body: bytes, day: str) -> pd.DataFrame:
    """Columns `RATIO_COLUMNS`; empty on a date without figures. PayloadError for another date."""
    what = f"industries {day}"
    made = accepted_rows(records_of(body, what), lambda raw: _row(raw, day, what), what, lambda raw: None)
    rows = frame(made, RATIO_COLUMNS)
    if rows["industry_code"].duplicated().any():
        raise PayloadError(f"{what}: an industry appears twice")
    return rows


def _row(raw: dict[str, Any], day: str, what: str) -> dict[str, Any]:
    values = list(raw.values())
    if len(values) != _VALUES:
        raise PayloadError(f"{what}: a record of {len(values)} values")
    level, mean, median, weighted, profit, name, code, _, cap, _, date, companies = values
    stated = iso_day(string_of(date, f"{what} date")[:10], f"{what} date")
    if stated != day:
        raise PayloadError(f"{what}: figures of {stated}")
    code = string_of(code, f"{what} code").strip()
    if not 0 < len(code) <= 16 or not code.isascii() or not code.isalnum():
        raise PayloadError(f"{what}: {code[:20]!r} is no industry")
    title = string_of(name, f"{what} {code} name").strip()
    if not 0 < len(title) <= 64:
        raise PayloadError(f"{what} {code}: a name of {len(title)} characters")
    return {
        "industry_code": code,
        "date": stated,
        "industry_name": title,
        "level": str(level)[:4] if level is not None else None,
        "pe_mean": number(mean, f"{what} {code} mean"),
        "pe_median": number(median, f"{what} {code} median"),
        "pe_weighted": number(weighted, f"{what} {code} weighted"),
        "net_profit_yi": number(profit, f"{what} {code} net profit"),
        "total_market_cap_yi": amount(cap, f"{what} {code} cap"),
        "member_count": amount(companies, f"{what} {code} companies"),
    }
