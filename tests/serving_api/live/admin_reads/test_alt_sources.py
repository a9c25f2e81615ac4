"""/alt-sources: what can be had, what wants a credential, and a source that does not answer."""

from typing import Any

from tests.serving_api.live.admin_reads.conftest import CLOSED, Desk


def plain(desk: Desk, path: str, **params: Any) -> Any:
    answer = desk.api.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_source_without_its_credential_is_no_error(desk: Desk) -> None:
    desk.clock.at = CLOSED

    told = plain(desk, "/alt-sources")
    overview = plain(desk, "/alt-sources/overview")
    wanting = plain(desk, "/alt-sources/jisilu")

    held = {item["key"]: item for item in told["items"]}
    assert told["total"] == 3
    assert (held["xueqiu"]["available"], held["xueqiu"]["need_credential"]) == (True, False)
    assert "reason" not in held["xueqiu"]
    for key in ("jisilu", "iwencai"):
        assert (held[key]["available"], held[key]["need_credential"]) == (False, True)
        assert "none is configured" in held[key]["reason"]
    counts = {name: overview[name] for name in ("available", "need_credential", "unavailable")}
    assert counts == {"available": 1, "need_credential": 2, "unavailable": 0}
    assert {item["key"]: item["status"] for item in overview["items"]} == {
        "xueqiu": "available",
        "jisilu": "need_credential",
        "iwencai": "need_credential",
    }
    assert overview["checked_at"] == "2026-08-21T15:30:00+08:00"
    assert (wanting["available"], wanting["items"], wanting["total"]) == (False, [], 0)
    unknown = desk.api.get("/alt-sources/nobody")
    assert unknown.status_code == 404
    assert "xueqiu" in unknown.json()["detail"]


def test_rows_of_a_source_are_asked_once_a_minute(desk: Desk) -> None:
    desk.clock.at = CLOSED

    told = plain(desk, "/alt-sources/xueqiu", limit=5)
    plain(desk, "/alt-sources")

    assert [row["rank"] for row in told["items"]] == [1, 2, 3, 4, 5]
    assert told["total"] > 20
    assert set(told["items"][0]) == set(plain(desk, "/alt-sources")["items"][0]["fields"])
    assert desk.market.calls()["xueqiu"]["hot_list"] == 2  # without the token, and with it


def test_a_source_that_does_not_answer_says_why(desk: Desk) -> None:
    desk.clock.at = CLOSED
    desk.silence("xueqiu")

    told = plain(desk, "/alt-sources/xueqiu")
    overview = plain(desk, "/alt-sources/overview")

    assert (told["available"], told["need_credential"], told["items"]) == (False, False, [])
    assert told["reason"].startswith("Transient")
    assert overview["unavailable"] == 1
    desk.faults.clear()
    desk.ticks.advance(61)
    # The host cools down for half a minute of its own clock; the answer names whichever it was.
    again = plain(desk, "/alt-sources/xueqiu")
    assert again["available"] or again["reason"]
