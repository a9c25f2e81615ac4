"""POST /datamgr/fusion/sync on both engines: accepted, refused while locked, never by accident."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.locks import DomainLocks
from tests.serving_api.conftest import Bench

PATH = "/datamgr/fusion/sync"


def ask(bench: Bench, **how: Any) -> httpx.Response:
    headers = bench.extra.setdefault("headers", None) or bench.admin()
    bench.extra["headers"] = headers
    return bench.api.post(PATH, headers=headers, **how)


@pytest.fixture
def queue(own_on_both: Bench) -> CommandQueue:
    return CommandQueue(make_engine(own_on_both.url))


def test_without_a_body_the_whole_market_is_asked_for(own_on_both: Bench, queue: CommandQueue) -> None:
    answer = ask(own_on_both)

    assert answer.status_code == 202
    found = answer.json()["results"]
    assert (found["status"], found["mode"], found["codes"]) == ("accepted", "full_market", [])
    command = queue.get(found["command_id"])
    assert (command.command, command.args, command.requested_by) == ("fusion_sync", {}, "admin")


def test_of_many_at_once_one_is_accepted(own_on_both: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    look = CommandQueue.of_name

    def slow(*args: Any, **how: Any) -> Any:
        found = look(*args, **how)
        time.sleep(0.1)
        return found

    monkeypatch.setattr(CommandQueue, "of_name", slow)
    ask(own_on_both, json={"codes": ["600519"]})  # logged in
    with ThreadPoolExecutor(50) as pool:
        statuses = [answer.status_code for answer in pool.map(lambda _: ask(own_on_both), range(50))]

    assert sorted(statuses) == [202] + [409] * 49


def test_an_empty_object_is_no_list_of_codes(own_on_both: Bench) -> None:
    assert ask(own_on_both, json={}).json()["results"]["mode"] == "full_market"


def test_codes_are_echoed_without_repetition(own_on_both: Bench, queue: CommandQueue) -> None:
    found = ask(own_on_both, json={"codes": ["600519", "000001", "600519"]}).json()["results"]

    assert (found["mode"], found["codes"]) == ("codes", ["600519", "000001"])
    assert queue.get(found["command_id"]).args == {"codes": ["600519", "000001"]}


def test_a_held_domain_refuses_the_whole_market_only(own_on_both: Bench) -> None:
    engine = make_engine(own_on_both.url)
    with DomainLocks(engine, ttl_s=60).held(("daily",), "run:abc"):
        refused = ask(own_on_both)
        some = ask(own_on_both, json={"codes": ["600519"]})

    assert refused.status_code == 409
    assert "daily" in refused.json()["detail"]
    assert "run:abc" in refused.json()["detail"]
    assert some.status_code == 202
    assert ask(own_on_both).status_code == 202


def test_one_full_fusion_at_a_time(own_on_both: Bench, queue: CommandQueue) -> None:
    first = ask(own_on_both).json()["results"]["command_id"]
    assert ask(own_on_both).status_code == 409

    claimed = queue.claim("w")
    assert claimed is not None
    assert claimed.id == first
    assert ask(own_on_both).status_code == 409

    queue.finish(claimed, "success")
    assert ask(own_on_both).status_code == 202


@pytest.mark.parametrize(
    "body",
    [
        {"codes": []},
        {"codes": None},
        {"codes": ["60051"]},
        {"codes": [f"{n:06d}" for n in range(501)]},
        {"code": ["600519"]},
        {"codes": "600519"},
    ],
)
def test_a_mistyped_body_starts_nothing(
    own_on_both: Bench, queue: CommandQueue, body: dict[str, Any]
) -> None:
    answer = ask(own_on_both, json=body)

    assert answer.status_code == 422
    assert queue.recent()[1] == 0


def test_strangers_and_members_are_refused_first(own_on_both: Bench) -> None:
    assert own_on_both.api.post(PATH, json={"codes": []}).status_code == 401
    assert own_on_both.api.post(PATH, json={"codes": []}, headers=own_on_both.member()).status_code == 403
