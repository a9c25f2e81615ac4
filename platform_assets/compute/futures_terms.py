"""Terms of futures contracts: months, last days, main contracts. Pure."""

import re
from datetime import date, timedelta

import pandas as pd

INDEX_OF = {"IF": "sh000300", "IH": "sh000016", "IC": "sh000905", "IM": "sh000852"}
"""Product -> the index that it settles on."""
_SYMBOL = re.compile(r"([A-Za-z]{1,3})(\d{2})(\d{2})")
DAYS_A_YEAR = 365


def last_day(symbol: str) -> str | None:
    """The third Friday of the contract's month, on which a future on an index settles (a holiday moves it on;
    that is not known here); None for what is no contract."""
    found = _SYMBOL.fullmatch(symbol)
    if found is None or not 1 <= int(found.group(3)) <= 12:
        return None
    first = date(2000 + int(found.group(2)), int(found.group(3)), 1)
    return (first + timedelta(days=(4 - first.weekday()) % 7 + 14)).isoformat()


def annualised(basis: float, spot: float, day: str, symbol: str) -> float | None:
    """A basis as percent of the spot a year; None from the contract's last day on."""
    end = last_day(symbol)
    if end is None or spot <= 0:
        return None
    left = (date.fromisoformat(end) - date.fromisoformat(day)).days
    return round(basis / spot * DAYS_A_YEAR / left * 100, 4) if left > 0 else None


def main_of_day(rows: pd.DataFrame) -> pd.Series:
    """Which rows (date, product, open_interest, volume_contracts, symbol) are the contract of their product
    that is held most on their date: the more traded of equals, then the nearer one."""
    order = rows.sort_values(
        ["open_interest", "volume_contracts", "symbol"], ascending=[False, False, True], kind="stable"
    )
    return rows.index.to_series().isin(order.drop_duplicates(["date", "product"]).index)
