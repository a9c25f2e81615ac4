"""Calls of the social site."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import pandas as pd

from core.errors import PayloadError, Permanent, Refused
from core.market.symbols import Instrument, instrument
from resources.transport.request import Fetcher, Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    between_extremes,
    check_unit,
    json_of,
    list_of,
    nothing_to_missing,
    number,
    object_of,
    present,
    price,
    required,
    string_of,
)

# -- What all answers of the social site share: the visitor's token, its errors, block pages, symbols,
# times.

_EXPIRED = "400016"
_LOGIN = "10022"
_SITE = "雪球".encode()
"""Part of the title of every page."""


class TokenExpired(Permanent):
    """The visitor's token is missing or too old: a visit brings another one."""


def visit_requests() -> tuple[Request, Request]:
    """The two pages of a visit: the first brings the site's own cookies, the second, asked with them, the
    token. Cookies stay in the transport and are stored nowhere."""
    return (
        Request("xueqiu.home", "visit", "/", label="cookies"),
        Request("xueqiu.home", "visit", "/hq", label="token"),
    )


def parse_visit(body: bytes) -> int:
    """Bytes of the page; what matters came in its headers. Refused for the slider of a blocked client,
    PayloadError for what is no whole page: its cookies are not those of a visit."""
    text = body.strip().lower()
    if text[:9] == b"<textarea":
        raise Refused("a slider instead of the page")
    if text[:1] != b"<" or not text.endswith(b"</html>"):
        raise PayloadError(f"no page but {text[:40]!r}")
    if _SITE not in body:
        raise Refused("a block page in front of the site")
    return len(body)


def data_of(body: bytes, what: str) -> Any:
    """`data` of an answer. TokenExpired, Refused (block page, or only for users who log in)."""
    if present(body)[:1] == b"<":
        raise Refused(f"{what}: a page instead of data")
    document = object_of(json_of(body), what)
    code = str(document.get("error_code", ""))
    if code == _EXPIRED:
        raise TokenExpired(f"{what}: the visitor's token is missing or too old")
    if code == _LOGIN:
        raise Refused(f"{what}: only for users who log in")
    if code not in {"0", ""}:
        raise PayloadError(f"{what}: error {code[:12]} {str(document.get('error_description'))[:60]}")
    if "data" not in document:
        raise PayloadError(f"{what} has no data")
    return document["data"]


def wire_symbol(symbol: str) -> str:
    """SH600519 of a mainland symbol, 00700 of Hong Kong."""
    what: Instrument = instrument(symbol)
    return what.code if what.market in {"HK", "US"} else f"{what.market}{what.code}"


def time_of(value: Any, what: str) -> str:
    """Milliseconds since 1970 as local exchange time."""
    seconds = required(number(value, what, digits=0), what) / 1000
    try:
        when = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) + timedelta(hours=8)
    except (OverflowError, ValueError, OSError) as error:
        raise PayloadError(f"{what} is no time: {value!r}") from error
    if not 1985 <= when.year <= 2100:
        raise PayloadError(f"{what} is no valid time: {value!r}")
    return when.strftime("%Y-%m-%d %H:%M:%S")


# -- screener/screen ordered by followers: the stocks that most users of the site follow.

FOLLOW_COLUMNS: dict[str, str] = {**texts("code name"), **numbers("rank_no heat change_pct price")}
"""`heat`: users that follow the stock."""
MOST = 100
_MARKETS = ("SH", "SZ", "BJ")


def follow_request() -> Request:
    """The hundred stocks of the mainland that are followed most."""
    params = (
        ("category", "CN"),
        ("size", str(MOST)),
        ("order", "desc"),
        ("order_by", "follow"),
        ("only_count", "0"),
        ("page", "1"),
    )
    path = "/service/v5/stock/screener/screen"
    return Request("xueqiu.screener", "follow", path, params, label="cn", explained=(400,))


