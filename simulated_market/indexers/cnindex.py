"""www.cnindex.com.cn: members of one index at the end of a month."""

from datetime import UTC, datetime, timedelta
from typing import Any

from simulated_market.indexers.constituents import index_of, shares_at
from simulated_market.notices import page_of
from simulated_market.wire import HttpRequest, Reply, Site, View, json_reply, route
from simulated_market.world.dates import iso_of


def sample(request: HttpRequest, view: View) -> Reply:
    """One page; `data` is null for a month that has not ended, and for an index that is not theirs."""
    params = request.params()
    code, month = params.get("indexcode", ""), params.get("dateStr", "")
    index = index_of(view, code)
    day = _end_of(view, month)
    if index is None or index.market != "SZ" or day is None:
        return _answer(None)
    rows = [_row(code, day, share) for share in shares_at(view, index, day)]
    size, page = page_of(params.get("rows", "50")), page_of(params.get("pageNum", "1"))
    return _answer({"total": len(rows), "rows": view.page(rows, size, page)})


def _row(code: str, day: int, share: Any) -> dict[str, Any]:
    return {
        "indexcode": code,
        "date": _milliseconds(day),
        "dateStr": iso_of(day),
        "seccode": share.security.code,
        "secname": share.name,
        "trade": share.security.sector,
        "market": None,
        "totalMarketValue": round(share.cap / 1e8, 2),
        "freeMarketValue": round(share.float_cap / 1e8, 2),
        "weight": round(share.weight_pct, 2),
    }


def _milliseconds(day: int) -> int:
    """Since 1970, of 00:00 of a day in Shanghai."""
    midnight = datetime(day // 10_000, day // 100 % 100, day % 100, tzinfo=UTC) - timedelta(hours=8)
    return int(midnight.timestamp()) * 1000


def _end_of(view: View, month: str) -> int | None:
    """The last trade date of a month that has ended."""
    if len(month) != 7 or month >= f"{view.now:%Y-%m}":
        return None
    first = int(month.replace("-", "")) * 100
    inside = [int(day) for day in view.world.trade_dates() if first < day < first + 100]
    return inside[-1] if inside else None


def _answer(data: Any) -> Reply:
    return json_reply({"code": 200, "message": "操作成功", "data": data}, spaced=True)


CNINDEX = Site("cnindex", (route("sample_detail", r"/sample-detail/detail", sample),))
