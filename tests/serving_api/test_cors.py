"""Pages of other origins: those of CORS_ORIGINS read and write with a token, others do not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import InputError
from resources.settings import load_settings
from tests.serving_api.conftest import Bench, Ticks, make_app, running

ORIGIN = "https://app.example.com"
STRANGER = "https://app.example.org"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Bench]:
    url, ticks = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", Ticks()
    app = make_app(url, tmp_path, ticks, cors_origins=f"{ORIGIN}, http://localhost:5173")
    with running(app) as api:
        yield Bench(api, ticks, url, tmp_path)


def preflight(bench: Bench, origin: str, headers: str = "authorization, content-type") -> dict[str, str]:
    answer = bench.api.request(
        "OPTIONS",
        "/auth/login",
        headers={
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": headers,
        },
    )
    return {**answer.headers, "status": str(answer.status_code)}


def test_a_page_of_a_named_origin_may_read_and_write(own: Bench) -> None:
    for origin in (ORIGIN, "http://localhost:5173"):
        asked = preflight(own, origin)
        assert (asked["status"], asked["access-control-allow-origin"]) == ("200", origin)
        assert {"authorization", "content-type"} <= set(
            asked["access-control-allow-headers"].lower().split(", ")
        )
    bars = own.api.get("/stocks/600519/kline", headers={"Origin": ORIGIN})
    assert bars.headers["access-control-allow-origin"] == ORIGIN
    assert "X-Factor" in bars.headers["access-control-expose-headers"]


def test_errors_tell_the_page_as_well(own: Bench) -> None:
    refused = own.api.get("/stocks/600519/kline?days=1", headers={"Origin": ORIGIN})

    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (422, ORIGIN)


def test_strangers_and_the_consoles_cookie_are_left_out(own: Bench) -> None:
    assert preflight(own, STRANGER)["status"] == "400"
    assert "access-control-allow-origin" not in preflight(own, STRANGER)
    assert preflight(own, ORIGIN, "x-console")["status"] == "400"
    assert "access-control-allow-credentials" not in preflight(own, ORIGIN)


def test_without_the_setting_nobody_may(bench: Bench) -> None:
    assert preflight(bench, ORIGIN)["status"] == "405"
    answer = bench.api.get("/stocks/600519/kline", headers={"Origin": ORIGIN})
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "origin", ["app.example.com", "https://app.example.com/", "ftp://example.com", "null"]
)
def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(InputError, match=r"^CORS_ORIGINS: "):
        load_settings({"CORS_ORIGINS": origin})
