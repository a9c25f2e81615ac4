"""Records of the disclosure platform other than notices: disclosure dates, holder counts, share capital."""

from collections.abc import Callable, Sequence

from simulated_market import capital, corporate
from simulated_market.cninfo.industries import REFUSED, is_fresh
from simulated_market.eastmoney.conditions import Conditions
from simulated_market.eastmoney.schedule import schedule_rows
from simulated_market.notices import page_of
from simulated_market.wire import HttpRequest, Reply, Row, View, json_reply
from simulated_market.world.dates import day_of, iso_of

WAN = 1e4
_DATES = {
    "f002d_0102": "FIRST_APPOINT_DATE",
    "f006d_0102": "ACTUAL_PUBLISH_DATE",
    "f003d_0102": "FIRST_CHANGE_DATE",
    "f004d_0102": "SECOND_CHANGE_DATE",
    "f005d_0102": "THIRD_CHANGE_DATE",
}


def schedule(request: HttpRequest, view: View) -> Reply:
    """Disclosure dates of a quarter end, `pagesize` a page; a date that is not there is an empty text."""
    # Browsers send the fields in the body, other clients in the query.
    form = request.params() | request.form()
    found = schedule_rows(view, Conditions([("REPORT_DATE", "=", [form.get("sectionTime", "")])]))
    total = len(found)
    size, page = max(1, min(1000, int(form.get("pagesize") or 20))), page_of(form.get("pagenum", "1"))
    rows = [
        {
            "seccode": row["SECURITY_CODE"],
            "secname": row["SECURITY_NAME_ABBR"],
            **{name: (row[wire] or "")[:10] for name, wire in _DATES.items()},
            "f001d_0102": row["REPORT_DATE"][:10],
            "latest_time": None,
            "orgId": "",
        }
        for row in view.page(found, size, page)
    ]
    pages = -(-total // size)
    document = {
        "prbookinfos": rows or None,
        "totalRows": total,
        "totalPages": pages,
        "hasNextPage": page < pages,
        "hasPreviousPage": page > 1,
    }
    return json_reply(document, spaced=True)


def answer(rows: Callable[[View, dict[str, str]], Sequence[Row]], request: HttpRequest, view: View) -> Reply:
    """The `rows` of a request with a fresh time header."""
    if not is_fresh(request, view):
        return REFUSED
    records = rows(view, request.params())
    return json_reply(
        {"resultcode": 200, "resultmsg": "success", "records": records, "count": len(records)}, spaced=True
    )


def holders(view: View, params: dict[str, str]) -> list[Row]:
    """Counts of a quarter end, of the companies that have published them."""
    day = day_of(params.get("rdate", ""))
    return [
        {
            "F004N": round(one.a_shares / one.holders, 2),
            "F003N": round((one.holders / one.before - 1) * 100, 2) if one.before else None,
            "F002N": one.before,
            "F001N": one.holders,
            "SECNAME": view.world.name(one.security, view.now),
            "SECCODE": one.security.code,
            "F006N": None,
            "ENDDATE": iso_of(day),
            "F005N": None,
        }
        for security in corporate.stocks(view)
        for one in corporate.holder_counts(view, security, day)
        if one.date == day
    ]


def equity(view: View, params: dict[str, str]) -> list[Row]:
    """The share capital of one company, in 万股."""
    first, last = day_of(params.get("sdate", "")), day_of(params.get("edate", ""))
    return [
        {
            "SECCODE": security.code,
            "SECNAME": view.world.name(security, view.now),
            "ORGNAME": f"{view.world.name(security, view.now)}股份有限公司",
            "DECLAREDATE": iso_of(one.date),
            "VARYDATE": iso_of(one.date),
            **dict.fromkeys(_CAPITAL),
            "F002V": one.reason,
            "F003N": round(one.total / WAN, 6),
            "F021N": round(one.floating / WAN, 6),
            "F022N": round(one.floating / WAN, 6),
        }
        for security in corporate.stocks(view)
        if security.code == params.get("scode")
        for one in capital.share_changes(view, security)
        if first <= one.date <= last
    ]


_CAPITAL = (
    "F001V", "F002V", *(f"F{number:03d}N" for number in (*range(3, 27), *range(28, 39), 40)),
    "F027C", "F049N", "F050N",
)  # fmt: skip
"""Every field of a change of the share capital; the classes that no company of this market has are null."""
