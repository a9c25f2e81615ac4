"""get_roll_list as the telegraph answers it: a wrong signature is an error, the newest items come first."""

import hashlib
import json
from collections.abc import Sequence

from simulated_market.press import Press
from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route, unix

_PAGE = {"app": "CailianpressWeb", "os": "web", "refresh_type": "1"}
"""What the site's own page sends."""
_LEVELS = {3: "A", 1: "B", 0: "C"}


class ClsResponder:
    """`www.cls.cn`. It prints the portal's flashes two minutes later."""

    upstream = "cls"

    def __init__(self, books: Books) -> None:
        self._press = Press(books.notices)
        self.routes: Sequence[Route] = (route("roll", r"/v1/roll/get_roll_list", self.roll),)

    def roll(self, request: HttpRequest, view: View) -> Reply:
        """The newest items, or those before `last_time`."""
        params = request.params()
        signed = sorted(f"{name}={value}" for name, value in params.items() if name != "sign")
        digest = hashlib.sha1("&".join(signed).encode(), usedforsecurity=False).hexdigest()
        if params.get("sign") != hashlib.md5(digest.encode(), usedforsecurity=False).hexdigest():
            return Reply(json.dumps({"errno": 10012, "msg": "签名错误", "data": None}).encode())
        if any(params.get(name) != value for name, value in _PAGE.items()) or "category" not in params:
            return Reply(json.dumps({"errno": 10013, "msg": "参数错误", "data": None}).encode())
        before = int(params.get("last_time") or unix(view.now) + 1)
        found = [one for one in self._press.flashes(view) if unix(one.time) < before]
        rows = [
            {
                "id": int(one.number[4:]) % 10_000_000_000,
                "ctime": unix(one.time),
                "title": one.title if one.colour else "",
                "brief": one.title,
                "content": f"【{one.title}】财联社电，{one.title}。",
                "level": _LEVELS[one.colour],
                "stock_list": [{"name": one.security.code, "StockID": one.security.symbol}],
                "subjects": [],
            }
            for one in found[: max(1, min(50, int(params.get("rn", "20"))))]
        ]
        return json_reply({"errno": 0, "msg": "", "data": {"roll_data": rows}})
