"""The download routes on both engines, with a worker that a test plays."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from core.errors import StorageError
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.commands import CommandQueue
from serving_api.datasets.download import service
from serving_api.datasets.download.service import TYPES, built_types, details_of, expand, split, whole
from tests.serving_api.conftest import Bench
from tests.serving_api.worker import fail, succeed, worker

QUOTE = {
    "types": {"quote": {"status": "success", "codes": {"600519": {"total": 3, "saved": 2, "gap_count": 1}}}},
    "fusion": {
        "status": "success",
        "batch_id": "b1",
        "results": {"stock_master": {"status": "success", "saved": 1}},
    },
}


@pytest.fixture
def post(own_on_both: Bench) -> Callable[..., httpx.Response]:
    headers = own_on_both.admin()

    def send(path: str, **how: Any) -> httpx.Response:
        return own_on_both.api.post(f"/datamgr/{path}", headers=headers, **how)

    # Patience enough for a busy machine; the tests that want none say so.
    object.__setattr__(own_on_both.api.app.state.platform.settings, "command_wait_sec", 5.0)
    return send


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> str:
    """A type that the platform, as one would have it with less datasets, cannot download."""
    built = {name: feeds for name, feeds in built_types().items() if name != "lockup"}
    monkeypatch.setattr("serving_api.datasets.download.service.built_types", lambda: built)
    return "lockup"


def test_there_are_38_types_and_all_leaves_the_market_level_one_out() -> None:
    assert len(TYPES) == len(set(TYPES)) == 38
    assert set(TYPES) - set(expand(["all"])) == {"northbound"}
    assert expand(["quote", "all", "quote"])[0] == "quote"
    assert "quote" in split(["quote"]).built


def test_an_unknown_type_is_reported_twice_and_nothing_is_done(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    one = post("download/600519", params={"types": "klines"})
    many = post("download-batch", json={"codes": ["600519"], "taskTypes": ["quote", "klines"]})

    for answer in (one, many):
        assert answer.status_code == 200
        found = answer.json()
        assert found["error"] == "unknown type: klines"
        assert found["results"] == {"error": "unknown type: klines"}
    assert CommandQueue(make_engine(own_on_both.url)).recent()[1] == 0


def test_a_type_without_a_dataset_fails_with_its_reason(
    own_on_both: Bench, post: Callable[..., httpx.Response], missing: str
) -> None:
    name = missing

    found = post("download/600519", params={"types": name}).json()["results"]

    assert found["status"] == "failed"
    assert (found["total"], found["saved"], found["gap_count"]) == (0, 0, 0)
    assert found["details"][name]["status"] == "failed"
    assert name in found["details"][name]["message"]
    assert (found["fusion"], found["fox_fusion"]) == (None, None)
    assert CommandQueue(make_engine(own_on_both.url)).recent()[1] == 0


def test_a_download_is_a_command_and_its_fusion_has_both_names(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    with worker(own_on_both.url, succeed(QUOTE)) as done:
        answer = post("download/600519", params={"types": "quote"})

    found = answer.json()["results"]
    assert answer.status_code == 200
    assert (done[0].command, done[0].args) == ("download", {"codes": ["600519"], "types": ["quote"]})
    assert done[0].requested_by == "admin"
    assert (found["status"], found["total"], found["saved"], found["gap_count"]) == ("success", 3, 2, 1)
    assert found["details"] == {"quote": {"status": "success", "total": 3, "saved": 2, "gap_count": 1}}
    assert found["fusion"] == found["fox_fusion"]
    assert found["fox_fusion"] == {
        "status": "success",
        "batch_id": "b1",
        "results": {"stock_master": {"status": "success", "saved": 1}},
    }
    assert answer.json()["stats"]["total"] == 3


def test_all_asks_for_what_is_built_and_names_the_rest(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    with worker(own_on_both.url, succeed(QUOTE)) as done:
        found = post("download/600519", params={"types": "all"}).json()["results"]

    assert set(done[0].args["types"]) == set(built_types())
    assert set(found["details"]) == set(TYPES) - {"northbound"}
    assert found["status"] == "success"
    assert "parts failed" in found["message"]


def test_a_batch_is_reported_by_code_and_type(
    own_on_both: Bench, post: Callable[..., httpx.Response], missing: str
) -> None:
    body = {"codes": ["600519", "000001", "600519"], "taskTypes": ["quote", missing]}
    with worker(own_on_both.url, succeed(QUOTE)) as done:
        found = post("download-batch", json=body).json()["results"]

    assert done[0].args == {"codes": ["600519", "000001"], "types": ["quote"]}
    assert found["details"]["600519"]["quote"]["saved"] == 2
    assert found["details"]["000001"]["quote"]["status"] == "failed"
    assert "000001" in found["details"]["000001"]["quote"]["message"]
    assert found["status"] == "success"


def test_a_command_that_fails_fails_every_type_with_its_words(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    with worker(own_on_both.url, fail("the run did not start")):
        found = post("download/600519", params={"types": "quote"}).json()["results"]

    assert found["status"] == "failed"
    assert found["details"]["quote"]["message"] == "the run did not start"
    assert "the run did not start" in found["message"]


def test_what_takes_longer_is_accepted_with_the_number_of_its_command(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    object.__setattr__(own_on_both.api.app.state.platform.settings, "command_wait_sec", 0.05)

    answer = post("download/600519", params={"types": "quote"})

    found = answer.json()["results"]
    assert (answer.status_code, found["status"]) == (202, "accepted")
    command = CommandQueue(make_engine(own_on_both.url)).get(found["command_id"])
    assert (command.command, command.status) == ("download", "queued")


def test_without_a_database_it_failed_and_says_so(
    own_on_both: Bench, post: Callable[..., httpx.Response], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise StorageError("gone")

    monkeypatch.setattr(CommandQueue, "enqueue", away)
    answer = post("download/600519", params={"types": "quote"})

    found = answer.json()["results"]
    assert (answer.status_code, found["status"], found["message"]) == (200, "failed", service.AWAY)


MARKET = {
    "status": "success",
    "total": 5,
    "saved": 5,
    "latest_date": "2026-08-20",
    "channels": ["hgt", "sgt"],
}


def test_northbound_is_a_download_of_the_market(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    with worker(own_on_both.url, succeed(MARKET)) as done:
        found = post("download/market/northbound").json()["results"]

    assert (done[0].command, done[0].args) == ("download_market", {"name": "northbound"})
    assert found == {
        "status": "success",
        "total": 5,
        "saved": 5,
        "gap_count": 0,
        "latestDate": "2026-08-20",
        "channels": ["hgt", "sgt"],
        "message": "下载完成",
    }


def test_a_topical_download_takes_a_date_and_shows_its_fusions(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    reported = {**MARKET, "fusion": {"margin": {"status": "success", "saved": 3}}}
    with worker(own_on_both.url, succeed(reported)) as done:
        found = post("download/market/exchange_margin", json={"date": "20260820"}).json()["results"]

    assert done[0].args == {"name": "exchange_margin", "date": "2026-08-20"}
    assert found["fusion"] == {"margin": {"status": "success", "saved": 3}}
    with worker(own_on_both.url, fail("the run did not start")):
        found = post("download/market/limit_pool").json()["results"]
    assert (found["status"], found["message"], found["total"]) == ("failed", "the run did not start", 0)


def test_an_unknown_market_download_names_the_nearest_and_a_wrong_date_itself(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    missing = post("download/market/exchange_margins")
    assert missing.status_code == 404
    assert "exchange_margin" in missing.json()["detail"]
    assert post("download/market/margin").status_code == 404  # by code only
    for date in ("2026-08-22", "2027-01-04", "soon"):
        answer = post("download/market/limit_pool", json={"date": date})
        assert (answer.status_code, "date" in answer.json()["detail"]) == (422, True)
    assert CommandQueue(make_engine(own_on_both.url)).recent()[1] == 0


def test_northbound_by_code_is_the_same_download(
    own_on_both: Bench, post: Callable[..., httpx.Response]
) -> None:
    with worker(own_on_both.url, succeed(MARKET)) as done:
        found = post("download/600519", params={"types": "northbound"}).json()["results"]

    assert [one.command for one in done] == ["download_market"]
    assert found["details"]["northbound"] == {
        "status": "success", "total": 5, "saved": 5, "gap_count": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("download/60051", {"params": {"types": "quote"}}),
        ("download/600519", {}),
        ("download-batch", {"json": {"codes": [], "taskTypes": ["quote"]}}),
        ("download-batch", {"json": {"codes": ["600519"], "taskTypes": []}}),
        ("download-batch", {"json": {"codes": ["600519"], "types": ["quote"]}}),
        ("download-batch", {"json": {"codes": [f"{n:06d}" for n in range(501)], "taskTypes": ["quote"]}}),
    ],
)
def test_bad_requests(post: Callable[..., httpx.Response], path: str, how: dict[str, Any]) -> None:
    assert post(path, **how).status_code == 422


def test_members_may_not_download(own_on_both: Bench) -> None:
    path = "/datamgr/download/600519?types=quote"

    assert own_on_both.api.post(path).status_code == 401
    assert own_on_both.api.post(path, headers=own_on_both.member()).status_code == 403


def test_sums_and_words_of_the_parts() -> None:
    details = details_of(["600519"], QUOTE["types"], ["kline"])
    parts = list(details["600519"].values())

    found = whole(details, parts, None)

    assert (found["status"], found["total"], found["saved"]) == ("success", 3, 2)
    assert found["message"].startswith("1 of 2 parts failed: ")
    assert whole({}, [], None)["status"] == "failed"
