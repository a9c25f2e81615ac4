"""screener/screen ordered by followers: the stocks that most users of the site follow."""

import pandas as pd

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, list_of, number, object_of, string_of
from resources.upstreams.xueqiu.answers import data_of

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
