"""Popularity ranking of the portal's app: the hundred most looked-at stocks of this moment."""

import json
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import json_of, list_of, number, object_of, string_of, whole

MOST = 100
RANK_COLUMNS: dict[str, str] = {**texts("symbol code"), **numbers("rank_no rank_change")}

# Not secrets: they name the app, and every copy of it sends the same.
_APP = {"appId": "appId01", "globalId": "786e4c21-70dc-435a-93bb-38"}


def ranking_request() -> Request:
    """The first hundred."""
    asked = {**_APP, "marketType": "", "pageNo": 1, "pageSize": MOST}
    return Request(
        "eastmoney.app",
        "popularity",
        "/stockrank/getAllCurrentList",
        label="all",
        method="POST",
        headers=(("Content-Type", "application/json"),),
        content=json.dumps(asked).encode(),
    )


def parse_ranking(body: bytes) -> pd.DataFrame:
    """Columns `RANK_COLUMNS`, best first; rows without a rank are dropped. `rank_change` above 0 = rose."""
    document = object_of(json_of(body), "popularity")
    status = document.get("status")
    if type(status) is not int or status != 0:
        raise PayloadError(f"popularity: status {status!r}")

    def read(raw: Any) -> dict[str, Any] | None:
        item = object_of(raw, "popularity row")
        symbol = string_of(item.get("sc"), "popularity sc").lower()
        if symbol[:2] not in {"sh", "sz", "bj"} or len(symbol) != 8 or not symbol[2:].isdecimal():
            raise PayloadError(f"popularity: {symbol!r} is no code")
        rank = whole(number(item.get("rk"), f"{symbol} rk"), f"{symbol} rk")
        if rank <= 0:
            return None
        moved = whole(number(item.get("hisRc"), f"{symbol} hisRc"), f"{symbol} hisRc")
        return {"symbol": symbol, "code": symbol[2:], "rank_no": rank, "rank_change": moved}

    listed = list_of(document.get("data"), "popularity data")
    rows = [row for row in accepted_rows(listed, read, "popularity", named_by("sc")) if row is not None]
    ranked = frame(sorted(rows, key=lambda row: row["rank_no"]), RANK_COLUMNS)
    return once_each(once_each(ranked, ["symbol"], "popularity"), ["rank_no"], "popularity")
