"""getBoardRankList (its `turnover` is the volume, its `volume` the amount) and the tick pages."""

from typing import Any

from simulated_market.tencent.flow import main_net
from simulated_market.tencent.record import two
from simulated_market.wire import HttpRequest, Reply, View, json_reply
from simulated_market.world.model import PRICE_UNIT, Quote, Security

_PAGE = 200
_TICKS_PER_PAGE = 70
_SIDES = {0: "B", 1: "S", 2: "M"}


def rank(request: HttpRequest, view: View) -> Reply:
    params = request.params()
    offset, count = int(params.get("offset", "0")), min(int(params.get("count", "20")), _PAGE)
    stocks = [one for one in view.world.securities(view.now) if one.kind == "stock"]
    quoted = [(one, quote) for one in stocks if (quote := view.world.quote(one, view.now)) is not None]
    sign = -1 if params.get("direct", "down") == "down" else 1
    quoted.sort(key=lambda pair: (sign * pair[1].price, pair[0].symbol))
    page = view.cut(quoted)[offset : offset + count]
    data = {"total": len(quoted), "rank_list": [_row(view, *pair) for pair in page]}
    return json_reply({"code": 0, "msg": "ok", "data": data})


def _row(view: View, security: Security, quote: Quote) -> dict[str, Any]:
    valuation = view.world.valuation(security, view.now)
    flows = view.world.flows(security, view.now)
    last = quote.preclose if quote.suspended else quote.price
    change = last - quote.preclose
    main = main_net(flows[-1]) if flows and flows[-1].date == quote.date else None
    return {
        "code": security.symbol,
        "hsl": two(quote.turnover_pct),
        "lb": two(quote.volume_ratio),
        "ltsz": two(None if valuation is None else valuation.float_market_cap, 1e8),
        "name": quote.name,
        "pn": two(None if valuation is None else valuation.pb),
        "speed": two(quote.speed_pct),
        "stock_type": "GP-A-KCB" if security.board == "star" else "GP-A",
        "turnover": str(quote.volume // view.lot(security.board, 100)),
        "volume": f"{quote.amount / 1e4:.4f}",
        "zd": f"{change / PRICE_UNIT:.2f}",
        "zdf": f"{change / quote.preclose * 100:.2f}" if quote.preclose else "",
        "zf": f"{(quote.high - quote.low) / quote.preclose * 100:.2f}" if quote.preclose else "",
        "zljlr": two(main, 1e4),
        "zsz": two(None if valuation is None else valuation.total_market_cap, 1e8),
        "zxj": f"{last / PRICE_UNIT:.2f}",
    }


def ticks(request: HttpRequest, view: View) -> Reply:
    """Empty before 16:00 and after the last page."""
    params = request.params()
    symbol, page = params.get("c", ""), params.get("p", "0")
    lines = _tick_lines(view, symbol, int(page)) if page.isdigit() else []
    body = f'v_detail_data_{symbol}=[{page},"{"|".join(lines)}"]' if lines else ""
    return Reply(body.encode("gb18030"), "text/html; charset=GBK")


def _tick_lines(view: View, symbol: str, page: int) -> list[str]:
    found = view.quoted(symbol)
    if found is None:
        return []
    security, quote = found
    published = view.now.hour >= 16 or view.now.date() > quote.time.date()
    held = view.world.ticks(security, quote.date, view.now) if published else None
    if held is None:
        return []
    lines, digits, start = [], security.decimals, page * _TICKS_PER_PAGE
    for at in range(start, min(len(held.minute), start + _TICKS_PER_PAGE)):
        minute, price, shares = int(held.minute[at]), int(held.price[at]), int(held.volume[at])
        before = int(held.price[at - 1]) if at else quote.preclose
        clock = f"{minute // 60:02d}:{minute % 60:02d}:{int(held.second[at]):02d}"
        lines.append(
            f"{at}/{clock}/{price / PRICE_UNIT:.{digits}f}/{(price - before) / PRICE_UNIT:.{digits}f}"
            f"/{shares // 100}/{price * shares // PRICE_UNIT}/{_SIDES[int(held.side[at])]}"
        )
    return lines