def parse_follow(body: bytes) -> pd.DataFrame:
    """Columns `FOLLOW_COLUMNS`, most followed first. PayloadError for another order."""
    data = object_of(data_of(body, "followers"), "followers data")
    rows: list[dict[str, object]] = []
    last = float("inf")
    for raw in list_of(data.get("list"), "followers list"):
        item = object_of(raw, "followers row")
        symbol = string_of(item.get("symbol"), "followers symbol")
        market, code = symbol[:2], symbol[2:]
        if market not in _MARKETS or not (len(code) == 6 and code.isascii() and code.isdigit()):
            raise PayloadError(f"followers: {symbol[:12]!r} is no stock of the mainland")
        follow = amount(item.get("follow"), f"{symbol} follow")
        if not follow <= last:
            raise PayloadError(f"followers: {symbol} with {follow} follows {last}")
        last = follow
        rows.append(
            {
                "code": code,
                "name": string_of(item.get("name"), f"{symbol} name").strip(),
                "rank_no": len(rows) + 1,
                "heat": follow,
                "change_pct": number(item.get("pct"), f"{symbol} pct"),
                "price": amount(item.get("current"), f"{symbol} current"),
            }
        )
    if len({row["code"] for row in rows}) != len(rows):
        raise PayloadError("followers: a stock appears twice")
    return frame(rows, FOLLOW_COLUMNS)


# -- hot_stock/list.json: the stocks that are followed most at the moment.

HOT_COLUMNS: dict[str, str] = {
    **texts("code name"),
    **numbers("rank_no rank_change heat change_pct price"),
}
_CHINA = "12"


def hot_request() -> Request:
    """The hundred hottest stocks of the mainland."""
    params = (("size", str(MOST)), ("_type", _CHINA), ("type", _CHINA))
    return Request(
        "xueqiu.stock", "hot_list", "/v5/stock/hot_stock/list.json", params, label="cn", explained=(400,)
    )


def parse_hot(body: bytes) -> pd.DataFrame:
    """Columns `HOT_COLUMNS`, hottest first; `rank_no` is the place in the list, without advertisements."""
    data = object_of(data_of(body, "hot list"), "hot list data")
    rows: list[dict[str, object]] = []
    for raw in list_of(data.get("items"), "hot list items"):
        item = object_of(raw, "hot list row")
        symbol = string_of(item.get("code"), "hot list code")
        market, code = symbol[:2], symbol[2:]
        if market not in _MARKETS or not (len(code) == 6 and code.isascii() and code.isdigit()):
            raise PayloadError(f"hot list: {symbol[:12]!r} is no stock of the mainland")
        if item.get("ad"):
            continue
        rows.append(
            {
                "code": code,
                "name": string_of(item.get("name"), f"{symbol} name").strip(),
                "rank_no": len(rows) + 1,
                "rank_change": number(item.get("rank_change"), f"{symbol} rank_change"),
                "heat": amount(item.get("value"), f"{symbol} value"),
                "change_pct": number(item.get("percent"), f"{symbol} percent"),
                "price": amount(item.get("current"), f"{symbol} current"),
            }
        )
    if len({row["code"] for row in rows}) != len(rows):
        raise PayloadError("hot list: a stock appears twice")
    return frame(rows, HOT_COLUMNS)


# -- quote.json: one instrument with its valuation; prices CNY, volume shares, amounts and caps CNY.

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


T = TypeVar("T")


class XueqiuClient:
    """`fetcher` is a transport bound to the log of one piece of work; it keeps the cookies. Frames have
    fixed columns also when empty; units as in the data dictionary."""

    source = "xueqiu"

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def quote(self, symbol: str) -> pd.DataFrame:
        """One instrument; columns `QUOTE_COLUMNS`, no row for an unknown symbol."""
        return self._ask(quote_request(symbol), partial(parse_quote, symbol=symbol))

    def hot_list(self) -> pd.DataFrame:
        """The hundred hottest stocks of the mainland; columns `HOT_COLUMNS`, one call."""
        return self._ask(hot_request(), parse_hot)

    def followed(self) -> pd.DataFrame:
        """The hundred stocks of the mainland that most users follow; columns `FOLLOW_COLUMNS`, one call."""
        return self._ask(follow_request(), parse_follow)

    def _ask(self, request: Request, parse: Callable[[bytes], T]) -> T:
        """Ask; without a token that still counts, visit once and ask once more."""
        try:
            return self._fetcher.call(request, parse)
        except TokenExpired:
            for page in visit_requests():
                self._fetcher.call(page, parse_visit)
            return self._fetcher.call(request, parse)
