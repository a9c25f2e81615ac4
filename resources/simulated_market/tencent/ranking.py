"""getBoardRankList (its `turnover` is the volume, its `volume` the amount) and the tick pages."""

from typing import Any

from resources.simulated_market.tencent.record import two
from resources.simulated_market.wire import HttpRequest, Reply, View, json_reply
from resources.simulated_market.world.model import PRICE_UNIT, Quote, Security

_PAGE = 200
_TICKS_PER_PAGE = 70
_SIDES = {0: "B", 1: "S", 2: "M"}


def rank(request: HttpRequest, view: View) -> Reply:
    params = request.params()
    offset, count = int(params.get("offset", "0")), min(int(params.get("count", "20")), _PAGE)
    quoted = []
    for security in view.world.securities(view.now):
        quote = view.world.quote(security, view.now) if security.kind == "stock" else None
        if quote is not None:
            quoted.append((security, quote))
    down = params.get("direct", "down") == "down"
    quoted.sort(key=lambda pair: (-pair[1].price if down else pair[1].price, pair[0].symbol))
    page = view.cut(quoted)[offset : offset + count]
    data = {"total": len(quoted), "rank_list": [_row(view, *pair) for pair in page]}
    return json_reply({"code": 0, "msg": "ok", "data": data})


def _row(view: View, security: Security, quote: Quote) -> dict[str, Any]:
    valuation = view.world.valuation(security, view.now)
    flows = view.world.flows(security, view.now)
    last = quote.preclose if quote.suspended else quote.price
    change = last - quote.preclose
    main = None
    if flows and flows[-1].date == quote.date:
        flow = flows[-1]
        main = flow.super_large_in - flow.super_large_out + flow.large_in - flow.large_out
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
    security = view.world.find(symbol)
    quote = None if security is None else view.world.quote(security, view.now)
    published = quote is not None and (view.now.hour >= 16 or view.now.date() > quote.time.date())
    held = view.world.ticks(security, quote.date, view.now) if security and quote and published else None
    if security is None or quote is None or held is None or not page.isdigit():
        return Reply(b"", "text/html; charset=GBK")
    lines = []
    before = quote.preclose
    start = int(page) * _TICKS_PER_PAGE
    for at in range(min(len(held.minute), start + _TICKS_PER_PAGE)):
        price, shares = int(held.price[at]), int(held.volume[at])
        if at >= start:
            minute = int(held.minute[at])
            clock = f"{minute // 60:02d}:{minute % 60:02d}:{int(held.second[at]):02d}"
            digits = security.decimals
            money = price * shares // PRICE_UNIT
            lines.append(
                f"{at}/{clock}/{price / PRICE_UNIT:.{digits}f}/{(price - before) / PRICE_UNIT:.{digits}f}"
                f"/{shares // 100}/{money}/{_SIDES[int(held.side[at])]}"
            )
        before = price
    if not lines:
        return Reply(b"", "text/html; charset=GBK")
    body = f'v_detail_data_{symbol}=[{page},"{"|".join(lines)}"]'
    return Reply(body.encode("gb18030"), "text/html; charset=GBK")
