"""Start-up migrations: one process migrates under a lock, the others wait.

Missing tables, nullable columns and indexes come from the declarations (`ddl.create_missing`). An
Alembic revision exists only where stored data must change; it runs here, idempotently.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Engine

from core.errors import StorageError
from resources.warehouse.engine import is_sqlite

_SCRIPTS = Path(__file__).parent / "migrations"
_WAIT_S = 60


@contextmanager
def migration_lock(engine: Engine) -> Iterator[None]:
    """Exclusive among the processes that use this database: a lock file beside an SQLite file, a named
    lock of the server otherwise. Both vanish with their owner."""
    database = engine.url.database or ""
    if is_sqlite(engine):
        path = Path(f"{database.removeprefix('file:').partition('?')[0]}.migrate")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = path.open("w")
        except OSError as error:
            raise StorageError(f"{path} cannot be written ({error.strerror})") from None
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        return
    with engine.connect() as connection:
        name = f"migrate:{database}"[:64]
        if connection.exec_driver_sql("SELECT GET_LOCK(%s, %s)", (name, _WAIT_S)).scalar() != 1:
            raise StorageError("another process has been migrating this warehouse for a minute")
        try:
            yield
        finally:
            connection.exec_driver_sql("SELECT RELEASE_LOCK(%s)", (name,))


def revisions() -> tuple[Config, ScriptDirectory]:
    """The revisions that this version has, and the configuration with which they run."""
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    return config, ScriptDirectory.from_config(config)


def run_data_migrations(engine: Engine) -> None:
    """Bring `alembic_version` to the newest revision. Raises StorageError for one that this version does not
    have: a newer one has changed what is stored, and this one would misread it."""
    config, scripts = revisions()
    known = {script.revision for script in scripts.walk_revisions()}
    with engine.begin() as connection:
        stored = MigrationContext.configure(connection).get_current_revision()
        if stored is not None and stored not in known:
            raise StorageError(
                f"what is stored is of a newer version (revision {stored}, this one knows "
                f"{scripts.get_current_head()}): start that version, or restore an earlier backup"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
