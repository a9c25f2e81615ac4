"""The ~-separated snapshot record: 88 fields for mainland securities, 11 in the short form."""

from dataclasses import dataclass
from datetime import time

import numpy as np

from simulated_market import after_hours, funds, index_values
from simulated_market.index_values import IndexValue
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Quote, Security, Valuation

_MARKET_IDS = {"SH": "1", "SZ": "51", "BJ": "62"}
_TYPES = {"index": "ZS", "etf": "ETF", "lof": "LOF", "cb": "ZQ", "b": "GP-B", "reit": "REIT"}
_WINDOWS = (5, 10, 20, 60, 250)
_STAMPED = time(16, 14), 66
"""When the records of a session get their last stamp, and within how many seconds."""


@dataclass(frozen=True)
class Past:
    """The part of a record about earlier days: closes some days back, the last close of the year
    before, and the range of a year. 0 = unknown. `members`: what an index says of them."""

    closes: dict[int, int]
    year_close: int
    high: int
    low: int
    members: IndexValue | None = None

    def windows(self) -> list[tuple[int, int]]:
        """(field, close from which its change is counted)."""
        fields = ((63, 5), (69, 10), (70, 20), (71, 60), (75, 250), (79, 250))
        return [(62, self.year_close), *((at, self.closes.get(back, 0)) for at, back in fields)]


