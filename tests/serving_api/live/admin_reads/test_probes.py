"""/datamgr/probe-all: eighteen probes in their order, each by itself, and what the guards saw."""

import threading

from core.errors import Transient
from resources.upstreams.probes import Probe, ProbeTarget
from serving_api.admin.probes import POOL, USUAL_CODE, probe_each
from tests.serving_api.live.admin_reads.conftest import CLOSED, FetchContext

NAMES = [
    "tdx_quote", "tdx_kline", "tencent_quote", "tencent_kline", "eastmoney_quote", "eastmoney_kline",
    "eastmoney_fund_flow", "eastmoney_limit_pool", "eastmoney_datacenter", "eastmoney_news", "sina_quote",
    "sina_finance", "ths_f10", "ths_hot", "cninfo_announcement", "exchange_disclosure", "csindex", "xueqiu",
]  # fmt: skip
ASKED = ProbeTarget("600519", "sh600519", "2026-08-21", "2026-08-20")


def stock_of(ctx: FetchContext) -> str:
    return next(
        one.code for one in ctx.world.securities(CLOSED) if one.kind == "stock" and one.market == "SH"
    )


def test_every_upstream_is_asked_in_a_fixed_order(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED

    reported = ctx.results("/datamgr/probe-all", code=stock_of(ctx))

    assert [one["name"] for one in reported["sources"]] == NAMES
    assert [one for one in reported["sources"] if not one["ok"]] == []
    assert reported["summary"] == {"ok": 18, "fail": 0}
    for one in reported["sources"]:
        assert one["latency_ms"] >= 0
        assert set(one) == {"name", "ok", "latency_ms", "sample_count" if one["ok"] else "error"}
    assert reported["counters"]["tencent"] == {"requests": 2, "failures": 0, "retries": 0, "cooldown": False}
    closed = {"state": "CLOSED", "failure_count": 0, "opened_at": None}
    assert reported["breakers"] == {"em_breaker": closed, "push2ex_breaker": closed}


def test_one_failing_upstream_hurts_no_other_and_opens_its_breaker(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED
    body = "密" * 400
    rules = [
        {"upstream": "eastmoney", "call": "limit_pool", "kind": "status", "args": {"code": 403}},
        {"upstream": "sina", "call": "*", "kind": "status", "args": {"code": 503, "body": body}},
    ]
    ctx.faults.replace(rules)

    reported = ctx.results("/datamgr/probe-all", code=stock_of(ctx))

    failed = {one["name"]: one["error"] for one in reported["sources"] if not one["ok"]}
    assert set(failed) >= {"eastmoney_limit_pool", "sina_quote", "sina_finance"}
    assert not {"eastmoney_quote", "tencent_quote", "xueqiu"} & set(failed)
    assert failed["eastmoney_limit_pool"].startswith("Refused: ")
    assert reported["breakers"]["push2ex_breaker"]["state"] == "OPEN"
    assert reported["breakers"]["em_breaker"]["state"] == "CLOSED"
    # A probe tells how its first try ended: nothing is tried again.
    assert reported["counters"]["sina"] == {"requests": 2, "failures": 2, "retries": 0, "cooldown": False}


def test_without_a_code_one_of_the_list_is_asked_about(ctx: FetchContext) -> None:
    """The usual one where it is listed; a sample market has other codes."""
    ctx.clock.at = CLOSED

    reported = ctx.results("/datamgr/probe-all")

    assert [one for one in reported["sources"] if not one["ok"]] == []
    assert reported["code"] in {one.code for one in ctx.world.securities(CLOSED) if one.kind == "stock"}
    assert reported["code"] != USUAL_CODE


def test_without_a_list_the_usual_code_is_asked_about(ctx: FetchContext) -> None:
    with ctx.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM fusion_stock_master")

    assert ctx.results("/datamgr/probe-all")["code"] == USUAL_CODE


def test_a_code_outside_all_number_ranges_is_refused(ctx: FetchContext) -> None:
    for code in ("60051", "999999", "sz600519"):
        answer = ctx.get("/datamgr/probe-all", code=code)

        assert answer.status_code == 422
        assert "code" in answer.text


def test_errors_are_cut_and_the_order_does_not_depend_on_timing() -> None:
    gate = threading.Barrier(POOL, timeout=5)
    late = threading.Event()

    def slow(clients: object, asked: ProbeTarget) -> list[int]:
        assert late.wait(5)
        return [1]

    def meet(clients: object, asked: ProbeTarget) -> list[int]:
        gate.wait()  # passes only when eight are asked at a time
        late.set()
        return [1, 2]

    def fail(clients: object, asked: ProbeTarget) -> list[int]:
        raise Transient("token=abcdef " + "x" * 500)

    def broken(clients: object, asked: ProbeTarget) -> list[int]:
        raise KeyError("a defect of a parser")

    others = [Probe(f"meet{number}", "x", meet) for number in range(POOL)]
    empty = Probe("empty", "x", lambda clients, asked: [])
    fine = Probe("nobody", "x", lambda clients, asked: [], may_be_empty=True)
    probes = [*others, Probe("slow", "x", slow), Probe("fail", "x", fail), Probe("broken", "x", broken),
              empty, fine]  # fmt: skip

    reported = probe_each(probes, lambda name: None, ASKED, 6)

    assert [one["name"] for one in reported] == [one.name for one in probes]
    found = {one["name"]: one for one in reported}
    assert len(found["fail"]["error"]) == 200
    assert "abcdef" not in found["fail"]["error"]
    assert found["broken"]["error"].startswith("KeyError")
    assert (found["empty"]["ok"], found["nobody"]["ok"]) == (False, True)
    assert found["slow"]["sample_count"] == 1
