"""www.szse.cn annList: notices of the companies listed in Shenzhen; the request is JSON."""

from typing import Any

from simulated_market.notices import Notice, NoticeBook, page_of
from simulated_market.wire import HttpRequest, Reply, View, json_reply

_PAGE = 50


def notices(book: NoticeBook, request: HttpRequest, view: View) -> Reply:
    """One page; a notice of several companies is one row."""
    asked = request.document()
    dates = asked.get("seDate")
    if request.method != "POST" or not isinstance(dates, list) or len(dates) != 2:
        return Reply(b"[]", status=400)
    stock = asked.get("stock") or [""]
    found = [
        one
        for one in book.between(view, str(dates[0]), str(dates[1]), str(stock[0]))
        if all(security.market == "SZ" for security in one.securities)
    ]
    size = min(_PAGE, page_of(str(asked.get("pageSize", _PAGE))))
    shown = view.page(found, size, page_of(str(asked.get("pageNum", 1))))
    document = {"announceCount": len(found), "data": [_row(one) for one in shown]}
    return json_reply(document, spaced=True)


def _row(one: Notice) -> dict[str, Any]:
    return {
        "id": f"{one.number:08d}-0000-0000",
        "annId": f"12{one.number:08d}",
        "title": f"{one.names[0]}：{one.title}",
        "content": "None",
        "publishTime": f"{one.day} 00:00:00",
        "attachPath": f"/disc/disk03/finalpage/{one.day}/{one.number}.pdf",
        "attachFormat": "PDF",
        "attachSize": one.size_kb,
        "secCode": [security.code for security in one.securities],
        "secName": list(one.names),
        "bondType": None,
        "bigIndustryCode": None,
        "bigCategoryId": None,
        "smallCategoryId": None,
        "channelCode": None,
    }
