"""/datamgr/exrights: what is open with its evidence, and what a reason may be given for."""

from typing import Any

import pytest

from tests.serving_api.admin.conftest import FetchContext
from tests.serving_api.market import put

OPEN, CLOSED = "600519", "000001"
DAY = "2026-08-19"
REASON: dict[str, Any] = {"code": OPEN, "date": DAY, "reason": "merger, no record", "counts": True}


def item(code: str, **other: Any) -> dict[str, Any]:
    return {
        "code": code, "date": DAY, "market": "SH", "before_date": "2026-08-18", "close_before": 10.0,
        "quoted": 8.0, "expected": 10.0, "factor": 1.25, "status": "open", "opened_on": DAY, "asked_on": DAY,
        **other,
    }  # fmt: skip


@pytest.fixture
def ledger(bare: FetchContext) -> FetchContext:
    closed = {"status": "closed", "closed_by": "reason", "reason": "known", "closed_on": "2026-08-20"}
    items = bare.warehouse.table("ref_exright_item")
    put(bare.warehouse, items, [item(OPEN), item(CLOSED, market="SZ", **closed)])
    return bare


def test_open_items_come_first_with_their_evidence(ledger: FetchContext) -> None:
    first, second = ledger.results("/datamgr/exrights")

    assert [one["code"] for one in (first, second)] == [OPEN, CLOSED]
    evidence = ("date", "quoted", "close_before", "before_date", "factor", "days_open")
    assert [first[name] for name in evidence] == [DAY, 8.0, 10.0, "2026-08-18", 1.25, 3]
    assert (second["reason"], second["days_open"]) == ("known", 2)
    assert ledger.results("/datamgr/exrights", status="closed") == [second]


@pytest.mark.parametrize(
    ("change", "parameter", "says"),
    [
        ({"code": CLOSED}, "code", "000001 has no open item"),
        ({"code": "600000"}, "code", "600000 has no open item"),
        ({"date": "2026-08-20"}, "date", f"600519 has no open item of 2026-08-20; it has {DAY}"),
        ({"date": "2026-08-32"}, "date", "no date"),
        ({"date": "2030-08-20"}, "date", "future"),
        ({"code": "sz600519"}, "code", "600519.SH"),
        ({"reason": "   "}, "reason", "at least 1"),
        ({"reason": "x" * 256}, "reason", "at most 255"),
        ({"counts": "perhaps"}, "counts", "boolean"),
        ({"counts": None}, "counts", "boolean"),
        ({"why": "x"}, "why", "not permitted"),
    ],
)
def test_what_cannot_be_a_reason_is_refused_and_named(
    ledger: FetchContext, change: dict[str, Any], parameter: str, says: str
) -> None:
    answer = ledger.send("POST", "/datamgr/exrights/reason", json={**REASON, **change})

    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["loc"][-1] == parameter
    assert says in error["msg"]
    assert ledger.scalar("SELECT COUNT(*) FROM sys_command") == 0


def test_a_reason_goes_to_the_platform_as_a_command(ledger: FetchContext) -> None:
    answer = ledger.send("POST", "/datamgr/exrights/reason", json=REASON)

    assert answer.status_code == 202
    (command,) = ledger.results("/datamgr/commands")
    assert (command["command"], command["args"], command["requested_by"]) == (
        "exright_reason",
        REASON,
        "admin",
    )


def test_a_withdrawal_needs_a_reason_that_is_there(ledger: FetchContext) -> None:
    for code, parameter in ((OPEN, "code"), (CLOSED, "date")):
        key = {"code": code, "date": DAY if code == OPEN else "2026-08-18"}
        answer = ledger.send("POST", "/datamgr/exrights/withdraw", json=key)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["loc"][-1] == parameter
    answer = ledger.send("POST", "/datamgr/exrights/withdraw", json={"code": CLOSED, "date": DAY})
    assert answer.status_code == 202
    assert ledger.results("/datamgr/commands")[0]["args"] == {"code": CLOSED, "date": DAY, "reason": None}


@pytest.mark.parametrize("path", ["", "/reason", "/withdraw"])
def test_it_is_for_administrators(ledger: FetchContext, path: str) -> None:
    how: dict[str, Any] = {"json": REASON} if path else {}
    answer = ledger.api.request("POST" if path else "GET", f"/datamgr/exrights{path}", **how)
    assert answer.status_code == 401
