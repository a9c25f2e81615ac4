"""The topic portal: limit pools, popularity list, strong stocks. Beijing is not in its pools; a world that
has no minutes (real bars) has no reasons either, and is answered with empty lists."""

import json
import math
from collections.abc import Sequence
from datetime import datetime

from simulated_market import series
from simulated_market.limits import STRONG_PCT, LimitState, newest_session, sessions_before
from simulated_market.popularity import Looked, ranking
from simulated_market.shared_facts import Books
from simulated_market.ths.worth import worth
from simulated_market.wire import HttpRequest, Reply, Route, Row, View, json_reply, route, unix
from simulated_market.world.dates import day_of, iso_of
from simulated_market.world.model import PRICE_UNIT, Security

_KEPT = 245
_POOLS = {"limit_up_pool": "up", "open_limit_pool": "broken", "lower_limit_pool": "down"}
_MARKETS = {"SH": 17, "SZ": 33}
_WEIGHT = 1.5
_SHORT, _LONG = 140, 1800
_FIRST_BOARD = "首板"


class ThsResponder:
    upstream = "ths"

    def __init__(self, books: Books) -> None:
        self._book = books.limits
        self.routes: Sequence[Route] = (
            route("limit_pool", f"/dataapi/limit_up/(?:{'|'.join(_POOLS)})", self.limit_pool),
            route("hot_list", r"/fuyao/hot_list_data/out/hot_list/v1/stock", self.hot_list),
            route("bars", r"/v6/line/hs_\d{6}/00/last(?:1800)?\.js", self.bars),
            route("worth", r"/new/\d{6}/worth\.html", worth),
            route("getharden", r"/event/api/getharden/date/[0-9-]+/orderby/date/.*", self.strong),
        )

    def limit_pool(self, request: HttpRequest, view: View) -> Reply:
        """A page of a pool, a year back at most. For a date to come the newest session's, as `date` says."""
        params = request.params()
        day = min(day_of(params.get("date", "")), newest_session(view))
        ago = sessions_before(view, day)
        pool = _POOLS[request.path.rpartition("/")[2]]
        known = ago is not None and ago <= _KEPT
        found = self._pool(view, day, pool) if known else []
        total = len(found)
        size = max(1, min(200, int(params.get("limit", "15"))))
        page = max(1, int(params.get("page", "1")))
        data = {
            "page": {"limit": size, "total": total, "count": -(-total // size), "page": page},
            "info": [limit_row(one) for one in view.page(found, size, page)],
            "limit_up_count": {"today": self._counts(view, day) if known else {}},
            "date": str(day),
            "trade_status": {"id": "closed", "name": "已收盘", "start_time": "15:30"},
        }
        return json_reply({"status_code": 0, "status_msg": "success", "data": data})

    def hot_list(self, request: HttpRequest, view: View) -> Reply:
        """The popularity of the newest session."""
        found = view.cut(ranking(self._book, view, _WEIGHT))
        rows = [hot_row(one) for one in found]
        return json_reply({"status_code": 0, "data": {"stock_list": rows}, "status_msg": "success"})

    def bars(self, request: HttpRequest, view: View) -> Reply:
        """Unadjusted bars of a security of Shanghai or Shenzhen; a page without a Referer of the portal."""
        if "10jqka.com" not in request.headers.get("referer", ""):
            return Reply(b"<h1>Nginx forbidden.</h1>", "text/html", 403)
        _, _, _, name, kind, file = request.path.split("/")
        code, most = name.removeprefix("hs_"), _LONG if "1800" in file else _SHORT
        found = [view.world.find(f"{market}{code}") for market in ("sh", "sz")]
        known = [one for one in found if one is not None and one.kind != "index"]
        if not known:
            return Reply(b"", status=404)
        lot = view.lot(known[0].board, 1)
        rows = [line_row(bar, lot) for bar in series.daily(view.world, known[0], view.now)[-most:]]
        name_shown = view.world.name(known[0], view.now)
        document = {"total": str(len(rows)), "name": name_shown, "data": ";".join(rows)}
        text = json.dumps(document, separators=(",", ":"))
        call = f"quotebridge_v6_line_{name}_{kind}_{file.removesuffix('.js')}"
        return Reply(f"{call}({text})".encode(), "application/javascript")

    def strong(self, request: HttpRequest, view: View) -> Reply:
        """Strong stocks of a date, every value a text; GBK when asked for."""
        day = day_of(request.path.partition("/date/")[2].partition("/")[0])
        found = [] if sessions_before(view, day) is None else self._book.of_date(view, day)
        strong = [
            one for one in found if one.minutes is not None and (one.up or one.change_pct >= STRONG_PCT)
        ]
        rows = [strong_row(one, number) for number, one in enumerate(strong, start=1)]
        text = json.dumps({"errocode": 0, "errormsg": "", "data": rows or None}, ensure_ascii=False)
        encoding = "gb18030" if "/charset/GBK" in request.path else "utf-8"
        return Reply(text.encode(encoding), "text/html")

    def _pool(self, view: View, day: int, pool: str) -> list[LimitState]:
        found = [one for one in self._book.pool(view, day, pool) if one.security.market in _MARKETS]
        return sorted(found, key=lambda one: (-one.seals.last, one.security.code))

    def _counts(self, view: View, day: int) -> Row:
        up, broken = len(self._pool(view, day, "up")), len(self._pool(view, day, "broken"))
        rate = up / (up + broken) if up + broken else 0.0
        return {"num": up, "history_num": up + broken, "rate": rate, "open_num": broken}


def topics(security: Security) -> list[str]:
    """The reason given for a rise of the stock: two of its concepts, else its industry."""
    return list(security.concepts[:2]) or ([security.industry] if security.industry else [])


def limit_row(one: LimitState) -> Row:
    """A stock of a limit pool: times Unix seconds as text, `high_days_value` (days << 16) | boards."""
    days, boards = one.streak
    seals = one.seals
    quote = one.quote
    return {
        "open_num": seals.breaks or None,
        "first_limit_up_time": _seconds(quote.date, seals.first),
        "code": one.security.code,
        "limit_up_type": board_type(one),
        "order_volume": float(one.queue),
        "is_new": 0,
        "limit_up_suc_rate": one.success,
        "currency_value": round(quote.price / PRICE_UNIT * one.shares[1], 2),
        "market_id": _MARKETS[one.security.market],
        "is_again_limit": int(one.boards > 1),
        "change_rate": round(one.change_pct, 4),
        "turnover_rate": quote.turnover_pct,
        "reason_type": "+".join(topics(one.security)) if one.up else "",
        "order_amount": round(one.queue * quote.price / PRICE_UNIT, 2),
        "high_days": _FIRST_BOARD if boards == 1 else f"{days}天{boards}板" if boards else "",
        "name": one.name,
        "high_days_value": days << 16 | boards,
        "change_tag": "AGAIN_LIMIT" if one.boards > 1 else "LIMIT_BACK" if seals.breaks else "FIRST_LIMIT",
        "market_type": {"main": "HS", "gem": "GEM"}.get(one.security.board, "STAR"),
        "latest": quote.price / PRICE_UNIT,
        "last_limit_up_time": _seconds(quote.date, seals.last),
        "time_preview": [round(one.change_pct, 3)],
    }


def line_row(bar: series.Bar, lot: int) -> str:
    """Date, open, high, low, close, shares, CNY, turnover in percent."""
    prices = (f"{value / PRICE_UNIT:.2f}" for value in (bar.open, bar.high, bar.low, bar.close))
    turnover = "" if math.isnan(bar.turnover) else f"{bar.turnover:.3f}"
    return ",".join(
        (str(bar.date), *prices, str(bar.volume // lot), f"{bar.amount:.2f}", turnover, "", "", "0")
    )


def board_type(one: LimitState) -> str:
    """Sealed all day, opened from the seal and sealed again, or risen to it."""
    quote = one.quote
    if not one.up or quote.open != quote.price:
        return "换手板"
    return "一字板" if quote.low == quote.price else "T字板"


def hot_row(looked: Looked) -> Row:
    one = looked.state
    days, boards = one.streak
    tag: Row = {"concept_tag": list(one.security.concepts[:3])}
    if boards > 1:
        tag["popularity_tag"] = f"{days}天{boards}板"
    return {
        "market": _MARKETS.get(one.security.market, 151),
        "code": one.security.code,
        "rate": f"{looked.heat:.1f}",
        "rise_and_fall": round(one.change_pct, 4),
        "name": one.name,
        "hot_rank_chg": looked.rose,
        "order": looked.rank,
        "tag": tag,
    }


def strong_row(one: LimitState, number: int) -> Row:
    """A strong stock; the large orders' net in percent of the amount."""
    quote = one.quote
    return {
        "id": str(number),
        "name": one.name,
        "code": one.security.code,
        "reason": "+".join(topics(one.security)),
        "date": iso_of(quote.date),
        "market": str(_MARKETS.get(one.security.market, 151)),
        "close": f"{quote.price / PRICE_UNIT:.2f}",
        "zhangdie": f"{(quote.price - quote.preclose) / PRICE_UNIT:.2f}",
        "zhangfu": f"{one.change_pct:.4f}",
        "huanshou": f"{quote.turnover_pct or 0.0:.4f}",
        "chengjiaoe": f"{quote.amount:.2f}",
        "chengjiaoliang": str(quote.volume),
        "ddejingliang": f"{one.main_share:.2f}",
    }


def _seconds(day: int, clock: int) -> str:
    """Unix seconds of HHMMSS on a date; '' for never."""
    return str(unix(datetime.strptime(f"{day}{clock:06d}", "%Y%m%d%H%M%S"))) if clock else ""
