"""quote.json: one instrument with its valuation; prices CNY, volume shares, amounts and caps CNY."""

import math

import pandas as pd

from core.errors import PayloadError
from core.market.symbols import instrument
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    between_extremes,
    check_unit,
    nothing_to_missing,
    number,
    object_of,
    price,
    string_of,
)
from resources.upstreams.xueqiu.answers import data_of, time_of, wire_symbol

QUOTE_COLUMNS: dict[str, str] = {
    **texts("symbol code market name trade_date quote_time"),
    "is_suspended": "b",
    # CNY
    **numbers("price open high low last_close limit_up limit_down"),
    # percent
    **numbers("change_pct turnover_pct amplitude_pct dividend_yield"),
    # shares, CNY
    **numbers("volume amount volume_ratio pe_ttm pe_static pe_dynamic pb"),
    # 10k CNY, shares
    **numbers("total_market_cap float_market_cap total_shares float_shares"),
}
_RATIOS = {
    "change_pct": "percent",
    "turnover_pct": "turnover_rate",
    "amplitude_pct": "amplitude",
    "dividend_yield": "dividend_yield",
    "volume_ratio": "volume_ratio",
    "pe_ttm": "pe_ttm",
    "pe_static": "pe_lyr",
    "pe_dynamic": "pe_forecast",
    "pb": "pb",
}
_LISTED, _CNY_TO_WAN = 1, 1e-4


def quote_request(symbol: str) -> Request:
    """One instrument. Raises InputError."""
    params = (("symbol", wire_symbol(symbol)), ("extend", "detail"))
    return Request("xueqiu.stock", "quote", "/v5/stock/quote.json", params, label=symbol, explained=(400,))


def parse_quote(body: bytes, symbol: str) -> pd.DataFrame:
    """Columns `QUOTE_COLUMNS`, one row, none for an unknown symbol. PayloadError for another instrument."""
    what = instrument(symbol)
    data = object_of(data_of(body, f"quote {symbol}") or {}, f"quote {symbol} data")
    if data.get("quote") is None:
        return frame([], QUOTE_COLUMNS)
    quote = object_of(data["quote"], f"quote {symbol}")
    stated = string_of(quote.get("symbol"), f"{symbol} symbol")
    if stated != wire_symbol(symbol):
        raise PayloadError(f"quote: {stated[:12]!r} instead of {symbol}")
    last, open_, high, low, last_close, up, down = (
        nothing_to_missing(price(quote.get(name), f"{symbol} {name}"))
        for name in ("current", "open", "high", "low", "last_close", "limit_up", "limit_down")
    )
    between_extremes(last, low, high, symbol)
    volume = amount(quote.get("volume"), f"{symbol} volume")
    money = amount(quote.get("amount"), f"{symbol} amount")
    if what.kind not in {"index", "cb"}:
        check_unit(shares=volume, amount_cny=money, low=low, high=high, what=symbol)
    time = time_of(quote.get("timestamp"), f"{symbol} timestamp")
    row: dict[str, object] = {
        "symbol": symbol,
        "code": what.dataset_code,
        "market": what.market,
        "name": string_of(quote.get("name"), f"{symbol} name").strip(),
        "trade_date": time[:10],
        "quote_time": time,
        "is_suspended": quote.get("status") != _LISTED,
        "price": last,
        "open": open_,
        "high": high,
        "low": low,
        "last_close": last_close,
        "limit_up": up,
        "limit_down": down,
        "volume": volume,
        "amount": money,
        "total_market_cap": amount(quote.get("market_capital"), f"{symbol} cap", scale=_CNY_TO_WAN),
        "float_market_cap": amount(quote.get("float_market_capital"), f"{symbol} cap", scale=_CNY_TO_WAN),
        "total_shares": nothing_to_missing(amount(quote.get("total_shares"), f"{symbol} total_shares")),
        "float_shares": nothing_to_missing(amount(quote.get("float_shares"), f"{symbol} float_shares")),
    }
    for column, name in _RATIOS.items():
        row[column] = number(quote.get(name), f"{symbol} {name}")
    if what.kind == "index":
        row["pb"] = math.nan
    return frame([row], QUOTE_COLUMNS)
