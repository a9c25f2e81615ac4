"""Precedence of a setting: environment, `.env`, stored, default; and what the API and the platform read."""

from pathlib import Path

import pytest

from core.errors import InputError
from resources.stored_settings import platform_settings
from resources.warehouse.engine import make_engine, transaction

NAME = "WEB_SEARCH_MAX_RESULTS"


def store(folder: Path, **values: str) -> None:
    engine = make_engine(f"sqlite:///{folder / 'warehouse.sqlite3'}")
    with transaction(engine) as connection:
        connection.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS sys_config (config_key TEXT PRIMARY KEY, value TEXT)"
        )
        for key, value in values.items():
            connection.exec_driver_sql("REPLACE INTO sys_config VALUES (?, ?)", (key, value))
    engine.dispose()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("ENV_FILE", str(tmp_path / "env"))
    return tmp_path


@pytest.mark.parametrize(
    ("environment", "dotenv", "stored", "expected"),
    [
        ("11", "12", "13", 11),
        (None, "12", "13", 12),
        (None, None, "13", 13),
        (None, None, None, 6),
        ("11", None, "13", 11),
        (None, "12", None, 12),
    ],
)
def test_the_first_source_with_a_value_wins(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: str | None,
    dotenv: str | None,
    stored: str | None,
    expected: int,
) -> None:
    if environment is not None:
        monkeypatch.setenv(NAME, environment)
    if dotenv is not None:
        (folder / "env").write_text(f"# comment\nexport {NAME}='{dotenv}'\n")
    store(folder, **({} if stored is None else {NAME: stored}))

    settings = platform_settings()

    assert settings.web_search_max_results == expected
    # Only what the environment says is fixed for `PUT /datamgr/config`.
    assert ("web_search_max_results" in settings.explicit) is bool(environment or dotenv)


def test_keys_outside_the_allow_list_are_not_read_from_the_store(folder: Path) -> None:
    store(folder, DB_HOST="evil.example", DATA_SOURCE="mock", **{"data.cleanup.retention_days": "400"})

    settings = platform_settings()

    assert (settings.db_host, settings.data_source) == ("localhost", "real")
    assert settings.explicit == {"data_dir"}


def test_without_a_database_nothing_is_stored_and_none_is_made(folder: Path) -> None:
    assert platform_settings().web_search_max_results == 6
    assert not (folder / "warehouse.sqlite3").exists()


def test_a_database_without_the_table_has_nothing_stored(folder: Path) -> None:
    make_engine(f"sqlite:///{folder / 'warehouse.sqlite3'}").connect().close()

    assert platform_settings().web_search_max_results == 6


def test_a_stored_value_that_does_not_parse_refuses_to_start_by_its_name(folder: Path) -> None:
    store(folder, **{NAME: "many"})

    with pytest.raises(InputError, match=f"^{NAME}: 'many' is no whole number"):
        platform_settings()


def test_true_and_false_are_read_as_the_api_writes_them(folder: Path) -> None:
    store(folder, MODEL_WEB_SEARCH="false", PRICE_ALERT_THRESHOLD="7.5")

    settings = platform_settings()

    assert (settings.model_web_search, settings.price_alert_threshold) == (False, 7.5)
