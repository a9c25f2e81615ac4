"""Calls for instruments other than shares: convertible bonds, ETFs, LOFs, REITs."""

import pandas as pd

from core.errors import InputError
from resources.upstreams.eastmoney.quotes import funds
from resources.upstreams.eastmoney.quotes.fields import wire_fields
from resources.upstreams.eastmoney.quotes.list_calls import ListCalls
from resources.upstreams.eastmoney.reports import bonds


class FundCalls(ListCalls):
    """Lists of bonds and funds."""

    def bond_list(self) -> pd.DataFrame:
        """Convertible bonds that are listed, with price, conversion and triggers of the newest session;
        columns `BOND_COLUMNS`. About five calls."""
        return self.clist(bonds.LIST, wire_fields(bonds.BOND_FIELDS), bonds.bond_rows, key="symbol")

    def bond_terms(self) -> pd.DataFrame:
        """Terms of every convertible bond, also of those that are gone; columns `bonds.TERMS`. About three
        calls."""
        return self.report(bonds.terms_report(), bonds.TERMS.frame)

    def fund_list(self, kind: str) -> pd.DataFrame:
        """Funds of a kind (`etf`, `lof` or `reit`) with the newest session's figures; columns
        `FUND_COLUMNS`. About fifteen calls for ETFs, five for LOFs, one for REITs."""
        if kind not in funds.LISTS:
            raise InputError("kind", f"{kind!r} is none of {', '.join(funds.LISTS)}")
        names = wire_fields(funds.FUND_FIELDS)
        return self.clist(funds.LISTS[kind], names, funds.fund_rows, key="symbol")
