"""Shanghai: margin trading (queryMargin), block trades and units of ETFs. Without the Referer of its site
table entry the host answers 403.

CNY and shares. The detail has no lending balance in CNY: `rqylje` and `rzrqjyzl` are null there.
"""

from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.transport.request import Fetcher, Request
from resources.upstreams.exchanges import sse_billboard, sse_overview
from resources.upstreams.exchanges.billboard import a_share_listings
from resources.upstreams.exchanges.deals import a_shares
from resources.upstreams.exchanges.margin import code_of, figure, joined, name_of, same_day
from resources.upstreams.exchanges.sse_deals import deals_request, parse_deals
from resources.upstreams.exchanges.sse_funds import parse_units, units_frame, units_request
from resources.upstreams.exchanges.sse_pages import page_params, parse_rows
from resources.upstreams.parsing.paging import Page, collected
from resources.upstreams.parsing.payload import iso_day, required

_MOST_PAGES = 5
_SLACK = 1.0


def margin_request(day: str, page: int = 1, *, detail: bool) -> Request:
    """One page of the securities of a trade date, or the market's sums."""
    compact = day.replace("-", "")
    asked: tuple[tuple[str, str], ...] = (
        (("tabType", "mxtype"), ("detailsDate", compact), ("stockCode", ""))
        if detail
        else (("beginDate", compact), ("endDate", compact), ("tabType", ""), ("stockCode", ""))
    )
    call = "margin_detail" if detail else "margin_total"
    params = (*page_params(page), *asked)
    return Request("sse.query", call, "/marketdata/tradedata/queryMargin.do", params, label=f"{day} {page}")


def parse_margin(body: bytes, day: str, *, detail: bool) -> Page:
    """Rows with the keys of `MARGIN_COLUMNS`; none on a day without trading or before publication."""
    what = "SSE margin detail" if detail else "SSE margin total"
    raw, total = parse_rows(body, what)
    if not detail and len(raw) > 1:
        raise PayloadError(f"{what}: {len(raw)} rows of one date")
    rows = accepted_rows(
        raw, lambda row: _row(row, day, what, detail), what, lambda row: row.get("stockCode")
    )
    return Page(rows, len(raw), total)


def _row(row: dict[str, Any], day: str, what: str, detail: bool) -> dict[str, Any]:
    code = code_of(row.get("stockCode"), f"{what} stockCode") if detail else "TOTAL_SH"
    label = f"{what} {code}"
    made: dict[str, Any] = {
        "code": code,
        "date": same_day(iso_day(str(row.get("opDate")), f"{label} opDate"), day, label),
        "exchange": "SSE",
        "name": name_of(row.get("securityAbbr"), f"{label} securityAbbr") if detail else None,
        "rzye": required(figure(row.get("rzye"), f"{label} rzye"), f"{label} rzye"),
        "rzmre": figure(row.get("rzmre"), f"{label} rzmre"),
        "rzche": figure(row.get("rzche"), f"{label} rzche"),
        "loan_volume": figure(row.get("rqyl"), f"{label} rqyl"),
        "rqmcl": figure(row.get("rqmcl"), f"{label} rqmcl"),
        "rqchl": figure(row.get("rqchl"), f"{label} rqchl"),
        "rqye": figure(row.get("rqylje"), f"{label} rqylje"),
        "rzrqye": figure(row.get("rzrqjyzl"), f"{label} rzrqjyzl"),
    }
    if abs(made["rzye"] + made["rqye"] - made["rzrqye"]) > _SLACK:
        raise PayloadError(f"{label}: rzye + rqylje is not rzrqjyzl")
    return made


class SseClient:
    """`fetcher` is a transport bound to the log of one piece of work."""

    source = "sse"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def margin(self, day: str) -> pd.DataFrame:
        """Every margin security of a trade date and the row `TOTAL_SH`, two calls; columns
        `MARGIN_COLUMNS`, `rqye` and `rzrqye` of securities missing. Empty where nothing is published."""
        total = self._fetcher.call(
            margin_request(day, detail=False), partial(parse_margin, day=day, detail=False)
        )

        def ask(page: int) -> Page:
            request = margin_request(day, page, detail=True)
            return self._fetcher.call(request, partial(parse_margin, day=day, detail=True))

        rows = collected(ask, f"SSE margin detail {day}", most_pages=_MOST_PAGES)
        return joined(total.rows, rows, "SSE margin")

    def overview(self, day: str) -> pd.DataFrame:
        """Turnover and value of the market on one date, by class, one call; columns `OVERVIEW_COLUMNS`.
        Empty where nothing is published."""
        parse = partial(sse_overview.parse_overview, day=day)
        return self._fetcher.call(sse_overview.overview_request(day), parse)

    def billboard(self, day: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The listings of one date and their seats, one call; columns `BILLBOARD_COLUMNS` and
        `BILLBOARD_SEAT_COLUMNS`, A shares alone. Empty where nothing is published."""
        parse = partial(sse_billboard.parse_billboard, day=day)
        board = self._fetcher.call(sse_billboard.billboard_request(day), parse)
        return a_share_listings(board.listings, "SH", "SSE billboard"), sse_billboard.seats_frame(board)

    def block_trades(self, since: str, until: str) -> pd.DataFrame:
        """Block trades in A shares between two dates, one call for 5,000 deals; columns `DEAL_COLUMNS`.
        Empty where nothing is published."""

        def ask(page: int) -> Page:
            request = deals_request(since, until, page)
            return self._fetcher.call(request, partial(parse_deals, since=since, until=until))

        rows = collected(ask, f"SSE block trades {since}..{until}", most_pages=_MOST_PAGES)
        return a_shares(rows, "SH")

    def etf_units(self, day: str) -> pd.DataFrame:
        """Units of every ETF at the end of a trade date, one call; columns `UNIT_COLUMNS`. Empty where
        nothing is published."""

        def ask(page: int) -> Page:
            return self._fetcher.call(units_request(day, page), partial(parse_units, day=day))

        return units_frame(collected(ask, f"SSE ETF units {day}", most_pages=_MOST_PAGES))
