"""/alt-sources: what can be had, what wants a credential, and a source that does not answer."""

from typing import Any

from tests.serving_api.live.admin_reads.conftest import CLOSED, FetchContext


def plain(ctx: FetchContext, path: str, **params: Any) -> Any:
    answer = ctx.api.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_source_without_its_credential_is_no_error(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED

    reported = plain(ctx, "/alt-sources")
    overview = plain(ctx, "/alt-sources/overview")
    wanting = plain(ctx, "/alt-sources/jisilu")

    held = {item["key"]: item for item in reported["items"]}
    assert reported["total"] == 3
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
    unknown = ctx.api.get("/alt-sources/nobody")
    assert unknown.status_code == 404
    assert "xueqiu" in unknown.json()["detail"]


def test_rows_of_a_source_are_asked_once_a_minute(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED

    reported = plain(ctx, "/alt-sources/xueqiu", limit=5)
    plain(ctx, "/alt-sources")

    assert [row["rank"] for row in reported["items"]] == [1, 2, 3, 4, 5]
    assert reported["total"] > 20
    assert set(reported["items"][0]) == set(plain(ctx, "/alt-sources")["items"][0]["fields"])
    assert ctx.market.calls()["xueqiu"]["hot_list"] == 2  # without the token, and with it


def test_a_source_that_does_not_answer_says_why(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED
    ctx.silence("xueqiu")

    reported = plain(ctx, "/alt-sources/xueqiu")
    overview = plain(ctx, "/alt-sources/overview")

    assert (reported["available"], reported["need_credential"], reported["items"]) == (False, False, [])
    assert reported["reason"].startswith("Transient")
    assert overview["unavailable"] == 1
    ctx.faults.clear()
    ctx.ticks.advance(61)
    # The host cools down for half a minute of its own clock; the answer names whichever it was.
    again = plain(ctx, "/alt-sources/xueqiu")
    assert again["available"] or again["reason"]
