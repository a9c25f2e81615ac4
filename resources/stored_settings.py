"""Settings with the values that `PUT /datamgr/config` stored: what the API and the platform start with."""

import logging

from sqlalchemy.engine import Engine

from core.errors import StorageError
from resources.settings import Settings, process_settings
from resources.warehouse.engine import is_sqlite, make_engine, reading

TABLE = "sys_config"
_WAIT_S = 5.0
log = logging.getLogger(__name__)


def read_stored(engine: Engine) -> dict[str, str]:
    """Key -> value. Raises StorageError when the database cannot be reached or has no such table yet."""
    with reading(engine) as connection:
        rows = connection.exec_driver_sql(f"SELECT config_key, value FROM {TABLE} WHERE value IS NOT NULL")
        return {str(key): str(value) for key, value in rows}


def platform_settings() -> Settings:
    """Environment > `.env` > stored > default. Before the first migration, and while the database cannot be
    reached, there are no stored values; a stored value that does not parse refuses to start, like any
    other."""
    settings = process_settings()
    engine = make_engine(settings.warehouse_address, read_only=True, wait_s=_WAIT_S)
    try:
        stored = read_stored(engine)
    except StorageError as error:
        if not is_sqlite(engine) or settings.data_path.joinpath("warehouse.sqlite3").exists():
            log.warning("no stored settings: %s", error.message)
        return settings
    finally:
        engine.dispose()
    return process_settings(stored)
