"""Funds on the exchanges: the lists of ETFs, of LOFs and of REITs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from resources.upstreams.eastmoney.gateway import Gateway, Rows
from resources.upstreams.eastmoney.quotes import fields, lists
from resources.upstreams.eastmoney.quotes.lists import listed_rows
from resources.upstreams.eastmoney.reports import bonds
from resources.upstreams.parsing.frames import texts
from resources.upstreams.parsing.paging import pages_joined
from resources.upstreams.parsing.rows import kinds_of, may

# -- The portal's lists, page by page.

_MOST_PAGES = 120


class ListCalls(Gateway):
    """Any list of the quote hosts."""

    def clist(
        self, fs: str, names: str, read: Callable[[Rows], pd.DataFrame], *, key: str, complete: bool = True
    ) -> pd.DataFrame:
        """All rows of the list `fs` with the fields `names`, page by page; `read` makes a frame of the
        raw rows of one page, `key` is the column that names a row once.

        With `complete` a list that ends before its own `total` (or whose total moves) is a
        `PayloadError`; board lists count wrongly, so they pass False and take what they receive. A list that
        the portal does not know is a `PayloadError` as well."""
        parts: list[pd.DataFrame] = []
        received, total = 0, None
        named = fs.startswith("b:BK")  # a board, whose code comes from the caller
        for page in range(1, _MOST_PAGES + 1):
            got = self._ask(
                lists.clist_request(fs, names, page),
                lists.parse_page,
                what=f"clist {fs} page {page}",
                read=read,
                known=page == 1 and not named,
            )
            parts.append(got.rows)
            received += len(got)
            if complete and len(got) and total not in {None, got.total}:
                raise PayloadError(f"clist {fs}: total moved from {total} to {got.total}", source=self.source)
            total = got.total if total is None else total
            if len(got) < lists.PAGE or (complete and received >= total):
                break
        if complete and received != (total or 0):
            raise PayloadError(f"clist {fs}: {received} of {total} rows", source=self.source)
        return pages_joined(parts, [key], f"clist {fs}")


LISTS = {
    "etf": "b:MK0021,b:MK0022,b:MK0023,b:MK0024,b:MK0827",
    "lof": "b:MK0404,b:MK0405,b:MK0406,b:MK0407",
    "reit": "m:1+t:9+e:97,m:0+t:10+e:97",
}
FUND_FIELDS = (
    *may(fields.read_price, f2="price", f441="iopv"),
    *may(fields.read_ratio, f3="change_pct", f8="turnover_pct"),
    *may(fields.read_lots, f5="volume"),
    *may(fields.read_tally, f6="amount"),
    *may(fields.read_price, f15="high", f16="low"),
    *may(fields.read_wan, f20="total_market_cap"),
    *may(fields.read_count, f38="total_shares"),
    *may(fields.read_net, f62="main_net"),
    *may(fields.read_day, f26="list_date", f297="trade_date"),
)
FUND_COLUMNS = texts("symbol code market sec_type name") | kinds_of(FUND_FIELDS) | {"is_suspended": "b"}


def fund_rows(raws: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows of a list; columns `FUND_COLUMNS`: CNY, shares, 10k CNY, percent. `iopv` of ETFs alone."""
    return listed_rows(raws, FUND_FIELDS, FUND_COLUMNS, "fund list")


# -- Calls for instruments other than shares: convertible bonds, ETFs, LOFs, REITs.


class FundCalls(ListCalls):
    """Lists of bonds and funds."""

    def bond_list(self) -> pd.DataFrame:
        """Convertible bonds that are listed, with price, conversion and triggers of the newest session;
        columns `BOND_COLUMNS`. About five calls."""
        return self.clist(bonds.LIST, fields.wire_fields(bonds.BOND_FIELDS), bonds.bond_rows, key="symbol")

    def bond_terms(self) -> pd.DataFrame:
        """Terms of every convertible bond, past ones too; columns `bonds.TERMS`. About three calls."""
        return self.report(bonds.terms_report(), bonds.TERMS.frame)

    def fund_list(self, kind: str) -> pd.DataFrame:
        """Funds of a kind (`etf`, `lof` or `reit`) with the newest session's figures; columns
        `FUND_COLUMNS`. About fifteen calls for ETFs, five for LOFs, one for REITs."""
        if kind not in LISTS:
            raise InputError("kind", f"{kind!r} is none of {', '.join(LISTS)}")
        names = fields.wire_fields(FUND_FIELDS)
        return self.clist(LISTS[kind], names, fund_rows, key="symbol")
