"""Notices, news and research of a stock and of a day, read on both engines."""

import pytest

from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, TODAY, get, results

NOTICES = f"/datamgr/fusion/stock/{MAOTAI}/announcements"
NEWS = f"/datamgr/fusion/stock/{MAOTAI}/news"


def call(fused: Bench, name: str, **params: object) -> list[dict[str, object]]:
    answer = fused.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def refused(fused: Bench, name: str, **params: object) -> str:
    answer = fused.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})
    assert answer.status_code == 422
    return str(answer.json())


def test_notices_are_newest_first_and_thirty_by_default(fused: Bench) -> None:
    rows = results(fused, NOTICES)

    assert len(rows) == 30
    assert [row["pub_date"] for row in rows] == sorted((row["pub_date"] for row in rows), reverse=True)
    assert list(rows[0])[:5] == ["pub_date", "title", "ann_type", "url", "quality"]
    assert (rows[0]["pub_date"], rows[0]["title"]) == (TODAY, "第39号公告<b>")  # text, as it came
    assert rows[0]["importance"] == 1
    assert results(fused, NOTICES, periods=2) == rows[:2]


def test_news_and_research_are_merged_newest_first(fused: Bench) -> None:
    rows = results(fused, NEWS, periods=40)

    assert len(rows) == 40
    assert [row["pub_time"] for row in rows] == sorted((row["pub_time"] for row in rows), reverse=True)
    assert len({row["title"] for row in rows}) == 40
    assert {row["news_type"] for row in rows} == {"news", "research"}
    assert list(rows[0])[:9] == [
        "pub_time", "title", "content", "source", "url", "news_type", "rating", "researcher", "quality",
    ]  # fmt: skip
    assert rows[0]["source"] == "证券时报"


@pytest.mark.parametrize("path", [NOTICES, NEWS])
def test_nothing_known_is_an_empty_list_and_bad_bounds_are_422(fused: Bench, path: str) -> None:
    assert results(fused, path.replace(MAOTAI, PINGAN)) == []
    assert results(fused, path, as_of="2026-07-01") == []
    assert results(fused, path, as_of="2026-08-01")
    for periods in (0, 121, "x"):
        answer = get(fused, path, periods=periods)
        assert answer.status_code == 422
        assert "periods" in answer.text
    assert get(fused, path.replace(MAOTAI, "60051")).status_code == 422
    assert fused.api.get(path).status_code == 401


def test_notices_through_the_catalog(fused: Bench) -> None:
    rows = call(fused, "get_announcements", code=MAOTAI, ann_type="report", limit=100)
    assert len(rows) == 20
    assert {row["category"] for row in rows} == {"report"}
    assert len(call(fused, "get_announcements", code=MAOTAI, ann_type="01010503", limit=100)) == 40
    day = rows[0]["pub_date"]
    assert call(fused, "get_announcements", code=MAOTAI, start_date=day, end_date=day)[0]["pub_date"] == day
    assert [row["pub_date"] for row in call(fused, "get_announcements_by_date")] == [TODAY]
    assert call(fused, "get_announcements_by_date", date="2020-01-01") == []
    assert call(fused, "get_announcements_by_date", keyword="39号")
    assert call(fused, "get_announcements_by_date", keyword="%") == []
    assert call(fused, "get_announcements_by_date", keyword="３9 号")
    assert call(fused, "get_announcements_by_date", offset=1) == []
    assert "date" in refused(fused, "get_announcements_by_date", date="2030-01-01")
    assert "start_date" in refused(
        fused, "get_announcements", code=MAOTAI, start_date=TODAY, end_date="2026-01-01"
    )


def test_news_and_research_through_the_catalog(fused: Bench) -> None:
    assert len(call(fused, "get_news", code=MAOTAI, start_date=TODAY, end_date=TODAY)) == 1
    assert {row["news_type"] for row in call(fused, "get_news", code=MAOTAI, news_type="research")} == {
        "research"
    }
    (newest,) = call(fused, "get_news_by_date")
    assert str(newest["pub_time"]).startswith(TODAY)
    assert "news_type" in refused(fused, "get_news", code=MAOTAI, news_type="gossip")
    assert [row["info_code"] for row in call(fused, "get_research_reports", code=MAOTAI)] == [
        "AP2",
        "AP1",
        "AP0",
    ]
    (report,) = call(fused, "get_research_reports_by_date", sort="-rating")
    assert (report["pub_date"], report["target_price"]) == (TODAY, 1800.0)
    assert call(fused, "get_news_flash", keyword="回调") == []


def test_disclosure_dates_through_the_catalog(fused: Bench) -> None:
    newest = call(fused, "get_periodic_report_schedule")
    assert [(row["code"], row["first_date"]) for row in newest] == [
        (PINGAN, "2026-08-15"),
        (MAOTAI, "2026-08-29"),
    ]
    assert call(fused, "get_periodic_report_schedule", start_date="2026-08-20") == newest[1:]  # yet to come
    assert len(call(fused, "get_periodic_report_schedule", report_period="2026-03-31")) == 2
    assert [row["report_period"] for row in call(fused, "get_periodic_report", code=MAOTAI)] == [
        "2026-06-30",
        "2026-03-31",
    ]
