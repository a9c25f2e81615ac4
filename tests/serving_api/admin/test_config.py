"""Stored settings: allow-list, types, ranges, what the environment fixes; on both engines."""

from dataclasses import fields, replace
from typing import Any

import pytest

from resources.settings import Settings, load_settings
from resources.warehouse.retention import SETTING as RETENTION
from resources.warehouse.stored import ANY
from serving_api.admin.config import allow_list
from tests.serving_api.admin.conftest import FetchContext

STORED = {row.name.upper() for row in fields(Settings) if row.metadata.get("stored")}


def put(ctx: FetchContext, key: Any, value: Any) -> Any:
    return ctx.send("PUT", "/datamgr/config", json={"key": key, "value": value})


def item(ctx: FetchContext, key: str) -> Any:
    return next(row for row in ctx.results("/datamgr/config") if row["key"] == key)


def test_the_list_is_the_stored_settings_and_the_retention(bare: FetchContext) -> None:
    found = bare.results("/datamgr/config")

    assert {row["key"] for row in found} == STORED | {RETENTION}
    assert not any(row["isSecret"] for row in found)


def test_no_secret_and_no_address_can_ever_be_stored() -> None:
    for row in fields(Settings):
        if row.metadata.get("secret") or "url" in row.name or "password" in row.name:
            assert row.name.upper() not in allow_list()


def test_defaults_are_those_of_the_settings(bare: FetchContext) -> None:
    assert item(bare, "PRICE_ALERT_THRESHOLD") == {
        "key": "PRICE_ALERT_THRESHOLD",
        "value": "5.0",
        "valueType": "float",
        "group": "monitor",
        "default": "5.0",
        "note": "percent",
        "isSecret": False,
        "updatedAt": None,
    }
    assert item(bare, "ENABLE_PORTFOLIO_MONITOR")["value"] == "true"
    assert (item(bare, RETENTION)["value"], item(bare, RETENTION)["valueType"]) == ("1095", "int")


def test_a_group_is_a_part_of_the_list(bare: FetchContext) -> None:
    monitor = bare.results("/datamgr/config", group="monitor")

    assert {row["group"] for row in monitor} == {"monitor"}
    assert 0 < len(monitor) < len(bare.results("/datamgr/config"))
    assert bare.results("/datamgr/config", group="nothing") == []


def test_a_stored_value_is_in_force_and_the_previous_one_is_returned(bare: FetchContext) -> None:
    first = put(bare, "PRICE_ALERT_THRESHOLD", "7").json()["results"]
    second = put(bare, "PRICE_ALERT_THRESHOLD", "8.25").json()["results"]

    assert (first["value"], first["previous"], first["restartRequired"]) == ("7.0", "5.0", False)
    assert (second["value"], second["previous"]) == ("8.25", "7.0")
    shown = item(bare, "PRICE_ALERT_THRESHOLD")
    assert (shown["value"], shown["default"]) == ("8.25", "5.0")
    assert shown["updatedAt"].endswith("+08:00")
    row = bare.warehouse.rows("sys_config", ANY.config_key == "PRICE_ALERT_THRESHOLD")[0]
    assert (row["updated_by"], row["value_type"], row["group_name"]) == ("admin", "float", "monitor")
    assert row["created_at"] <= row["updated_at"]


def test_what_is_stored_is_what_the_settings_read(bare: FetchContext) -> None:
    put(bare, "PRICE_ALERT_THRESHOLD", "7.5")
    put(bare, "ENABLE_PORTFOLIO_MONITOR", "off")
    rows = bare.warehouse.rows("sys_config")

    settings = load_settings({}, stored={row["config_key"]: row["value"] for row in rows})

    assert (settings.price_alert_threshold, settings.enable_portfolio_monitor) == (7.5, False)


def test_the_retention_needs_no_restart(bare: FetchContext) -> None:
    found = put(bare, RETENTION, "30").json()["results"]

    assert (found["value"], found["previous"], found["restartRequired"]) == ("30", "1095", False)


def test_what_the_environment_fixes_cannot_be_stored(bare: FetchContext) -> None:
    state = bare.api.app.state.platform
    put(bare, "PRICE_ALERT_THRESHOLD", "7")
    state.settings = replace(
        state.settings, price_alert_threshold=9.0, explicit=frozenset({"price_alert_threshold"})
    )

    answer = put(bare, "PRICE_ALERT_THRESHOLD", "8")

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("key: PRICE_ALERT_THRESHOLD is fixed by the environment")
    assert item(bare, "PRICE_ALERT_THRESHOLD")["value"] == "9.0"


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("DB_PASSWORD", "x", "key"),
        ("price_alert_threshold", "5", "key"),
        ("", "5", "key"),
        ("PRICE_ALERT_THRESHOLD", "much", "value"),
        ("PRICE_ALERT_THRESHOLD", "nan", "value"),
        ("PRICE_ALERT_THRESHOLD", "inf", "value"),
        ("PRICE_ALERT_THRESHOLD", "-1", "value"),
        ("PRICE_ALERT_THRESHOLD", 5, "value"),
        ("WEB_SEARCH_MAX_RESULTS", "6.5", "value"),
        ("WEB_SEARCH_MAX_RESULTS", "0", "value"),
        ("WEB_SEARCH_MAX_RESULTS", "1_0", "value"),
        ("WEB_SEARCH_MAX_RESULTS", "\uff15", "value"),
        ("ENABLE_PORTFOLIO_MONITOR", "maybe", "value"),
        (RETENTION, "29", "value"),
        (RETENTION, "", "value"),
    ],
)
def test_a_wrong_change_is_named_and_stores_nothing(
    bare: FetchContext, key: str, value: Any, named: str
) -> None:
    answer = put(bare, key, value)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{named}: ")
    assert bare.scalar("SELECT COUNT(*) FROM sys_config") == 0


def test_an_unknown_key_of_the_body_is_named(bare: FetchContext) -> None:
    answer = bare.send("PUT", "/datamgr/config", json={"key": RETENTION, "value": "40", "force": True})

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("force: ")
