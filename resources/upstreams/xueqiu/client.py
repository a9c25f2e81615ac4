"""Calls of the social site."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd

from core.errors import PayloadError, Permanent, Refused
from core.market.symbols import Instrument, instrument
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    amount,
    between_extremes,
    check_unit,
    json_of,
    list_of,
    number,
    object_of,
    present,
    price,
    quoted_limits,
    required,
    string_of,
)
from resources.upstreams.parsing.rows import Field, kinds_of, may, not_zero, values_of
from resources.upstreams.upstream_client import UpstreamClient

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

_FOLLOWED = (*may(amount, follow="heat"), *may(number, pct="change_pct"), *may(amount, current="price"))
FOLLOW_COLUMNS = texts("code name") | numbers("rank_no") | kinds_of(_FOLLOWED)
"""`heat`: users that follow the stock."""
MOST = 100
_MARKETS = ("SH", "SZ", "BJ")


def follow_request() -> Request:
    """The hundred stocks of the mainland that are followed most."""
    params = pairs(f"category=CN&size={MOST}&order=desc&order_by=follow&only_count=0&page=1")
    path = "/service/v5/stock/screener/screen"
    return Request("xueqiu.screener", "follow", path, params, label="cn", explained=(400,))


def parse_follow(body: bytes) -> pd.DataFrame:
    """Columns `FOLLOW_COLUMNS`, most followed first. PayloadError for another order."""
    rows = _ranked(body, "followers", "list", "symbol", _FOLLOWED)
    for before, row in pairwise(rows.itertuples()):
        if not row.heat <= before.heat:
            raise PayloadError(f"followers: {row.code} with {row.heat} follows {before.heat}")
    return rows[list(FOLLOW_COLUMNS)]


def _ranked(body: bytes, what: str, part: str, key: str, table: Sequence[Field]) -> pd.DataFrame:
    """The stocks of a list, each once, without advertisements, with their places."""
    data = object_of(data_of(body, what), f"{what} data")

    def read(raw: Any) -> dict[str, Any]:
        item = object_of(raw, f"{what} row")
        symbol = string_of(item.get(key), f"{what} {key}")
        market, code = symbol[:2], symbol[2:]
        if market not in _MARKETS or not (len(code) == 6 and code.isascii() and code.isdigit()):
            raise PayloadError(f"{what}: {symbol[:12]!r} is no stock of the mainland")
        name = string_of(item.get("name"), f"{symbol} name").strip()
        return {"code": code, "name": name, "rank_no": places[symbol], **values_of(item, table, symbol)}

    raws = list_of(data.get(part), f"{what} {part}")
    listed = [raw for raw in raws if not (isinstance(raw, dict) and raw.get("ad"))]
    named = named_by(key)
    # A stock that comes again has the place that it had.
    places = {name: at for at, name in enumerate(dict.fromkeys(map(str, map(named, listed))), start=1)}
    columns = texts("code name") | numbers("rank_no") | kinds_of(table)
    return once_each(frame(accepted_rows(listed, read, what, named), columns), ["code"], what)


# -- hot_stock/list.json: the stocks that are followed most at the moment.

_HOT = (
    *may(number, rank_change="rank_change"),
    *may(amount, value="heat"),
    *may(number, percent="change_pct"),
    *may(amount, current="price"),
)
HOT_COLUMNS = texts("code name") | numbers("rank_no") | kinds_of(_HOT)
_CHINA = "12"


def hot_request() -> Request:
    """The hundred hottest stocks of the mainland."""
    params = (("size", str(MOST)), ("_type", _CHINA), ("type", _CHINA))
    return Request(
        "xueqiu.stock", "hot_list", "/v5/stock/hot_stock/list.json", params, label="cn", explained=(400,)
    )


def parse_hot(body: bytes) -> pd.DataFrame:
    """Columns `HOT_COLUMNS`, hottest first; `rank_no` is the place in the list, without advertisements."""
    return _ranked(body, "hot list", "items", "code", _HOT)[list(HOT_COLUMNS)]


# -- quote.json: one instrument with its valuation; prices CNY, volume shares, amounts and caps CNY.

_cap = partial(amount, scale=1e-4)
_QUOTE = (
    *may(not_zero(price), current="price", open="open", high="high", low="low", last_close="last_close"),
    *may(not_zero(price), limit_up="limit_up", limit_down="limit_down"),
    *may(number, percent="change_pct", turnover_rate="turnover_pct", amplitude="amplitude_pct"),
    *may(
        number,
        dividend_yield="dividend_yield",
        volume_ratio="volume_ratio",
        pe_ttm="pe_ttm",
        pe_lyr="pe_static",
    ),
    *may(number, pe_forecast="pe_dynamic", pb="pb"),
    *may(amount, volume="volume", amount="amount"),
    *may(_cap, market_capital="total_market_cap", float_market_capital="float_market_cap"),
    *may(not_zero(amount), total_shares="total_shares", float_shares="float_shares"),
)
"""CNY, percent, shares; caps 10k CNY."""
QUOTE_COLUMNS: dict[str, str] = {
    **texts("symbol code market name trade_date quote_time"),
    "is_suspended": "b",
    **kinds_of(_QUOTE),
}
_LISTED = 1


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
    values = values_of(quote, _QUOTE, symbol)
    low, high = values["low"], values["high"]
    between_extremes(values["price"], low, high, symbol)
    if what.kind not in {"index", "cb"}:
        check_unit(shares=values["volume"], amount_cny=values["amount"], low=low, high=high, what=symbol)
    limits = quoted_limits(values["limit_up"], values["limit_down"], values["last_close"])
    values["limit_up"], values["limit_down"] = limits
    time = time_of(quote.get("timestamp"), f"{symbol} timestamp")
    row: dict[str, object] = {
        "symbol": symbol,
        "code": what.dataset_code,
        "market": what.market,
        "name": string_of(quote.get("name"), f"{symbol} name").strip(),
        "trade_date": time[:10],
        "quote_time": time,
        "is_suspended": quote.get("status") != _LISTED,
        **values,
    }
    if what.kind == "index":
        row["pb"] = math.nan
    return frame([row], QUOTE_COLUMNS)


T = TypeVar("T")
P = ParamSpec("P")


class XueqiuClient(UpstreamClient):
    """`fetcher` keeps the cookies. Frames have fixed columns also when empty; units as in the data
    dictionary."""

    source = "xueqiu"

    def quote(self, symbol: str) -> pd.DataFrame:
        """One instrument; columns `QUOTE_COLUMNS`, no row for an unknown symbol."""
        return self._ask(quote_request(symbol), parse_quote, symbol=symbol)

    def hot_list(self) -> pd.DataFrame:
        """The hundred hottest stocks of the mainland; columns `HOT_COLUMNS`, one call."""
        return self._ask(hot_request(), parse_hot)

    def followed(self) -> pd.DataFrame:
        """The hundred stocks of the mainland that most users follow; columns `FOLLOW_COLUMNS`, one call."""
        return self._ask(follow_request(), parse_follow)

    def _ask(
        self, request: Request, parse: Callable[Concatenate[bytes, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Ask; without a token that still counts, visit once and ask once more."""
        try:
            return super()._ask(request, parse, *args, **kwargs)
        except TokenExpired:
            for page in visit_requests():
                super()._ask(page, parse_visit)
            return super()._ask(request, parse, *args, **kwargs)
