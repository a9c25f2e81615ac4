"""DailyStat: a script that assigns the stock connect of a date; 404 where there is none."""

import json
import re
from typing import Any

from simulated_market import connect_days
from simulated_market.connect_days import UNDISCLOSED_FROM, Channel
from simulated_market.days import is_out
from simulated_market.wire import HttpRequest, Reply, Site, View, route
from simulated_market.world.dates import iso_of

PUBLISHED = "17:30"
_FILE = re.compile(r".*data_tab_daily_(\d{8})c\.js")
_MARKETS = {
    "hgt": "SSE Northbound", "sgt": "SZSE Northbound",
    "ggt_sh": "SSE Southbound", "ggt_sz": "SZSE Southbound",
}  # fmt: skip
_NOT_FOUND = Reply(b"<html><body>404 Not Found</body></html>", "text/html", 404)


def daily(request: HttpRequest, view: View) -> Reply:
    found = _FILE.fullmatch(request.path)
    day = int(found.group(1)) if found else 0
    channels = connect_days.of_date(view, day) if is_out(view, day, PUBLISHED) else []
    if not channels:
        return _NOT_FOUND
    parts = [part_of(one, day, number) for number, one in enumerate(channels)]
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return Reply(f"tabData = {text};\n".encode(), "application/javascript")


def part_of(one: Channel, day: int, number: int) -> dict[str, Any]:
    """Northbound: turnover, deals, quota, turnover of funds; southbound: both sides as well."""
    hidden = one.northbound and day >= UNDISCLOSED_FROM
    quota = "999,999,999" if hidden else _shown(one.quota_left)
    figures = {"Total Turnover": _shown(one.turnover)}
    if not hidden:
        figures |= {"Buy Turnover": _shown(one.bought), "Sell Turnover": _shown(one.sold)}
    figures |= {"Total Trade Count": f"{one.deals:,}", "DQB": quota}
    if one.northbound:
        figures["ETF Turnover"] = _shown(one.turnover * 0.02)
    table = {
        "classname": "tradingTable",
        "schema": [list(figures)],
        "tr": [{"td": [[value]]} for value in figures.values()],
    }
    return {
        "id": number,
        "date": iso_of(day),
        "market": _MARKETS[one.name],
        "tradingDay": 1,
        "content": [{"style": 1, "table": table}],
    }


def _shown(value: float) -> str:
    return f"{value:,.2f}"


HKEX = Site("hkex", (route("daily", r"/chi/csm/DailyStat/data_tab_daily_\d{8}c\.js", daily),))
