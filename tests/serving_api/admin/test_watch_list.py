"""The routes of the watch list: what is on it, what is put on it, what that costs."""

from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.ledger.watch_list import WatchList
from tests.serving_api.admin.conftest import FetchContext
from tests.serving_api.market import NOW


def test_securities_are_added_to_a_list_that_there_is(bare: FetchContext) -> None:
    refused = bare.send("POST", "/datamgr/watch-list", json={"codes": ["600519"]})
    assert refused.status_code == 409
    engine = bare.warehouse.engine
    WatchList(engine).add(["600519"], "2020-01-02", by="supervisor", now=NOW)

    answer = bare.send("POST", "/datamgr/watch-list", json={"codes": ["SZ000001", "000300.SH"]})

    assert answer.status_code == 202, answer.text
    made = answer.json()["results"]
    command = CommandQueue(engine).get(made["command_id"])
    assert (command.command, command.args) == (
        "load_watched",
        {"codes": ["000001", "sh000300"], "since": "2016-01-01"},
    )
    (item,) = bare.results("/datamgr/watch-list")
    assert (item["code"], item["since"], item["loaded_until"]) == ("600519", "2020-01-02", None)


def test_what_is_no_code_is_named(bare: FetchContext) -> None:
    for wrong in ("hello", "000688.SH", "60051"):
        answer = bare.send("POST", "/datamgr/watch-list/plan", json={"codes": ["600519", wrong]})
        assert answer.status_code == 422
        assert repr(wrong) in answer.text
    late = bare.send("POST", "/datamgr/watch-list/plan", json={"codes": ["600519"], "since": "2030-01-01"})
    assert late.status_code == 422


def test_a_plan_grows_with_codes_and_years(bare: FetchContext) -> None:
    def calls(codes: list[str], since: str) -> int:
        answer = bare.send("POST", "/datamgr/watch-list/plan", json={"codes": codes, "since": since})
        assert answer.status_code == 200, answer.text
        return int(sum(answer.json()["results"]["calls"].values()))

    assert calls(["600519"], "2026-01-05") < calls(["600519"], "2016-01-04")
    assert calls(["600519"], "2016-01-04") < calls(["600519", "000001"], "2016-01-04")
