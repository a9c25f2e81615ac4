"""Every error has one response, and none of them says more than it should."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import errors as family
from serving_api.framework import error_responses
from serving_api.framework.error_responses import error_response_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from tests.damaged import damage
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, make_app


def code_of(error: Exception, status: int) -> str:
    """What a program reads: closer than the status where there is something to do about it."""
    closer = {
        family.DiskFull: "disk_full",
        family.DamagedStorage: "storage_damaged",
        family.StorageError: "storage_busy",
    }
    by_class = next((code for kind, code in closer.items() if isinstance(error, kind)), None)
    return (
        by_class
        or {
            400: "bad_request",
            401: "not_authenticated",
            403: "forbidden",
            404: "not_found",
            409: "conflict",
            422: "invalid_input",
            429: "too_many_requests",
            500: "internal",
            503: "source_away",
        }[status]
    )


SECRET = "mysql+pymysql://root:hunter2@db/app"

router = area_router("/api/v1/stocks-trial", "trial")
_to_raise: list[BaseException] = []


@router.get("/raise")
async def raise_it(call: Anyone) -> Answer:
    raise _to_raise[0]


@router.post("/body")
async def read_body(call: Anyone, body: dict[str, Any]) -> Answer:
    return Answer(body)


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Bench]:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    app = make_app(url, tmp_path, Ticks())
    app.include_router(router)
    with running(app) as api:
        yield Bench(api, Ticks(), url, tmp_path)


CASES = [
    (family.NotFound("no such thing"), 404, "no such thing"),
    (family.Forbidden("no"), 403, "no"),
    (family.ConflictError("kline is held by run 7"), 409, "kline is held by run 7"),
    (family.InputError("days", "too many"), 422, "days: too many"),
    (family.StorageError(SECRET), 503, error_responses.STORE_BUSY),
    (family.LockLost(SECRET), 503, error_responses.STORE_BUSY),
    (family.Transient(SECRET), 503, error_responses.SOURCE_AWAY),
    (family.Refused(SECRET), 503, error_responses.SOURCE_AWAY),
    (family.PayloadError(SECRET), 503, error_responses.SOURCE_AWAY),
    (family.Unavailable(SECRET), 503, error_responses.SOURCE_AWAY),
    (family.QualityError(SECRET), 500, "internal error"),
    (family.DeclarationError(SECRET), 500, "internal error"),
    (error_responses.NotAuthenticated("who?"), 401, "who?"),
    (error_responses.TooManyAttempts("slow", 7), 429, "slow"),
    (error_responses.BadRequest("no"), 400, "no"),
    (KeyError(SECRET), 500, "internal error"),
    (ZeroDivisionError(SECRET), 500, "internal error"),
]


@pytest.mark.parametrize(("error", "status", "detail"), CASES, ids=lambda case: type(case).__name__)
def test_the_face_of_each_error(
    trial: Bench, error: BaseException, status: int, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    _to_raise[:] = [error]

    answer = trial.api.get("/stocks-trial/raise")

    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
    assert answer.json().keys() == ({"detail", "errors"} if status == 422 else {"detail"})
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-request-id"]
    assert answer.headers["x-error-code"] == code_of(error, status)
    assert ("retry-after" in answer.headers) is (status in {429, 503})
    assert ("www-authenticate" in answer.headers) is (status == 401)
    assert "hunter2" not in answer.text + caplog.text
    # An operator finds each failure of ours in the log, the caller's errors not.
    assert (type(error).__name__ in caplog.text) is (status >= 500)


def test_every_class_of_the_family_has_a_face() -> None:
    classes = [item for item in vars(family).values() if isinstance(item, type)]

    assert all(issubclass(item, family.PlatformError) for item in classes)
    faces = {
        item: error_response_of(item("p", "q") if item is family.InputError else item("m")).status
        for item in classes
    }
    assert set(faces.values()) == {403, 404, 409, 422, 500, 503}


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "warehouse.sqlite3"
    url = f"sqlite:///{file}"
    warehouse = market.open_warehouse(url, tmp_path)
    warehouse.migrate()
    market.fill(warehouse)
    warehouse.close()
    damage(file)

    with running(make_app(url, tmp_path, Ticks())) as api:
        answer = api.get("/stocks/600519/kline")

    assert (answer.status_code, answer.json()["detail"]) == (503, error_responses.DAMAGED)


def test_the_log_of_an_unexpected_error_hides_secrets(trial: Bench, caplog: pytest.LogCaptureFixture) -> None:
    _to_raise[:] = [RuntimeError(SECRET)]

    answer = trial.api.get("/stocks-trial/raise", headers={"X-Request-ID": "abc-123"})

    assert answer.headers["x-request-id"] == "abc-123"
    assert "abc-123" in caplog.text
    assert "RuntimeError" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("given", ["a" * 65, "x\ty", "ü", '"quoted"', ""])
def test_a_strange_request_id_is_replaced(trial: Bench, given: str) -> None:
    answer = trial.api.get("/stocks/index", headers={"X-Request-ID": given.encode("latin-1")})

    assert answer.headers["x-request-id"] != given
    assert len(answer.headers["x-request-id"]) == 16


def test_unknown_paths_and_methods(trial: Bench) -> None:
    unknown = trial.api.get("/nowhere")
    method = trial.api.request("DELETE", "/stocks/index")

    assert (unknown.status_code, unknown.json().keys()) == (404, {"detail"})
    assert (method.status_code, method.json().keys()) == (405, {"detail"})
    assert method.headers["allow"] == "GET"


@pytest.mark.parametrize(
    ("content", "media_type", "detail"),
    [
        (b"{broken", "application/json", "body: JSON decode error"),
        (rb'{"name": "\ud800"}', "application/json", "body: JSON decode error"),
        (b'{"number": NaN}', "application/json", "body: JSON decode error"),
        (b"\xff\xfe", "application/json", "body: "),
        (b"", "application/json", "body: Field required"),
        (b"[1]", "application/json", "body: Input should be a valid dictionary"),
        (b"a=1", "application/x-www-form-urlencoded", "body: "),
    ],
)
def test_unreadable_bodies_are_422(trial: Bench, content: bytes, media_type: str, detail: str) -> None:
    answer = trial.api.post("/stocks-trial/body", content=content, headers={"Content-Type": media_type})

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)


def test_every_problem_says_where_its_parameter_stands(bench: Bench) -> None:
    """Those that the framework finds, and those that a rule of ours finds."""

    admin = bench.admin()

    def loc(method: str, path: str, **how: Any) -> list[str]:
        answer = bench.api.request(method, path, headers=admin, **how)
        assert answer.status_code == 422, answer.text
        found: list[str] = answer.json()["errors"][0]["loc"]
        return found

    call = {"interface": "get_kline_daily", "params": {"code": "600519", "limit": 0}}
    assert loc("GET", "/stocks/600519/kline?days=1") == ["query", "days"]
    assert loc("GET", "/stocks/600519/kline?as_of=x") == ["query", "as_of"]
    assert loc("GET", "/stocks/60051/kline") == ["path", "code"]
    assert loc("GET", "/stocks/batch-kline?codes=1") == ["query", "codes"]
    assert loc("GET", "/datamgr/lineage/fusion_kline_daily?code=600519") == ["query", "date"]
    assert loc("POST", "/datamgr/fusion/call", json=call) == ["body", "params", "limit"]
    assert loc("POST", "/datamgr/fusion/call", json={**call, "as_of": "x"}) == ["body", "as_of"]
    assert loc("PUT", "/datamgr/config", json={"key": "nobody", "value": "1"}) == ["body", "key"]


def test_a_field_where_a_file_belongs_is_told_in_words_of_the_request(bench: Bench) -> None:
    answer = bench.api.post("/datamgr/stock-base/import", data={"file": "text"}, headers=bench.admin())

    assert answer.status_code == 422
    assert answer.json()["detail"] == "file: is no file; a multipart part with a file name is needed"


def test_a_trailing_slash_is_redirected(trial: Bench) -> None:
    answer = trial.api.get("/stocks/index/")

    assert answer.status_code == 307
    assert answer.headers["location"] == "/api/v1/stocks/index", "what is before us knows scheme and host"
