"""index-perf: daily bars of one index with its rolling PE (`peg`)."""

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    string_of,
)

PERF_COLUMNS: dict[str, str] = {
    **texts("date index_name"),
    **numbers("open high low close change_pct volume amount member_count pe_ttm"),
}
"""Points, percent, shares, CNY."""
_HUNDRED = 1e6
"""Shares in 10,000 lots."""
_YI = 1e8


def perf_request(index: str, since: str, until: str) -> Request:
    params = (
        ("indexCode", index),
        ("startDate", since.replace("-", "")),
        ("endDate", until.replace("-", "")),
    )
    return Request(
        "csindex.site",
        "index_perf",
        "/csindex-home/perf/index-perf",
        params,
        label=f"{index} {since}..{until}",
        headers=(("X-Requested-With", "XMLHttpRequest"),),
    )


def parse_perf(body: bytes, index: str, since: str, until: str) -> pd.DataFrame:
    """Columns `PERF_COLUMNS`, oldest first; indices of total return have a close alone."""
    what = f"index-perf {index}"
    document = object_of(json_of(body), what)
    if str(document.get("code")) != "200":
        raise PayloadError(f"{what}: code {document.get('code')!r} {str(document.get('msg'))[:60]}")
    listed = document.get("data")
    made = []
    for raw in [] if listed is None else list_of(listed, f"{what} data"):
        row = object_of(raw, f"{what} row")
        stated = string_of(row.get("indexCode"), f"{what} indexCode")
        if stated != index:
            raise PayloadError(f"{what}: {stated[:20]!r} instead of {index}")
        day = iso_day(string_of(row.get("tradeDate"), f"{what} tradeDate"), f"{what} tradeDate")
        if not since <= day <= until:
            raise PayloadError(f"{what}: a row of {day}, asked was {since}..{until}")
        name = row.get("indexNameCn")
        made.append(
            {
                "date": day,
                "index_name": None if name is None else string_of(name, f"{what} indexNameCn"),
                **{
                    column: number(row.get(column), f"{what} {column}")
                    for column in ("open", "high", "low", "close")
                },
                "change_pct": number(row.get("changePct"), f"{what} changePct"),
                "volume": amount(row.get("tradingVol"), f"{what} tradingVol", scale=_HUNDRED),
                "amount": amount(row.get("tradingValue"), f"{what} tradingValue", scale=_YI),
                "member_count": amount(row.get("consNumber"), f"{what} consNumber"),
                "pe_ttm": number(row.get("peg"), f"{what} peg"),
            }
        )
    rows = frame(made, PERF_COLUMNS)
    if rows["date"].duplicated().any() or not (rows["close"].isna() | (rows["close"] > 0)).all():
        raise PayloadError(f"{what}: a date twice, or a close that is not above zero")
    return rows.sort_values("date").reset_index(drop=True)
