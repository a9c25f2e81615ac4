"""An upgrade without a pause: the previous version goes on answering and working while the present one
extends the schema under it, and both use one warehouse for a while."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from core.errors import StorageError
from resources.warehouse.migrate import run_data_migrations
from tests.conftest import engine_url, listens, require
from tests.databases import MARIADB_URL, own_mariadb
from tests.upgrade.versions import PASSWORD, ROOT, Version, unpack_previous

READS = (
    "/api/v1/stocks/search?keyword=600519",
    "/api/v1/stocks/600519/kline?days=30&adjust=qfq",
    "/api/v1/stocks/600519/kline?days=30&as_of=2026-08-21T15:20",
    "/api/v1/datamgr/quality-records?table=fusion_kline_daily",
    "/api/v1/datamgr/batches?limit=5",
    "/api/v1/datamgr/stats/freshness",
    "/api/v1/datamgr/commands",
    "/api/v1/datamgr/schedule/status",
    "/api/v1/datamgr/lineage/fusion_kline_daily?code=600519&date=2026-08-21&column=close",
)
FILL = """
from pathlib import Path
import sys
from tests.serving_api import market
warehouse = market.open_warehouse(sys.argv[1], Path(sys.argv[2]))
warehouse.migrate()
market.fill(warehouse)
with warehouse.engine.begin() as connection:
    connection.exec_driver_sql("UPDATE sys_batch SET world='sample'")
"""
"""The rows of a platform on the sample market, as its runs mark their batches."""
WRITE = """
from pathlib import Path
import sys
from tests.serving_api import market
warehouse = market.open_warehouse(sys.argv[1], Path(sys.argv[2]))
market.put(warehouse, market.KLINE, [market.bar(sys.argv[3], market.TODAY, float(sys.argv[4]))])
"""
WORK = """
import sys
from types import SimpleNamespace
from schedules.commands.command_context import Handler
from schedules.commands.worker import Worker
from schedules.services import open_services
def echo(work):
    return {"by": sys.argv[1], "codes": work.args["codes"]}
runner = SimpleNamespace(open_runs=lambda command_id: [])
done = Worker(open_services(), runner, handlers={"fusion_sync": Handler(run=echo)}).work_once()
print(done.id)
"""
"""The worker itself: claim, heartbeat and end of a command. Only what the command does is replaced, and no
run of an earlier attempt is open."""


@pytest.fixture(scope="module")
def previous_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_previous(tmp_path_factory.mktemp("previous"))


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=pytest.mark.mariadb)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without any table."""
    if request.param == "sqlite":
        yield from engine_url("sqlite", tmp_path)
        return
    require("MariaDB", listens(MARIADB_URL), MARIADB_URL)
    with own_mariadb("upgrade") as address:
        yield address


@pytest.fixture
def both(previous_code: Path, tmp_path: Path, url: str) -> tuple[Version, Version]:
    return Version(previous_code, tmp_path, url), Version(ROOT, tmp_path, url)


def content(value: Any) -> Any:
    """An answer without what differs at each request, and without the counts of the day's runs, which the
    tasks of a new version are among as soon as its schema is there."""
    if isinstance(value, dict):
        left_out = {"query_time", "uptime", "today"}
        return {name: content(one) for name, one in value.items() if name not in left_out}
    return [content(one) for one in value] if isinstance(value, list) else value


def columns(url: str) -> set[tuple[str, str]]:
    engine = sa.create_engine(url)
    inspector = sa.inspect(engine)
    found = {
        (name, one["name"]) for name in inspector.get_table_names() for one in inspector.get_columns(name)
    }
    engine.dispose()
    return found


def test_the_previous_version_works_on_while_the_schema_grows(both: tuple[Version, Version]) -> None:
    old, new = both
    at = (old.url, str(old.data))
    old.must("-m", "schedules.supervisor.migrate")
    old.must("-c", FILL, *at)
    before = columns(old.url)

    with old.api() as old_api:
        assert old_api.login("admin", PASSWORD).status == 200
        first = {path: old_api.get(path) for path in READS}
        assert {path: answer.status for path, answer in first.items()} == dict.fromkeys(READS, 200)

        new.must("-m", "schedules.supervisor.migrate")
        after = columns(old.url)
        # Expand: what was there is there; and something came, or this test shows nothing.
        assert before <= after
        assert ("sys_command", "traceparent") in after - before
        again = {path: old_api.get(path) for path in READS}
        assert {path: content(answer.body) for path, answer in again.items()} == {
            path: content(answer.body) for path, answer in first.items()
        }

        with new.api() as new_api:
            # An account of the one is one of the other, and so is a session.
            account = {"username": "reader", "email": "reader@example.com", "password": PASSWORD}
            assert old_api.post("/api/v1/auth/register", account).status in {200, 201}
            assert new_api.login("reader", PASSWORD).status == 200
            assert new_api.login("admin", PASSWORD).status == 200
            assert {path: new_api.get(path).status for path in READS} == dict.fromkeys(READS, 200)

            # Either writes rows that the other reads.
            old.must("-c", WRITE, *at, "601398", "7.25")
            new.must("-c", WRITE, *at, "601939", "8.5")
            for code, close in (("601398", 7.25), ("601939", 8.5)):
                path = f"/api/v1/stocks/{code}/kline?days=30"
                read = [api.get(path).body["results"][-1]["close"] for api in (old_api, new_api)]
                assert read == [close, close]

            # Either carries out what the other was asked for.
            for asked, worker, name in ((new_api, old, "old"), (old_api, new, "new")):
                accepted = asked.post("/api/v1/datamgr/fusion/sync", {"codes": ["600519"]})
                assert accepted.status == 202, accepted
                number = accepted.body["results"]["command_id"]
                assert worker.must("-c", WORK, name).split()[-1] == str(number)
                for api in (old_api, new_api):
                    found = api.get(f"/api/v1/datamgr/commands/{number}").body["results"]
                    assert (found["status"], found["result"]["by"]) == ("success", name)

    # An old process that starts again during the upgrade finds nothing to do.
    assert "0 additions" in old.must("-m", "schedules.supervisor.migrate")


def test_a_version_that_is_older_than_the_stored_data_does_not_start(url: str, tmp_path: Path) -> None:
    """After a revision that changes stored data, a process of an earlier version would misread it."""
    version = Version(ROOT, tmp_path, url)
    version.must("-m", "schedules.supervisor.migrate")
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num='9999'")
    with pytest.raises(StorageError, match="revision 9999"):
        run_data_migrations(engine)
    engine.dispose()
    refused = version.run("-m", "schedules.supervisor.migrate")
    assert refused.returncode == 1
    assert "is of a newer version" in refused.stderr
    assert "Traceback" not in refused.stderr
