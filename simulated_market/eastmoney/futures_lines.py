"""kline of futures contracts: volume in contracts, money in CNY, f63 open interest."""

from simulated_market.eastmoney import envelope
from simulated_market.futures.book import Contract, of_date
from simulated_market.wire import HttpRequest, Reply, View
from simulated_market.world.dates import iso_of

_MARKETS = {"8": "cffex", "113": "shfe", "114": "dce", "115": "czce", "142": "ine", "225": "gfex"}
_MOST_DATES = 30


def kline(request: HttpRequest, view: View) -> Reply | None:
    """Daily bars of a contract, in the order of fields2; None for a secid of another market."""
    params = request.params()
    market, _, symbol = params.get("secid", "").partition(".")
    exchange = _MARKETS.get(market)
    if exchange is None or params.get("klt") != "101":
        return None
    first, last = int(params.get("beg") or 0), int(params.get("end") or 20500101)
    dates = [int(day) for day in view.world.trade_dates() if first <= int(day) <= last][-_MOST_DATES:]
    lines, name = [], ""
    for day in dates:
        for one in of_date(view, exchange, day):
            if f"{one.product.code}{one.month}" == symbol and one.volume:
                name = f"{one.product.name}{one.month}"
                lines.append(_line(one, day, params.get("fields2", "")))
    if not lines:
        return envelope.reply(request, envelope.RT_KLINE, None, rc=100)
    named = {"code": symbol, "market": int(market), "name": name}
    return envelope.bars_reply(request, named, lines, decimals=2)


def _line(one: Contract, day: int, fields: str) -> str:
    values = {
        "f51": iso_of(day),
        "f52": f"{one.open}",
        "f53": f"{one.close}",
        "f54": f"{one.high}",
        "f55": f"{one.low}",
        "f56": f"{one.volume}",
        "f57": f"{one.turnover * 1e4:.2f}",
        "f63": f"{one.held}",
    }
    return ",".join(values.get(name, "0") for name in fields.split(","))