def past_of(view: View, security: Security, day: int) -> Past:
    held = index_values.value_of(view.world, security, view.now) if security.kind == "index" else None
    bars = view.world.bars(security, view.now)
    keep = np.flatnonzero((bars.date < day) & bars.traded)
    if not len(keep):
        return Past({}, 0, 0, 0, held)
    close = bars.close[keep]
    before = np.flatnonzero(bars.date[keep] < day // 10_000 * 10_000)
    return Past(
        closes={back: int(close[-back]) for back in _WINDOWS if len(close) >= back},
        year_close=int(close[before[-1]]) if len(before) else 0,
        high=int(bars.high[keep][-250:].max()),
        low=int(bars.low[keep][-250:].min()),
        members=held,
    )


def lot_of(security: Security, view: View) -> int:
    """Shares per unit of volume: lots, but shares on STAR; bonds trade in lots of 10."""
    if security.board == "star":
        return view.lot("star", 1)
    return view.lot(security.board, 10 if security.kind == "cb" else 100)


def record(view: View, security: Security, quote: Quote, past: Past) -> list[str]:
    """The 88 fields, the last one empty (STAR: 100)."""
    digits = security.decimals
    index = security.kind == "index"
    valuation = None if index else view.world.valuation(security, view.now)
    traded = not quote.suspended and quote.volume > 0
    last = quote.preclose if quote.suspended or not quote.price else quote.price
    high, low, open_ = (quote.high, quote.low, quote.open) if traded else (0, 0, 0)
    lot, money = lot_of(security, view), quote.amount
    volume = str(quote.volume // lot)
    bid, ask = _depth(quote.bids), _depth(quote.asks)

    def px(value: int) -> str:
        return f"{value / PRICE_UNIT:.{digits}f}"

    def since(close: int) -> str:
        return f"{(last / close - 1) * 100:.2f}" if close else ""

    fields = [""] * 88
    fields[0:9] = [
        _MARKET_IDS[security.market],
        quote.name,
        security.code,
        px(last),
        px(quote.preclose),
        px(open_),
        volume,
        "0" if index else str(quote.outer_volume // lot),
        "0" if index else str(quote.inner_volume // lot),
    ]
    fields[9:19] = _levels(quote.bids, digits)
    fields[19:29] = _levels(quote.asks, digits)
    fields[30] = after_hours.stamp(quote, view.now, *_STAMPED).strftime("%Y%m%d%H%M%S")
    fields[31] = px(last - quote.preclose)
    fields[32] = since(quote.preclose)
    fields[33] = fields[41] = px(high)
    fields[34] = fields[42] = px(low)
    fields[35] = f"{px(last)}/{volume}/{money:.0f}"
    fields[36] = volume
    fields[37] = f"{money / 1e4:.0f}"
    fields[38] = two(quote.turnover_pct)
    fields[40] = "S" if quote.suspended else ""
    fields[43] = f"{(high - low) / quote.preclose * 100:.2f}" if quote.preclose else ""
    fields[47] = "-1" if quote.limit_up is None else px(quote.limit_up)
    fields[48] = "-1" if quote.limit_down is None else px(quote.limit_down)
    fields[49] = two(quote.volume_ratio)
    fields[50] = str(bid - ask)
    fields[51] = f"{money / quote.volume:.{digits}f}" if quote.volume and not index else px(last)
    fields[57:60] = [f"{money / 1e4:.4f}", *_late(view, security, quote, lot)]
    shanghai = security.market == "SH" and not index
    fields[60] = "A RA" if security.board == "star" else "   A" if shanghai else " "
    fields[61] = _type(security)
    yearly = (max(past.high, high), min(past.low, low) if low and past.low else past.low or low)
    fields[67], fields[68] = px(yearly[0]), px(yearly[1])
    for at, close in past.windows():
        fields[at] = since(close)
    fields[74] = f"{(bid - ask) / (bid + ask) * 100:.2f}" if bid + ask else ""
    fields[80] = two(quote.speed_pct)
    fields[82:87] = ["CNY", "0", "___D__F__N" if shanghai else "", "0.00" if index else px(last), "0"]
    if security.board == "star":
        fields[84], fields[87] = "___D__F__NY", "100"
    if security.kind in funds.KINDS:
        _fund(fields, view, security, quote)
    if valuation is not None:
        _value(fields, view, security, valuation)
    elif past.members is not None:
        _index(fields, past.members, quote)
    return fields


def short(view: View, security: Security, quote: Quote) -> list[str]:
    """The `s_` form."""
    full = record(view, security, quote, Past({}, 0, 0, 0))
    return [*full[0:4], full[31], full[32], full[6], full[37], "", full[45], full[61]]


def _value(fields: list[str], view: View, security: Security, held: Valuation) -> None:
    fields[39] = two(held.pe_ttm)
    fields[44] = two(held.float_market_cap, 1e8)
    fields[45] = two(held.total_market_cap, 1e8)
    fields[46] = two(held.pb) or "0.00"
    fields[52] = two(held.pe_dynamic)
    fields[53] = two(held.pe_static)
    fields[56] = "0.00" if security.kind == "stock" else ""
    fields[64] = two(held.dividend_yield)
    fields[72] = fields[76] = str(held.float_shares)
    fields[73] = str(held.total_shares)
    finance = view.world.finance(security, view.now)
    if finance is not None:
        fields[65] = two(_percent(finance.net_profit, finance.net_assets))
        fields[66] = two(_percent(finance.net_profit, finance.total_assets))


def _late(view: View, security: Security, quote: Quote, lot: int) -> list[str]:
    """Amount in 10,000 CNY and volume of the session after hours."""
    shares, money = after_hours.traded(security, quote, view.now)
    return [f"{money / 1e4:.4f}", str(shares // lot)]


def _index(fields: list[str], held: IndexValue, quote: Quote) -> None:
    """An index has the turnover, ratio and caps of its members, and no book."""
    fields[38] = two(quote.volume / held.float_shares * 100 if held.float_shares else None)
    fields[39] = two(held.pe_ttm)
    fields[44] = two(held.float_market_cap, 1e8)
    fields[45] = two(held.total_market_cap, 1e8)
    fields[46] = "0.00"
    fields[72] = fields[76] = str(held.float_shares)
    up, down = quote.up_count, quote.down_count
    fields[74] = f"{(up - down) / (up + down) * 100:.2f}" if up + down else ""


def _fund(fields: list[str], view: View, security: Security, quote: Quote) -> None:
    """Units, the premium over the value and the value of the session before; of ETFs also that of now."""
    total, floating = view.world.shares(security, view.now)
    value = funds.nav(view, security, quote)
    fields[72] = fields[76] = str(floating or "")
    fields[73] = str(total or "")
    if quote.price and not quote.suspended:
        fields[77] = two(funds.premium_pct(security, quote.date))
        if security.kind == "etf":
            fields[78] = f"{funds.iopv(security, quote):.4f}"
    fields[81] = "" if value is None else f"{value:.4f}"


def _percent(part: float, whole: float) -> float | None:
    return part / whole * 100 if whole > 0 else None


def _type(security: Security) -> str:
    if security.kind == "stock":
        return {"star": "GP-A-KCB", "gem": "GP-A-CYB"}.get(security.board, "GP-A")
    return _TYPES[security.kind]


def two(value: float | None, unit: float = 1.0) -> str:
    """A figure in `unit` with two decimals; an empty text for none."""
    return "" if value is None or value != value else f"{value / unit:.2f}"  # noqa: PLR0124  NaN


def _depth(levels: tuple[tuple[int, int], ...]) -> int:
    return sum(shares // 100 for _, shares in levels)


def _levels(levels: tuple[tuple[int, int], ...], digits: int) -> list[str]:
    """Five levels; a missing one is 0.00 and 0."""
    held = [*levels, *((0, 0) for _ in range(5))][:5]
    return [text for price, size in held for text in (f"{price / PRICE_UNIT:.{digits}f}", str(size // 100))]
