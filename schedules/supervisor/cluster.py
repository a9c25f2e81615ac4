"""`python -m schedules.supervisor.cluster`: the production topology on this machine, without containers.

Warehouse, Dagster's history and the broker are servers: those that the settings name, else those that answer
on loopback. Their databases are made where they are missing; a server that is missing is said in one line.
`--check` says only what is missing.
"""

import getpass
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from core.errors import PlatformError
from resources.redact import redact
from resources.run_lock import StartRefused
from resources.settings import Settings, load_settings
from schedules.supervisor import app, checks, topology

DATABASE = "ashare_cluster"
DATA_DIR = "data/cluster"
CONNECT_S = 5
_HINT = "start it, name another one in {variable}, or install it: make cluster-services"


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with the defaults of the cluster: servers at their standard ports on loopback, and the
    processes of the topology."""
    user = getpass.getuser()
    database = {} if any(name.startswith("DB_") for name in environ) else {
        "WAREHOUSE_URL": f"mysql+pymysql://root@127.0.0.1:3306/{DATABASE}?charset=utf8mb4"
    }  # fmt: skip
    return {
        **database,
        "DAGSTER_POSTGRES_URL": f"postgresql+psycopg2://{user}@127.0.0.1:5432/{DATABASE}",
        "BROKER_URL": "amqp://guest:guest@127.0.0.1:5672//",
        "DATA_DIR": DATA_DIR,
        "API_PROCESSES": str(topology.API_PROCESSES),
        "STEP_WORKERS": str(topology.STEP_WORKERS),
        **environ,
    }


def missing(settings: Settings) -> list[str]:
    """A line for each server that does not answer, or does not let us in; databases are made meanwhile."""
    found = []
    for variable, url in (
        (settings.warehouse_variables, settings.warehouse_address),
        ("DAGSTER_POSTGRES_URL", settings.dagster_postgres_url),
    ):
        try:
            make_database(url)
        except sa.exc.DBAPIError as error:
            reason = redact(str(error.orig)).strip().partition("\n")[0]
            found.append(f"{variable}: {reason}; {_HINT.format(variable=variable)}")
        except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ValueError):
            found.append(f"{variable}: no database URL with a driver that is installed")
    try:
        checks.check_broker(settings)
    except StartRefused as error:
        found.append(f"{error.message}; {_HINT.format(variable='BROKER_URL')}")
    return found


def make_database(url: str) -> None:
    """Create the database that `url` names where it is missing. Raises SQLAlchemy's errors."""
    address = sa.make_url(url)
    server = address.get_backend_name() == "postgresql"
    engine = sa.create_engine(
        address.set(database="postgres" if server else "information_schema"),
        isolation_level="AUTOCOMMIT",
        connect_args={"connect_timeout": CONNECT_S},
    )
    name = engine.dialect.identifier_preparer.quote(address.database or DATABASE)
    try:
        with engine.connect() as connection:
            if not server:
                connection.exec_driver_sql(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4")
            elif (
                connection.execute(
                    sa.text("SELECT 1 FROM pg_database WHERE datname=:name"), {"name": address.database}
                ).first()
                is None
            ):
                connection.exec_driver_sql(f"CREATE DATABASE {name}")
    finally:
        engine.dispose()


def main() -> int:
    environ = environment(os.environ)
    try:
        settings = load_settings(environ, dotenv=Path(environ.get("ENV_FILE", ".env")))
        checks.check_postgres(settings.dagster_postgres_url)
        lines = missing(settings)
    except PlatformError as error:
        lines = [error.message]
    for line in lines:
        sys.stderr.write(f"{line}\n")
    if lines or "--check" in sys.argv[1:]:
        return 1 if lines else 0
    os.environ.update(environ)
    return app.run(environ)


if __name__ == "__main__":
    sys.exit(main())
