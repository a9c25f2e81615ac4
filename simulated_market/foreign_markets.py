"""Indices, rates and futures outside the mainland: one quote each, in the formats of two sites."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from simulated_market.economy import Line
from simulated_market.wire import unix

_AMERICA_CLOSES, _KONG_OPENS, _KONG_CLOSES = time(4, 20), time(9, 30), time(16, 8)
_WEEK_ENDS = time(4, 55)
_HIGHER = 0.002


@dataclass(frozen=True)
class Tale:
    """`line` by day; `decimals` as it is quoted."""

    secid: str
    symbol: str
    name: str
    line: Line
    decimals: int


@dataclass(frozen=True)
class ForeignQuote:
    tale: Tale
    at: datetime
    price: float
    before: float

    @property
    def high(self) -> float:
        return max(self.price, self.before) * (1 + _HIGHER)

    @property
    def low(self) -> float:
        return min(self.price, self.before) * (1 - _HIGHER)


TALES = (
    Tale("100.SPX", "gb_$inx", "标普500指数", Line("spx", 6400.0, 350.0, 400, 60.0), 2),
    Tale("100.HSI", "rt_hkHSI", "恒生指数", Line("hsi", 25_000.0, 2_000.0, 300, 300.0), 2),
    Tale("100.UDI", "DINIW", "美元指数", Line("udi", 100.0, 5.0, 700, 0.3), 4),
    Tale("133.USDCNH", "fx_susdcnh", "离岸人民币（香港）", Line("usdcnh", 7.1, 0.15, 500, 0.01), 4),
    Tale("102.CL00Y", "hf_CL", "纽约原油", Line("oil", 70.0, 9.0, 260, 1.2), 2),
    Tale("101.GC00Y", "hf_GC", "纽约黄金", Line("gold", 3_400.0, 250.0, 500, 28.0), 1),
)
_BY_SECID = {one.secid: one for one in TALES}
_BY_SYMBOL = {one.symbol: one for one in TALES}


def quote_of(tale: Tale, now: datetime) -> ForeignQuote:
    """The newest quote: America's of the night before, Hong Kong's of its session, the rest of the day."""
    day, at, share = _moment(tale, now)
    before = day - timedelta(days=1)
    while before.weekday() > 4:
        before -= timedelta(days=1)
    last, close = tale.line.at(before.toordinal()), tale.line.at(day.toordinal())
    price = round(last + (close - last) * share, tale.decimals)
    return ForeignQuote(tale, at, price, round(last, tale.decimals))


def _moment(tale: Tale, now: datetime) -> tuple[date, datetime, float]:
    """(session, time of the quote, how much of the session's move is made)."""
    day = now.date()
    american, kong = tale.symbol.startswith("gb_"), tale.symbol.startswith("rt_hk")
    if american:
        day -= timedelta(days=1 if now.time() >= _AMERICA_CLOSES else 2)
    elif kong and now.time() < _KONG_OPENS:
        day -= timedelta(days=1)
    moved = day.weekday() > 4
    while day.weekday() > 4:
        day -= timedelta(days=1)
    if american:
        return day, datetime.combine(day + timedelta(days=1), _AMERICA_CLOSES), 1.0
    if kong:
        closes = datetime.combine(day, _KONG_CLOSES)
        opens = datetime.combine(day, _KONG_OPENS)
        at = min(now, closes)
        return day, at, (at - opens) / (closes - opens)
    if moved:
        return day, datetime.combine(day + timedelta(days=1), _WEEK_ENDS), 1.0
    return day, now, (now - datetime.combine(day, time())) / timedelta(days=1)


def portal_row(secid: str, names: list[str], now: datetime) -> dict[str, object] | None:
    """A row of ulist with natural decimals; None for any other secid."""
    tale = _BY_SECID.get(secid)
    if tale is None:
        return None
    quote = quote_of(tale, now)
    market, _, code = secid.partition(".")
    digits = tale.decimals
    known: dict[str, object] = {
        "f1": digits,
        "f2": quote.price,
        "f3": round((quote.price / quote.before - 1) * 100, 2),
        "f4": round(quote.price - quote.before, digits),
        "f12": code,
        "f13": int(market),
        "f14": tale.name,
        "f15": round(quote.high, digits),
        "f16": round(quote.low, digits),
        "f17": quote.before,
        "f18": quote.before,
        "f124": unix(quote.at),
    }
    return {name: known.get(name, "-") for name in names}


def site_record(symbol: str, now: datetime) -> str | None:
    """The record of the second quote site; None for any other symbol."""
    tale = _BY_SYMBOL.get(symbol)
    if tale is None:
        return None
    quote = quote_of(tale, now)

    def px(value: float) -> str:
        return f"{value:.{tale.decimals}f}"

    price, before, high, low = map(px, (quote.price, quote.before, quote.high, quote.low))
    change = px(quote.price - quote.before)
    percent = f"{(quote.price / quote.before - 1) * 100:.2f}"
    clock, day = f"{quote.at:%H:%M:%S}", f"{quote.at:%Y-%m-%d}"
    if symbol.startswith("gb_"):
        head = [tale.name, price, percent, f"{day} {clock}", change, before, high, low, high, low, "0", "0"]
        return ",".join([*head, *["0"] * 14, before, "0", "1", day[:4]])
    if symbol.startswith("rt_hk"):
        head = ["HSI", tale.name, before, before, high, low, price, change, percent]
        return ",".join([*head, *["0.000"] * 8, day.replace("-", "/"), clock, "", ""])
    if symbol.startswith("hf_"):
        return ",".join(
            [price, "", price, price, high, low, clock, before, before, "0", "0", "0", day, tale.name, "0"]
        )
    rate = [clock, price, price, before, "100", before, high, low, price, tale.name]
    if symbol.startswith("fx_"):
        rate += [percent, change, "0.001", "", high, low, ""]
    return ",".join([*rate, day])
