"""Notices, research, articles and flash news over the wire: three sources of one fact, nothing from later."""

import json
from datetime import datetime

import httpx
import pytest

from core.clock import ManualClock
from core.errors import PayloadError
from resources.upstreams.eastmoney.news import articles
from simulated_market.service import SimulatedMarket
from tests.simulated_market.http.conftest import bench_of
from tests.simulated_market.http.tiny_world import NOW, TinyWorld
from tests.upstreams.cninfo.test_announcements import PAYLOADS

SINCE, UNTIL = "2026-07-01", "2026-08-21"
QUERY = "/cninfo/new/hisAnnouncement/query"


def ask(bench, page=1, **changed):
    form = {"pageNum": str(page), "pageSize": "30", "column": "szse", "seDate": f"{SINCE}~{UNTIL}", **changed}
    return httpx.post(bench.market.http_url + QUERY, data=form, timeout=5).json()


def test_the_platform_answers_in_the_recorded_shape(bench):
    recorded = json.loads((PAYLOADS / "cninfo_hisannouncement_600519.json").read_bytes())

    answer = ask(bench)

    assert recorded.keys() - {"pageNum"} <= answer.keys()
    assert recorded["announcements"][0].keys() <= answer["announcements"][0].keys()
    assert len(answer["announcements"]) == 30
    assert answer["totalpages"] == answer["totalAnnouncement"] // 30  # rounded down, as it does
    assert ask(bench, page=101)["announcements"] is None
    assert ask(bench, seDate="2027-01-01~2027-02-01")["totalAnnouncement"] == 0
    assert httpx.get(bench.market.http_url + QUERY, timeout=5).status_code == 405


def test_a_request_body_is_recorded_with_its_answer(bench):
    bench.cninfo.announcements(SINCE, UNTIL)

    first = bench.log.items[0]
    assert first.request.startswith("POST https://www.cninfo.com.cn/new/hisAnnouncement/query\n")
    assert "seDate=2026-07-01~2026-08-21" in first.request
    assert bench.log.items[1].request != first.request
    assert b"announcementTitle" in first.body


def test_three_sources_have_the_same_notices(bench):
    platform = bench.cninfo.announcements(SINCE, UNTIL)
    portal = bench.eastmoney.notices(SINCE, UNTIL)
    shenzhen = bench.szse.announcements(SINCE, UNTIL)

    name = ["code", "pub_date", "title"]
    reported = set(platform[name].itertuples(index=False, name=None))
    assert reported == set(portal[name].itertuples(index=False, name=None))
    own = set(shenzhen[name].itertuples(index=False, name=None))
    assert own
    assert own < reported
    # The platform has the time of notices that were published on the date itself, the portal every time.
    assert portal["pub_time"].notna().all()
    assert (portal["pub_time"].str[:10] <= portal["pub_date"]).all()
    same = portal[portal["pub_time"].str[:10] == portal["pub_date"]]
    moments = platform.dropna(subset=["pub_time"])
    assert 0 < len(same) < len(portal)
    known = [*name, "pub_time"]
    assert set(same[known].itertuples(index=False)) == set(moments[known].itertuples(index=False))
    assert platform["ann_id"].duplicated().any()  # one notice of two companies


def test_one_company_is_requested_by_its_id_of_the_map(bench):
    orgs = bench.cninfo.orgs().set_index("code")["org_id"]
    found = bench.cninfo.announcements(SINCE, UNTIL, f"600519,{orgs['600519']}")

    assert set(found["code"]) == {"600519"}
    assert bench.cninfo.announcements(SINCE, UNTIL, "600519,wrong").empty
    assert set(bench.eastmoney.notices(SINCE, UNTIL, "600519")["code"]) >= {"600519"}
    assert any(not org.endswith(code) for code, org in orgs.items())


def test_nothing_is_shown_before_it_is_put_up():
    clock = ManualClock(NOW)
    with SimulatedMarket(TinyWorld(), clock, tcp_port=None) as market:
        bench = bench_of(market)
        whole = bench.eastmoney.notices("2026-08-22", "2026-08-22")
        for hour in (17, 19, 22):
            clock.at = datetime(2026, 8, 21, hour)
            now = str(clock.at)
            shown = bench.eastmoney.notices(SINCE, "2026-12-31")
            assert (shown["pub_time"] <= now).all()
            assert (bench.eastmoney.articles("600519", 3)["pub_time"] <= now).all()
            assert (bench.eastmoney.flashes("2026-08-20", 500)["pub_time"] <= now).all()
            assert (bench.eastmoney.research(SINCE, "2026-12-31")["pub_date"] <= "2026-08-21").all()
        assert len(bench.eastmoney.notices("2026-08-22", "2026-08-22")) >= len(whole)
        bench.transport.close()


def test_research_articles_and_flashes_are_served(bench):
    reports = bench.eastmoney.research(SINCE, UNTIL)
    assert reports["rating"].notna().all()
    assert (reports["eps_fy1"] > 0).all()
    assert set(bench.eastmoney.research(SINCE, UNTIL, "600519")["code"]) == {"600519"}

    found = bench.eastmoney.articles("600519", pages=2)
    assert not found.empty
    assert not found["content"].str.contains("<em>").any()
    assert bench.eastmoney.articles("999999").empty

    flashes = bench.eastmoney.flashes("2026-08-20 12:00:00", 1000)
    assert flashes["flash_id"].is_unique
    assert flashes["pub_time"].is_monotonic_decreasing
    assert len(flashes) > articles.FLASHES
    assert len(bench.eastmoney.flashes("2026-08-01", 60)) == 60
    assert set(flashes["importance"]) == {0, 1, 2}


@pytest.mark.parametrize("kind", ["cut_list", "double_rows"])
@pytest.mark.parametrize("call", ["cninfo", "portal", "shenzhen", "research"])
def test_a_list_with_a_false_length_is_refused(bench, call, kind):
    bench.fault(kind, **({"rows": 3} if kind == "cut_list" else {}))
    asked = {
        "cninfo": bench.cninfo.announcements,
        "portal": bench.eastmoney.notices,
        "shenzhen": bench.szse.announcements,
        "research": bench.eastmoney.research,
    }[call]

    with pytest.raises(PayloadError):
        asked(SINCE, UNTIL)


def test_a_replayed_market_answers_in_form_and_knows_of_nothing():
    with SimulatedMarket(TinyWorld(label="replay"), ManualClock(NOW), tcp_port=None) as market:
        bench = bench_of(market)
        for rows in (
            bench.cninfo.announcements(SINCE, UNTIL),
            bench.eastmoney.notices(SINCE, UNTIL),
            bench.szse.announcements(SINCE, UNTIL),
            bench.eastmoney.research(SINCE, UNTIL),
            bench.eastmoney.articles("600519"),
            bench.eastmoney.flashes("2026-08-20", 100),
        ):
            assert rows.empty
        assert len(bench.cninfo.orgs())
        bench.transport.close()
