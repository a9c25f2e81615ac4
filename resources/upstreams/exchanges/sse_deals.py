"""Shanghai: block trades in shares and funds (commonQuery, sqlId ..._DZJYXX_L_1). 元, 万股 and 万元."""

from typing import Any

from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.exchanges.deals import deal
from resources.upstreams.exchanges.sse_pages import page_params, parse_rows
from resources.upstreams.parsing.paging import Page
from resources.upstreams.parsing.payload import promised

_SQL = "COMMON_SSE_XXPL_JYXXPL_DZJYXX_L_1"
_WIRE = {
    "code": "stockid",
    "date": "tradedate",
    "name": "abbrname",
    "price": "tradeprice",
    "volume": "tradeqty",
    "amount": "tradeamount",
    "buyer": "branchbuy",
    "seller": "branchsell",
}


def deals_request(since: str, until: str, page: int = 1) -> Request:
    params = (("sqlId", _SQL), ("stockId", ""), ("startDate", since), ("endDate", until))
    return Request(
        "sse.query",
        "block_trades",
        "/commonQuery.do",
        (*page_params(page), *params),
        label=f"{since}..{until} {page}",
    )


def parse_deals(body: bytes, since: str, until: str) -> Page:
    """One page, rows with the keys of `DEAL_COLUMNS`; empty where nothing was dealt or published."""
    raw, total = parse_rows(body, "SSE block trades")

    def made(row: dict[str, Any]) -> dict[str, Any]:
        promised(row, _WIRE.values(), "SSE block trades")
        return deal({name: row[wire] for name, wire in _WIRE.items()}, "SSE", since, until)

    rows = accepted_rows(raw, made, "SSE block trades", lambda row: row.get(_WIRE["code"]))
    return Page(rows, len(raw), total)
