"""www.cninfo.com.cn: notices of all exchanges, 30 a page, and the map of company ids; its data service."""

from collections.abc import Sequence
from datetime import UTC, timedelta
from functools import partial
from typing import Any

from simulated_market.cninfo import records
from simulated_market.cninfo.industries import ratios
from simulated_market.draws import drawn
from simulated_market.notices import Notice, page_of
from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route
from simulated_market.world.model import Security

PAGE = 30
MOST_PAGES = 100
_ORG_MARKETS = {"SH": "gssh0", "SZ": "gssz0", "BJ": "gfbj0"}


class CninfoResponder:
    upstream = "cninfo"

    def __init__(self, books: Books) -> None:
        self._book = books.notices
        self.routes: Sequence[Route] = (
            route("announcements", r"/new/hisAnnouncement/query", self.announcements),
            route("orgs", r"/new/data/szse_stock\.json", orgs),
            route("industry_ratios", r"/api/sysapi/p_sysapi1087", partial(ratios, books.lines)),
            route("schedule", r"/new/information/getPrbookInfo", records.schedule),
            route("holder_counts", r"/api/sysapi/p_sysapi1034", partial(records.answer, records.holders)),
            route("share_changes", r"/api/stock/p_stock2215", partial(records.answer, records.equity)),
        )

    def announcements(self, request: HttpRequest, view: View) -> Reply:
        """One page; `totalpages` is rounded down, and page 101 is empty. Only a form in a POST is read."""
        if request.method != "POST":
            return Reply(b'{"status":405,"error":"Method Not Allowed"}', status=405)
        form = request.form()
        since, _, until = form.get("seDate", "").partition("~")
        code, _, org = form.get("stock", "").partition(",")
        requested = {part for part in form.get("category", "").split(";") if part}
        rows = [
            (notice, at)
            for notice in self._book.between(view, since, until, code)
            if not requested or requested & set(notice.categories)
            for at, security in enumerate(notice.securities)
            if not code or (security.code == code and org_id(security) == org)
        ]
        total = len(rows)
        page = page_of(form.get("pageNum", "1"))
        shown = view.page(rows, PAGE, page) if page <= MOST_PAGES else []
        document = {
            "classifiedAnnouncements": None,
            "totalSecurities": 0,
            "totalAnnouncement": total,
            "totalRecordNum": total,
            "announcements": [_row(*one) for one in shown] or None,
            "categoryList": None,
            "hasMore": page * PAGE < total,
            "totalpages": total // PAGE,
        }
        return json_reply(document, spaced=True)


def _row(notice: Notice, at: int) -> dict[str, Any]:
    """A notice of two companies is two rows with one id; a title may carry the marks of a hit."""
    moment = notice.announced_at.replace(tzinfo=UTC) - timedelta(hours=8)
    security = notice.securities[at]
    title = notice.title
    if notice.number % 5 == 0:
        title = f"{notice.names[at]}:{title}"
    if notice.number % 7 == 0:
        title = title.replace("公告", "<em>公告</em>")
    return {
        "id": None,
        "secCode": security.code,
        "secName": notice.names[at],
        "orgId": org_id(security),
        "announcementId": f"12{notice.number:08d}",
        "announcementTitle": title,
        "announcementTime": int(moment.timestamp() * 1000),
        "adjunctUrl": f"finalpage/{notice.day}/12{notice.number:08d}.PDF",
        "adjunctSize": notice.size_kb,
        "adjunctType": "PDF",
        "storageTime": None,
        "columnId": "250401||251302",
        "pageColumn": "SZZB" if security.market == "SZ" else "SHZB",
        "announcementType": notice.types,
        "associateAnnouncement": None,
        "important": None,
        "batchNum": None,
        "announcementContent": None,
        "announcementTypeName": None,
    }


def org_id(security: Security) -> str:
    """Follows from the code of the listing for half of the companies; for the others it cannot be derived."""
    if security.first_code:
        return f"{_ORG_MARKETS[security.market]}{security.first_code}"
    draw = drawn(security.symbol)
    return f"99{draw % 10**8:08d}" if draw % 2 else f"{_ORG_MARKETS[security.market]}{security.code}"


def orgs(request: HttpRequest, view: View) -> Reply:
    rows = [
        {
            "orgId": org_id(one),
            "category": "A股",
            "code": one.code,
            "pinyin": "",
            "zwjc": view.world.name(one, view.now),
        }
        for one in view.world.securities(view.now)
        if one.kind == "stock"
    ]
    # Companies without an id exist.
    rows.append({"orgId": "", "category": "A股", "code": "000000", "pinyin": "", "zwjc": ""})
    return json_reply({"stockList": rows}, spaced=True)
