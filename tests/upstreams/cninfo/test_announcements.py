"""The disclosure platform: recorded answers, pages and slices, and rejected answers."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError, Refused
from resources.transport.request import Request
from resources.upstreams.cninfo import announcements
from resources.upstreams.cninfo.announcements import CATEGORIES, ORG_COLUMNS, Query
from resources.upstreams.cninfo.client import CninfoClient
from resources.upstreams.parsing.texts import NOTICE_COLUMNS, notice_frame
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

PAYLOADS = Path(__file__).parent / "payloads"
RECORDED = (PAYLOADS / "cninfo_hisannouncement_600519.json").read_bytes()
DAY = "2026-08-15"
MIDNIGHT = 1786723200000
ALL = Query("2026-01-01", "2026-09-30", "600519,gssh0600519")


def parse(body: bytes, query: Query = ALL) -> Any:
    return announcements.parse_announcements(body, query)


def row(number: int = 1, **changed: Any) -> dict[str, Any]:
    return {
        "secCode": "600519", "secName": "贵州茅台", "announcementId": f"{1225475868 + number}",
        "announcementTitle": "第一号公告", "announcementTime": MIDNIGHT, "adjunctSize": 849,
        "adjunctUrl": "finalpage/2026-08-15/1225475868.PDF",
        "announcementType": "01010503||010112", **changed,
    }  # fmt: skip


def body(rows: list[dict[str, Any]] | None, total: int, **also: Any) -> bytes:
    return json.dumps({"totalAnnouncement": total, "announcements": rows, **also}).encode()


class Platform:
    """A fetcher that serves lists by (dates, category), 30 rows a page."""

    def __init__(self, serve: Any) -> None:
        self.serve = serve
        self.asked: list[dict[str, str]] = []

    def call(self, request: Request, read: Any) -> Any:
        fields = parse_qs(request.content.decode(), keep_blank_values=True)
        form = {name: values[0] for name, values in fields.items()}
        self.asked.append(form)
        rows = self.serve(form)
        page = int(form["pageNum"])
        shown = rows[(page - 1) * 30 : page * 30] if page <= 100 else []
        return read(body(shown or None, len(rows)))


def test_the_recorded_answer() -> None:
    page = parse(RECORDED)

    assert (page.total, page.received) == (486, 1)  # an older answer: totalRecordNum
    (found,) = notice_frame(page.rows, "x").to_dict("records")
    assert found["code"] == "600519"
    assert found["pub_date"] == DAY  # midnight of Shanghai is the day before in UTC
    assert found["title"] == "2026年半年度报告"  # recorded with the short name and a colon before it
    assert found["url"] == "https://static.cninfo.com.cn/finalpage/2026-08-15/1225475868.PDF"
    assert found["pub_time"] is None
    assert list(notice_frame([], "x").columns) == list(NOTICE_COLUMNS)


def test_a_notice_of_the_same_evening_has_its_second() -> None:
    # 301308's forecast of 2026-07-03, recorded by a public client with 1783075627000.
    reported = row(announcementTime=1783075627000, secCode="301308", secName="江波龙")
    page = parse(body([reported, row(2)], 2), Query("2026-01-01", "2026-09-30"))
    assert [(one["pub_date"], one["pub_time"]) for one in page.rows] == [
        ("2026-07-03", "2026-07-03 18:47:07"),
        (DAY, None),
    ]


def test_the_map_of_ids_leaves_out_companies_without_one() -> None:
    (recorded,) = json.loads((PAYLOADS / "cninfo_stocklist_row.json").read_bytes())
    rows = [recorded, {**recorded, "code": "601318", "orgId": "9900002221"}, {**recorded, "orgId": ""}]

    found = announcements.parse_orgs(json.dumps({"stockList": rows}).encode())

    assert found[["code", "org_id"]].to_numpy().tolist() == [
        ["600519", "gssh0600519"],
        ["601318", "9900002221"],
    ]
    assert list(found.columns) == list(ORG_COLUMNS)


def test_a_page_is_asked_as_a_form() -> None:
    request = announcements.announcements_request(Query(DAY, DAY), 3)

    assert request.method == "POST"
    assert dict(request.headers)["Content-Type"].startswith("application/x-www-form-urlencoded")
    form = parse_qs(request.content.decode(), keep_blank_values=True)
    assert (form["seDate"], form["pageNum"], form["pageSize"]) == ([f"{DAY}~{DAY}"], ["3"], ["30"])


def test_no_notices_are_distinguished_from_a_burst_limit() -> None:
    assert len(parse(body(None, 0))) == 0
    with pytest.raises(PayloadError, match="0 of 12"):
        parse(body(None, 12))
    with pytest.raises(PayloadError, match="no field announcements"):
        parse(b'{"totalAnnouncement":0}')
    with pytest.raises(Refused):
        parse("<html><body>请完成验证</body></html>".encode())
    with pytest.raises(PayloadError):
        parse(json.dumps({"totalAnnouncement": 1, "announcements": []}, ensure_ascii=False).encode("gbk"))
    with pytest.raises(PayloadError):
        parse(body([row(announcementTitle="公告")], 1).replace(rb"\u516c", "公".encode("gbk")))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"announcementTime": MIDNIGHT - 365 * 86_400_000}, "asked was"),
        ({"announcementTime": "2026-08-15"}, "announcementTime"),
        ({"announcementId": "1' OR 1"}, "notice id"),
        ({"announcementTitle": "<em></em> \u3000"}, "announcementTitle is empty"),
        ({"adjunctSize": -3}, "below zero"),
    ],
)
def test_a_rejected_row(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse(body([row(**changed)], 1))


def test_hostile_titles_and_addresses_are_only_text() -> None:
    rows = [
        row(1, announcementTitle="<script>alert(1)</script>\u0000\u202e关于<em>公告</em>\u3000"),
        row(2, adjunctUrl="javascript:alert(1)"),
        row(3, adjunctUrl="finalpage/../../x"),
    ]

    titles = [one["title"] for one in parse(body(rows, 3)).rows]
    assert titles[0] == "<script>alert(1)</script> 关于公告"
    assert [one["url"] for one in parse(body(rows[1:], 2)).rows] == [None, None]


def test_a_notice_of_several_companies_is_a_row_for_each() -> None:
    found = parse(body([row(secCode="600519,000858,200002", secName="贵州茅台,五 粮 液,万科B")], 1))

    assert [one["code"] for one in found.rows] == ["600519", "000858"]
    of_no_stock = parse(body([row(secCode="A21001")], 1))
    assert of_no_stock.received == 1
    assert notice_frame(of_no_stock.rows, "x").empty


def test_all_pages_are_counted_by_the_lists_own_count() -> None:
    rows = [row(at) for at in range(61)]
    platform = Platform(lambda form: rows)

    found = CninfoClient(platform).announcements(DAY, DAY)

    assert len(found) == 61
    assert [form["pageNum"] for form in platform.asked] == ["1", "2", "3"]


def test_a_count_that_moves_is_read_again_once() -> None:
    rows = [row(at) for at in range(40)]
    platform = Platform(lambda form: rows)

    def grow(form: dict[str, str]) -> list[dict[str, Any]]:
        if form["pageNum"] == "2" and len(rows) == 40:
            rows.append(row(99))
        return rows

    platform.serve = grow
    assert len(CninfoClient(platform).announcements(DAY, DAY)) == 41
    platform.serve = lambda form: [row(at) for at in range(30 + len(platform.asked))]
    with pytest.raises(PayloadError, match="count moved"):
        CninfoClient(platform).announcements(DAY, DAY)


def test_a_list_too_deep_is_halved_and_one_date_cut_by_category() -> None:
    last = "2026-08-16"
    many = [row(at) for at in range(3050)]
    few = [row(at, announcementTime=MIDNIGHT + 86_400_000) for at in range(3050, 3080)]

    def serve(form: dict[str, str], categories: bool = True) -> list[dict[str, Any]]:
        since, _, until = form["seDate"].partition("~")
        dated = [*(many if since <= DAY <= until else []), *(few if since <= last <= until else [])]
        if not form["category"]:
            return dated
        place = CATEGORIES.index(form["category"])
        # What is beyond the hundredth page belongs to one or two of the first categories.
        return [one for at, one in enumerate(dated) if categories and at > 2990 and place in (at % 4, at % 3)]

    assert len(CninfoClient(Platform(serve)).announcements(DAY, last)) == 3080
    with pytest.raises(PayloadError, match="3000 of 3050"):
        CninfoClient(Platform(lambda form: serve(form, False))).announcements(DAY, DAY)


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    whole = body([row(1), row(2, secCode="000001")], 2)
    damaged = data.draw(st.one_of(damaged_json(whole), damaged_bytes(whole), damaged_json(RECORDED)))
    try:
        page = parse(damaged)
    except ACCEPTED:
        return
    for one in page.rows:
        assert one["title"]
        assert ALL.since <= one["pub_date"] <= ALL.until
        assert one["url"] is None or one["url"].startswith("https://static.cninfo.com.cn/finalpage/")
