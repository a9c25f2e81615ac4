"""Notices, research, articles and flash news of the portal, and Shenzhen's notices: samples and corrupted
responses."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import FrozenClock
from core.errors import PayloadError, Refused
from resources.transport.request import Request
from resources.upstreams.eastmoney.client import EastmoneyClient
from resources.upstreams.eastmoney.news import articles, notices, research
from resources.upstreams.exchanges import notices as shenzhen
from resources.upstreams.parsing.texts import LONGEST, plain_text, web_address, without_name
from tests.simulated_market.http.tiny_world import NOW
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

SINCE, UNTIL = "2026-05-01", "2026-09-30"
NOTICE = {
    "art_code": "AN202609241000000001", "title": "松炀资源:松炀股份关于收到行政处罚事先告知书的公告",
    "notice_date": "2026-09-25 00:00:00", "display_time": "2026-09-24 18:05:11:123",
    "codes": [
        {"ann_type": "A,SHA", "inner_code": "29211575667637", "market_code": "1", "short_name": "松炀资源",
         "stock_code": "603863"},
        {"ann_type": "A,SZA", "inner_code": "1", "market_code": "0", "short_name": "另一家",
         "stock_code": "000858"},
        {"ann_type": "B,SZB", "inner_code": "2", "market_code": "0", "short_name": "B",
         "stock_code": "200058"},
    ],
    "columns": [{"column_code": "001002004001001", "column_name": "行政处罚"}],
}  # fmt: skip
REPORT = {
    "title": "2025年年报及2026年一季报点评", "stockName": "贵州茅台", "stockCode": "600519",
    "orgSName": "诚通证券",
    "publishDate": "2026-05-25 00:00:00.000", "infoCode": "AP202605251822844635", "emRatingName": "买入",
    "ratingChange": 3, "indvAimPriceT": "512.0000000000", "researcher": "陈文倩",
    "predictThisYearEps": "68.1", "predictNextYearEps": "", "predictNextTwoYearEps": "-0.5",
}  # fmt: skip
ARTICLE = {
    "date": "2026-09-24 10:12:00", "image": "", "code": "202609243456", "mediaName": "证券时报",
    "title": "<em>贵州茅台</em>获机构调研\u3000", "content": "（<em>600519</em>）" + "文" * 20,
    "url": "http://finance.eastmoney.com/a/202609243456.html",
}  # fmt: skip
FLASH = {
    "summary": "【快速回调】中铝国际快速回调。", "code": "202606163772915624", "titleColor": 0,
    "realSort": "1781590197015624", "showTime": "2026-06-16 14:09:57", "title": "中铝国际6月16日快速回调",
    "stockList": ["1.601068", "1.000001", "90.BK0477", "105.AAPL"], "image": [], "pinglun_Num": 0, "share": 0,
}  # fmt: skip
LISTED = {
    "id": "x", "annId": "1225583046", "title": "国盛证券：关于公告", "content": "None",
    "publishTime": "2026-09-25 00:00:00", "attachPath": "/disc/disk03/finalpage/2026-09-25/a.pdf",
    "attachFormat": "PDF", "secCode": ["002670"], "secName": ["国盛证券"],
}  # fmt: skip


def notice_body(*rows: Any, total: int | None = None) -> bytes:
    data = {"list": list(rows), "total_hits": len(rows) if total is None else total}
    return json.dumps({"success": 1, "data": data}).encode()


def report_body(*rows: Any, hits: int | None = None) -> bytes:
    return json.dumps({"hits": len(rows) if hits is None else hits, "data": list(rows) or None}).encode()


def article_body(*rows: Any) -> bytes:
    result = {"passportWeb": [], "cmsArticleWebOld": list(rows)}
    return b"jQuery_news(" + json.dumps({"code": 0, "hitsTotal": 99, "result": result}).encode() + b")"


def flash_body(*rows: Any, after: str = "") -> bytes:
    return json.dumps(
        {"code": "1", "data": {"fastNewsList": list(rows), "sortEnd": after, "total": 9}}
    ).encode()


def listed_body(*rows: Any) -> bytes:
    return json.dumps({"announceCount": len(rows), "data": list(rows)}).encode()


def parse_notices(body: bytes) -> Any:
    return notices.parse_notices(body, SINCE, UNTIL)


def parse_research(body: bytes) -> Any:
    return research.parse_research(body, SINCE, UNTIL)


def parse_listed(body: bytes) -> Any:
    return shenzhen.parse_notices(body, SINCE, UNTIL)


class Pages:
    def __init__(self, *bodies: bytes) -> None:
        self.bodies = list(bodies)
        self.asked: list[Request] = []

    def call(self, request: Request, parse: Callable[[bytes], Any]) -> Any:
        self.asked.append(request)
        return parse(self.bodies[min(len(self.asked), len(self.bodies)) - 1])


def client(*bodies: bytes) -> tuple[EastmoneyClient, Pages]:
    pages = Pages(*bodies)
    return EastmoneyClient(pages, FrozenClock(NOW)), pages


def test_a_notice_of_the_portal_has_its_moment_and_all_of_its_companies() -> None:
    first, second = parse_notices(notice_body(NOTICE)).rows

    assert (first["code"], second["code"]) == ("603863", "000858")  # not the B share
    assert (first["pub_date"], first["pub_time"]) == ("2026-09-25", "2026-09-24 18:05:11")
    assert first["title"] == "松炀股份关于收到行政处罚事先告知书的公告"
    assert first["pdf_url"] == "https://pdf.dfcfw.com/pdf/H2_AN202609241000000001_1.pdf"
    assert first["ann_type"] == "行政处罚"


def test_shenzhens_codes_are_a_list_or_the_text_of_one() -> None:
    old = {**LISTED, "annId": "2", "secCode": "['002671']", "secName": "['龙泉股份']"}

    rows = parse_listed(listed_body(LISTED, old)).rows

    assert [(one["code"], one["title"]) for one in rows] == [
        ("002670", "关于公告"),
        ("002671", "国盛证券：关于公告"),
    ]
    assert rows[0]["url"].startswith("https://disc.static.szse.cn/download/disc/disk03/")
    request = shenzhen.notices_request("2026-09-01", "2026-09-30", 2, "000858")
    asked = json.loads(request.content)
    assert (request.method, asked["seDate"], asked["pageNum"]) == ("POST", ["2026-09-01", "2026-09-30"], 2)
    assert (asked["channelCode"], asked["stock"]) == (["listedNotice_disc"], ["000858"])


def test_shenzhens_id_is_a_number_in_what_public_clients_recorded() -> None:
    """A row of github.com/kkllor/analyser_a, SZEntity.java (2020-04-29)."""
    recorded = {
        "id": "b2c2be36-0908-4e2f-8bdb-15db04c5104b", "annId": 1206068128,
        "title": "大族激光：2018年年度报告",
        "content": None, "publishTime": "2019-04-23 00:00:00",
        "attachPath": "/disc/disk01/finalpage/2019-04-23/500beec2-6e31-4c88-9911-f8efbd765e94.PDF",
        "attachFormat": "PDF", "attachSize": 3761, "secCode": ["002008"], "secName": ["大族激光"],
        "bondType": None, "bigIndustryCode": None, "bigCategoryId": None, "smallCategoryId": None,
        "channelCode": None,
    }  # fmt: skip

    (row,) = shenzhen.parse_notices(listed_body(recorded), "2019-04-23", "2019-04-23").rows

    assert (row["ann_id"], row["code"], row["title"]) == ("1206068128", "002008", "2018年年度报告")
    assert row["pdf_url"].endswith("765e94.PDF")


def test_a_report_has_numbers_for_texts_and_nothing_for_blanks() -> None:
    (found,) = parse_research(report_body(REPORT)).rows

    assert (found["code"], found["rating"], found["rating_change"]) == ("600519", "买入", "维持")
    assert (found["target_price"], found["eps_fy1"], found["eps_fy3"]) == (512, 68.1, -0.5)
    assert found["eps_fy2"] != found["eps_fy2"]
    none = {**REPORT, "ratingChange": "", "indvAimPriceT": "0"}
    untold = {name: value for name, value in REPORT.items() if name != "indvAimPriceT"}
    assert math.isnan(parse_research(report_body(untold)).rows[0]["target_price"])
    (found,) = parse_research(report_body(none)).rows
    assert found["rating_change"] is None
    assert found["target_price"] != found["target_price"]
    assert len(parse_research(report_body())) == 0
    assert parse_research(report_body({**REPORT, "stockCode": "00700"})).rows == []


@pytest.mark.parametrize(
    ("parse", "body", "reason"),
    [
        (parse_notices, notice_body({**NOTICE, "notice_date": "2026-10-25 00:00:00"}), "asked was"),
        (parse_notices, notice_body(NOTICE, total=0), "1 of 0"),
        (parse_notices, notice_body({**NOTICE, "art_code": "../x"}), "art_code"),
        (parse_notices, b'{"success":0,"data":null}', "success"),
        (parse_research, report_body({**REPORT, "indvAimPriceT": "-5"}), "below zero"),
        (parse_research, report_body({**REPORT, "ratingChange": 9}), "no known change"),
        (parse_research, report_body({**REPORT, "publishDate": "2025-05-25"}), "asked was"),
        (parse_research, report_body(hits=3), "data"),
        (parse_listed, listed_body({**LISTED, "publishTime": "2026-13-01"}), "publishTime"),
        (articles.parse_flashes, b'{"code":"0","message":"req_trace","data":null}', "code"),
    ],
)
def test_rejected_answers(parse: Callable[[bytes], Any], body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse(body)


def test_pages_must_make_up_the_count_and_differ() -> None:
    def notice(number: int) -> dict[str, Any]:
        return {**NOTICE, "art_code": f"AN{number}", "codes": NOTICE["codes"][:1]}

    first = [notice(at) for at in range(100)]
    portal, asked = client(notice_body(*first, total=101), notice_body(notice(100), total=101))
    assert len(portal.notices(SINCE, UNTIL)) == 101
    assert [dict(one.params)["page_index"] for one in asked.asked] == ["1", "2"]
    with pytest.raises(PayloadError, match="100 of 101"):
        client(notice_body(*first, total=101), notice_body(total=101))[0].notices(SINCE, UNTIL)
    with pytest.raises(PayloadError, match="two pages"):
        client(notice_body(*first, total=101), notice_body(first[0], total=101))[0].notices(SINCE, UNTIL)


def test_a_soft_block_of_the_search_is_no_lack_of_news() -> None:
    found = articles.parse_articles(article_body(ARTICLE), "600519")

    assert found["title"].tolist() == ["贵州茅台获机构调研"]
    assert found["content"].iloc[0].startswith("（600519）")
    assert len(articles.parse_articles(article_body(), "600519")) == 0
    blocked = json.dumps({"code": 0, "msg": "OK", "result": {"passportWeb": []}}).encode()
    with pytest.raises(Refused, match="without articles"):
        articles.parse_articles(b"jQuery_news(" + blocked + b")", "600519")


def test_a_search_asks_as_the_portals_page_does() -> None:
    params = dict(articles.articles_request("600519", 2).params)

    asked = json.loads(params["param"])
    assert (asked["keyword"], asked["param"]["cmsArticleWebOld"]["pageIndex"]) == ("600519", 2)
    assert params["cb"] == "jQuery_news"


def test_hostile_articles_stay_text_and_bounded() -> None:
    hostile = {
        **ARTICLE,
        "title": "<script>alert('x')</script>\u0007消息\u2028" + "长" * 900,
        "content": "<img src=x onerror=alert(1)>" + "内" * 3_500_000,
        "url": "javascript:alert(1)",
    }

    (found,) = articles.parse_articles(article_body(hostile), "600519").to_dict("records")

    assert found["title"].startswith("<script>alert('x')</script> 消息")
    assert len(found["title"]) == 512
    assert found["url"] is None
    assert len(found["content"]) == LONGEST
    assert len(found["content"].encode()) < 65_536


@pytest.mark.parametrize(
    "text",
    ["javascript:alert(1)", "data:text/html,x", "//host/a", "http://", "ftp://h/a", "http://h/\nx", "http://h/\"x",
     "http://[bad", "https://h/" + "a" * 600, "", None, 7],
)  # fmt: skip
def test_an_address_is_http_or_none(text: object) -> None:
    assert web_address(text) is None


def test_texts_and_names() -> None:
    assert web_address("https://finance.eastmoney.com/a/1.html") == "https://finance.eastmoney.com/a/1.html"
    assert plain_text("a\x00b\u200b\ud83d\ude00 \u3000c", "x") == "a b c"
    assert without_name("五 粮 液：关于公告", ["五粮液"]) == "关于公告"
    assert without_name("关于:公告", ["五粮液"]) == "关于:公告"
    assert without_name("五粮液:", ["五粮液"]) == "五粮液:"


def test_flash_news_go_back_page_by_page_until_the_time_asked_for() -> None:
    def flash(number: int, time: str) -> dict[str, Any]:
        return {**FLASH, "code": str(number), "showTime": f"2026-06-16 {time}"}

    first = [flash(at, "14:00:00") for at in range(50)]
    second = [flash(49, "14:00:00"), flash(50, "13:00:00"), flash(51, "08:00:00")]
    portal, asked = client(flash_body(*first, after="9"), flash_body(*second, after="8"))

    found = portal.flashes("2026-06-16 09:00:00", 500)

    assert len(found) == 51  # one came on both pages, one is older
    assert [dict(one.params)["sortEnd"] for one in asked.asked] == ["", "9"]
    assert all(dict(one.params)["req_trace"] for one in asked.asked)
    (row,) = articles.parse_flashes(flash_body({**FLASH, "titleColor": 3})).rows.to_dict("records")
    assert (row["codes"], row["boards"], row["importance"]) == ('["601068"]', '["BK0477"]', 2)


def test_flash_news_with_one_mark_for_ever_end() -> None:
    rows = [{**FLASH, "code": str(at)} for at in range(50)]
    portal, asked = client(flash_body(*rows, after="9"))

    portal.flashes("2026-06-16 09:00:00", 500)

    assert len(asked.asked) == 2


PLAN = {
    "SECURITY_CODE": "600519", "SECURITY_NAME_ABBR": "贵州茅台", "REPORT_DATE": "2026-06-30 00:00:00",
    "FIRST_APPOINT_DATE": "2026-08-10 00:00:00", "FIRST_CHANGE_DATE": "2026-08-15 00:00:00",
    "SECOND_CHANGE_DATE": None, "THIRD_CHANGE_DATE": None, "ACTUAL_PUBLISH_DATE": None,
}  # fmt: skip


def plan_body(*rows: Any) -> bytes:
    result = {"pages": 1, "data": list(rows), "count": len(rows)}
    return json.dumps({"result": result, "success": True, "message": "ok", "code": 0}).encode()


def test_disclosure_dates_of_one_quarter_end() -> None:
    (row,) = client(plan_body(PLAN))[0].disclosure_schedule("2026-06-30").to_dict("records")

    assert (row["first_date"], row["change1_date"], row["actual_date"]) == ("2026-08-10", "2026-08-15", None)
    with pytest.raises(PayloadError, match="rows of 2026-06-30, asked was 2026-03-31"):
        client(plan_body(PLAN))[0].disclosure_schedule("2026-03-31")
    with pytest.raises(PayloadError, match="ACTUAL_PUBLISH_DATE"):
        client(plan_body({**PLAN, "ACTUAL_PUBLISH_DATE": "soon"}))[0].disclosure_schedule("2026-06-30")
    shorter = {name: value for name, value in PLAN.items() if name != "THIRD_CHANGE_DATE"}
    with pytest.raises(PayloadError, match="no field THIRD_CHANGE_DATE"):
        client(plan_body(shorter))[0].disclosure_schedule("2026-06-30")


WHOLE = {
    "notices": (parse_notices, notice_body(NOTICE)),
    "research": (parse_research, report_body(REPORT)),
    "articles": (lambda body: articles.parse_articles(body, "600519"), article_body(ARTICLE)[12:-1]),
    "flash": (articles.parse_flashes, flash_body(FLASH)),
    "shenzhen": (parse_listed, listed_body(LISTED)),
}


@pytest.mark.parametrize("name", WHOLE)
@quick
@given(st.data())
def test_damaged_answers(name: str, data: st.DataObject) -> None:
    parse, body = WHOLE[name]
    damaged = data.draw(st.one_of(damaged_json(body), damaged_bytes(body)))
    try:
        found = parse(damaged)
    except ACCEPTED:
        return
    rows = found.rows if hasattr(found, "rows") else found
    for one in rows if isinstance(rows, list) else rows.to_dict("records"):
        assert one["title"]
        assert one.get("url") is None or one["url"].startswith("http")
