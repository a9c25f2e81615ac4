"""hot_stock/list.json: the stocks that are followed most at the moment."""

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, list_of, number, object_of, string_of
from resources.upstreams.xueqiu.answers import data_of

HOT_COLUMNS: dict[str, str] = {
    **texts("code name"),
    **numbers("rank_no rank_change heat change_pct price"),
}
MOST = 100
_CHINA = "12"
_MARKETS = ("SH", "SZ", "BJ")


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
