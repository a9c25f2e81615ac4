"""Block trades (大宗交易), a report of the data centre. Equal lines of one day are different deals."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.gateway import Report, among, code_of, day_of, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, price, promised, required, string_of

DEAL_COLUMNS: dict[str, str] = {
    **texts("code date buyer seller"),
    **numbers("price close premium_pct volume amount"),
}
"""CNY and shares; `premium_pct` percent of the close."""
_A_SHARES = "1"
_FIELDS = ("SECURITY_CODE", "TRADE_DATE", "DEAL_PRICE", "CLOSE_PRICE", "DEAL_VOLUME", "DEAL_AMT",
           "BUYER_NAME", "SELLER_NAME")  # fmt: skip
_PROMISED = (
    "SECURITY_CODE",
    "TRADE_DATE",
    "DEAL_PRICE",
    "DEAL_VOLUME",
    "DEAL_AMT",
    "BUYER_NAME",
    "SELLER_NAME",
)
"""These columns together identify a deal; the close is not among them, since it is the stock's."""
_SLACK = 0.01


def deals_report(since: str, until: str, codes: Sequence[str] | None = None) -> Report:
    """All deals in A shares between two dates, or those of some codes. Equal lines are ordinary and cannot be
    distinguished, so duplicates are not checked; the count of the report is."""
    where = (
        f"(SECURITY_TYPE_WEB={_A_SHARES})",
        on_day("TRADE_DATE", since, ">="),
        on_day("TRADE_DATE", until, "<="),
        *(() if codes is None else (among("SECURITY_CODE", codes),)),
    )
    sort = ("TRADE_DATE", "SECURITY_CODE", "DEAL_PRICE", "DEAL_VOLUME", "BUYER_NAME", "SELLER_NAME")
    return Report("RPT_DATA_BLOCKTRADE", _FIELDS, where, sort=sort, key=())


def deal_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `DEAL_COLUMNS`. PayloadError when price x volume is not the amount."""
    return frame([_row(row) for row in rows], DEAL_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _PROMISED, "block trade")
    code = code_of(row["SECURITY_CODE"], "block trade")
    what = f"block trade {code}"
    paid = required(price(row["DEAL_PRICE"], f"{what} DEAL_PRICE"), f"{what} DEAL_PRICE")
    volume = required(amount(row["DEAL_VOLUME"], f"{what} DEAL_VOLUME"), f"{what} DEAL_VOLUME")
    total = required(amount(row["DEAL_AMT"], f"{what} DEAL_AMT"), f"{what} DEAL_AMT")
    close = price(row.get("CLOSE_PRICE"), f"{what} CLOSE_PRICE")
    if abs(paid * volume - total) > 1 + _SLACK * total:
        raise PayloadError(f"{what}: DEAL_PRICE x DEAL_VOLUME is not DEAL_AMT: another unit")
    made: dict[str, Any] = {
        "code": code,
        "date": day_of(row["TRADE_DATE"], f"{what} TRADE_DATE"),
        "buyer": _branch(row["BUYER_NAME"], f"{what} BUYER_NAME"),
        "seller": _branch(row["SELLER_NAME"], f"{what} SELLER_NAME"),
        "price": paid,
        "close": close,
        "volume": volume,
        "amount": total,
    }
    if close > 0:
        # The scale of the report's own PREMIUM_RATIO is not documented.
        made["premium_pct"] = round((paid / close - 1) * 100, 4) + 0.0
    return made


def _branch(value: Any, what: str) -> str | None:
    return None if value is None else string_of(value, what).strip() or None
