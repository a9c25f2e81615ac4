"""The app's popularity ranking: rank and places gained."""

import json

from simulated_market.limits import LimitBook
from simulated_market.popularity import ranking
from simulated_market.wire import HttpRequest, Reply, View, json_reply

_WEIGHT = 0.5


def page(book: LimitBook, request: HttpRequest, view: View) -> Reply:
    """A page of the ranking; another method, or a body that is no JSON object, is an error."""
    try:
        asked = json.loads(request.body or b"{}")
        number, size = int(asked.get("pageNo", 1)), int(asked.get("pageSize", 20))
    except (ValueError, AttributeError, TypeError):
        return Reply(b'{"status":-1,"message":"bad request","data":null}')
    shown = ranking(book, view, _WEIGHT)[(number - 1) * size : number * size]
    rows = [{"sc": one.state.security.symbol.upper(), "rk": one.rank, "hisRc": one.rose} for one in shown]
    document = {
        "globalId": asked.get("globalId", ""),
        "message": "成功",
        "status": 0,
        "code": 0,
        "data": rows,
    }
    return json_reply(document)
