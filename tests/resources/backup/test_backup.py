"""Backup of an installation under load, and what a restore makes of it."""

import json
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.clock import SystemClock
from core.errors import PlatformError
from resources.backup import postgres, restoring
from resources.backup.journal import refuse_half_restored
from resources.backup.making import backup, default_target
from resources.backup.manifest import NAME, BackupError, read_manifest
from resources.backup.restoring import restore
from resources.run_lock import RunLock, StartRefused
from resources.warehouse.ledger.heartbeats import Heartbeats, this_node
from serving_api.app import create_app
from tests.conftest import listens, own_postgres, require
from tests.databases import MARIADB_URL, own_mariadb
from tests.resources.backup.installation import (
    CODES,
    DAY,
    RUN_DAY,
    Installation,
    between_two_batches,
    ended_runs,
    write,
)
from tests.serving_api.client import running

READER = {"username": "reader", "email": "reader@example.com", "password": "pass word 1"}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Installation, Installation]:
    """An installation, and an empty one to restore into."""
    made = Installation(tmp_path / "data")
    made.prepare()
    return made, Installation(tmp_path / "other")


@pytest.fixture(params=["sqlite", "servers"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Installation, Installation]]:
    """The same with everything in SQLite, and with MariaDB and PostgreSQL."""
    with ExitStack() as stack:
        urls = [("", "")] * 2
        if request.param == "servers":
            require("MariaDB", listens(MARIADB_URL), MARIADB_URL)
            urls = [
                (stack.enter_context(own_mariadb("backup")), stack.enter_context(own_postgres("backup")))
                for _ in range(2)
            ]
        made, other = (
            Installation(tmp_path / name, *url) for name, url in zip(("data", "other"), urls, strict=True)
        )
        made.prepare()
        yield made, other


def token_of(installation: Installation) -> str:
    """A token that the API gave out."""
    with running(create_app(installation.settings)) as api:
        assert api.post("/auth/register", json=READER).status_code == 200
        answer = api.post("/auth/login", json={"username": "reader", "password": "pass word 1"})
        return str(answer.json()["access_token"])


def name_of(installation: Installation, token: str) -> str:
    """Who the API takes the bearer of a token for."""
    with running(create_app(installation.settings)) as api:
        answer = api.get("/auth/me", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["username"])


def small_backup(installation: Installation, to: Path) -> Path:
    """A backup of one batch, without any Dagster run."""
    with installation.warehouse() as warehouse:
        write(warehouse, DAY, 1.0)
    backup(installation.settings, to)
    return to


def client(name: str, *arguments: str) -> str:
    """What a client of a database prints."""
    path = shutil.which(name)
    require(name, path is not None, "PATH")
    done = subprocess.run([str(path), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "backslashreplace")


def warehouse_client(installation: Installation, query: str) -> str:
    """What the client of the warehouse's database prints for a query."""
    if not installation.warehouse_url:
        return client("sqlite3", str(installation.data / "warehouse.sqlite3"), query)
    server = sa.make_url(installation.warehouse_url)
    return client(
        "mariadb", f"-h{server.host}", f"-u{server.username}", "-N", str(server.database), "-e", query
    )


def rows_of_clients(installation: Installation) -> dict[str, str]:
    """Table -> what a client of its database says of its rows: all of them, or the server's checksum."""
    if not installation.warehouse_url:
        files = {
            "warehouse": installation.data / "warehouse.sqlite3",
            **{path.name: path for path in (installation.data / "dagster").rglob("*.db")},
        }
        return {
            f"{name} {table}": client("sqlite3", str(path), f"SELECT * FROM {table}")
            for name, path in files.items()
            for table in client(
                "sqlite3", str(path), "SELECT name FROM sqlite_master WHERE type='table'"
            ).split()
        }
    dagster = sa.make_url(installation.dagster_url)
    psql = ("psql", f"-h{dagster.host}", f"-U{dagster.username}", "-At", str(dagster.database), "-c")
    tables = warehouse_client(installation, "SHOW TABLES").split()
    sums = warehouse_client(installation, f"CHECKSUM TABLE {', '.join(tables)} EXTENDED").splitlines()
    made = warehouse_client(installation, "; ".join(f"SHOW CREATE TABLE {table}" for table in tables))
    listed = client(*psql, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").split()
    return {
        **{line.split(".")[1].split()[0]: line.split()[1] for line in sums},
        **{f"postgres {table}": client(*psql, f"SELECT * FROM {table} ORDER BY 1") for table in listed},
        "definitions": made,
        "sequences": client(*psql, "SELECT sequencename, last_value FROM pg_sequences ORDER BY 1"),
        "indexes": client(*psql, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"),
    }


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder that a start does not make."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in {".lock", ".migrate"} and path.name != ".lock"
    }


# -- end to end ---------------------------------------------------------------------------------------


def test_a_restored_backup_of_a_loaded_installation_is_a_state_between_two_batches(
    both: tuple[Installation, Installation], tmp_path: Path
) -> None:
    source, target = both
    token = token_of(source)
    made = []
    with source.loaded() as wait:
        for number in range(2):
            wait(4)
            made.append(backup(source.settings, tmp_path / f"backup{number}"))
        wait(1)

    restored = restore(target.settings, tmp_path / "backup1")

    assert restored.aside == ()
    with source.warehouse() as before, target.warehouse() as after, target.dagster() as instance:
        batches = between_two_batches(after)
        assert batches[DAY] < between_two_batches(before)[DAY]
        assert sum(batches.values()) == made[1].warehouse.batches
        assert made[0].warehouse.batches < made[1].warehouse.batches
        after.migrate()  # what the next start does
        runs = {run.run_id for run in ended_runs(instance)}
        wrote = {
            row[0] for row in after.query("SELECT run_id FROM sys_batch WHERE partition_key=?", (RUN_DAY,))
        }
        assert wrote
        assert wrote <= runs
        assert len(runs) == made[1].dagster.runs
        assert len(runs) == len(wrote) or made[1].dagster.newer_than_warehouse
    batches_of_client, older, days = (
        int(warehouse_client(target, f"SELECT COUNT({what}"))
        for what in ("*) FROM sys_batch", "*) FROM fusion_bars_history", "DISTINCT date) FROM fusion_bars")
    )
    assert batches_of_client == made[1].warehouse.batches
    assert older == CODES * (batches_of_client - days)
    if not target.warehouse_url:
        assert warehouse_client(target, "PRAGMA integrity_check").strip() == "ok"
    assert name_of(target, token) == "reader"
    assert (target.data / "something_new/file").read_text() == "kept"
    assert (target.data / "payloads/2026-08-20/ab/abc.zst").read_text() == "body"
    assert not (target.data / "logs").exists()


def test_of_an_installation_at_rest_other_programs_find_the_same_rows_after_a_restore(
    both: tuple[Installation, Installation], tmp_path: Path
) -> None:
    source, target = both
    token_of(source)
    with source.loaded() as wait:
        wait(3)

    manifest = backup(source.settings, tmp_path / "backup")
    restore(target.settings, tmp_path / "backup")

    assert not manifest.dagster.newer_than_warehouse
    assert manifest.dagster.unfinished_runs == 0
    assert manifest.dagster.highest_run == manifest.dagster.runs > 0
    assert read_manifest(tmp_path / "backup") == manifest
    found = rows_of_clients(target)
    assert found == rows_of_clients(source)
    assert len(found) > 30


# -- what a backup is ---------------------------------------------------------------------------------


def test_only_the_owner_can_read_a_backup_and_secrets_come_back_as_they_were(
    pair: tuple[Installation, Installation],
) -> None:
    source, target = pair
    token_of(source)
    to = small_backup(source, default_target(source.settings))

    assert {stat.S_IMODE(path.stat().st_mode) for path in to.rglob("*") if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (to, *to.rglob("*")) if path.is_dir()} == {0o700}
    restore(target.settings, to)
    secret = target.data / "secrets/jwt_secret"
    assert (stat.S_IMODE(secret.stat().st_mode), stat.S_IMODE(secret.parent.stat().st_mode)) == (0o600, 0o700)
    assert secret.read_bytes() == (source.data / "secrets/jwt_secret").read_bytes()


def test_a_later_backup_does_not_hold_the_earlier_ones(
    pair: tuple[Installation, Installation],
) -> None:
    first = small_backup(pair[0], pair[0].data / "backups/one")
    second = backup(pair[0].settings, pair[0].data / "backups/two")

    assert {file.path for file in second.files} == {file.path for file in read_manifest(first).files}


def test_a_backup_that_is_killed_leaves_nothing_that_looks_complete(
    pair: tuple[Installation, Installation],
) -> None:
    source, target = pair
    big = source.data / "payloads/big"
    with big.open("wb") as file:
        file.truncate(3_000_000_000)  # without content on the disk; read it takes seconds
    to = source.data / "backups/killed"
    part = to.with_name(".killed.part")
    call = [sys.executable, "-m", "ashare", "backup", "--out", str(to)]
    process = subprocess.Popen(call, env={"DATA_DIR": str(source.data), "PATH": "/usr/bin"})
    try:
        deadline = time.monotonic() + 30
        while not (part / "data/payloads/big").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()

    assert not to.exists()
    assert part.is_dir()
    with pytest.raises(BackupError, match=r"^FROM: .* is no complete backup, it has no manifest\.json"):
        restore(target.settings, part)
    big.unlink()
    backup(source.settings, source.data / "backups/next")
    assert not part.exists()


@pytest.mark.parametrize("where", ["payloads/backup", "backups/one"])
def test_a_target_that_is_taken_or_in_the_way_is_refused(
    pair: tuple[Installation, Installation], where: str
) -> None:
    (pair[0].data / "backups/one").mkdir(parents=True)

    with pytest.raises(BackupError, match=r"^TO: "):
        backup(pair[0].settings, pair[0].data / where)


def test_a_folder_without_a_warehouse_is_refused_by_the_variable_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()

    with pytest.raises(BackupError, match=r"^DATA_DIR: there is no warehouse at "):
        backup(Installation(tmp_path / "data").settings, tmp_path / "backup")
    assert not list(tmp_path.glob("*backup*"))


# -- what a restore refuses ---------------------------------------------------------------------------


def test_a_running_platform_is_not_restored_into(
    pair: tuple[Installation, Installation], tmp_path: Path
) -> None:
    source, target = pair
    to = small_backup(source, tmp_path / "backup")
    target.data.mkdir()
    lock = RunLock(target.data, "worker")
    lock.take(SystemClock().now())

    with pytest.raises(StartRefused, match=r"^DATA_DIR: .* is in use by process"):
        restore(target.settings, to, replace=True)
    lock.release()
    restore(target.settings, to)
    with target.warehouse() as warehouse:
        Heartbeats(warehouse.engine).beat(this_node("worker"))
    with pytest.raises(BackupError, match=r"the platform runs, worker on "):
        restore(target.settings, to, replace=True)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ("flip", "the backup is damaged, .*warehouse.sqlite3 is not what was written"),
        ("lose", "the backup is incomplete, .*one.json is missing"),
        ("manifest", r"manifest\.json is damaged"),
        ("later", "was made by a later version"),
    ],
)
def test_a_damaged_or_incomplete_backup_changes_nothing(
    pair: tuple[Installation, Installation], tmp_path: Path, harm: str, message: str
) -> None:
    source, target = pair
    to = small_backup(source, tmp_path / "backup")
    target.prepare()
    before = tree(target.data)
    match harm:
        case "flip":
            copy = to / "warehouse/warehouse.sqlite3"
            content = bytearray(copy.read_bytes())
            content[len(content) // 2] ^= 1
            copy.write_bytes(content)
        case "lose":
            (to / "data/notifications/one.json").unlink()
        case _:
            content = json.loads((to / NAME).read_text())
            content |= {"format": 99} if harm == "later" else {"files": content["files"][1:]}
            (to / NAME).write_text(json.dumps(content))

    with pytest.raises(BackupError, match=message):
        restore(target.settings, to, replace=True)
    assert tree(target.data) == before


def test_another_engine_is_refused_by_the_variable_that_names_it(
    pair: tuple[Installation, Installation], tmp_path: Path
) -> None:
    to = small_backup(pair[0], tmp_path / "backup")
    other = Installation(tmp_path / "other", "mysql+pymysql://root@127.0.0.1:1/none")

    with pytest.raises(
        BackupError, match=r"^WAREHOUSE_URL: the backup holds a warehouse of sqlite, .* mariadb"
    ):
        restore(other.settings, to)
    postgres = Installation(tmp_path / "other", dagster_url="postgresql+psycopg2://root@127.0.0.1:1/none")
    with pytest.raises(
        BackupError, match=r"^DAGSTER_POSTGRES_URL: the backup holds Dagster's storage of sqlite"
    ):
        restore(postgres.settings, to)


# -- the state that is there --------------------------------------------------------------------------


def test_a_state_that_is_there_stays_unless_it_is_to_be_replaced_and_then_is_set_aside(
    both: tuple[Installation, Installation], tmp_path: Path
) -> None:
    source, target = both
    to = small_backup(source, tmp_path / "backup")
    target.prepare()
    (target.data / "notifications/mine.json").write_text("mine")
    (target.data / "transport.sqlite3").write_text("pacing")
    with target.warehouse() as warehouse:
        write(warehouse, DAY, 1.0)
        write(warehouse, DAY, 2.0)

    with pytest.raises(
        BackupError, match=r"^DATA_DIR: the target is not empty .*; REPLACE=1 .* sets that state aside$"
    ):
        restore(target.settings, to)
    with target.warehouse() as warehouse:
        assert between_two_batches(warehouse)[DAY] == 2
    *servers, aside = restore(target.settings, to, replace=True).aside

    with target.warehouse() as warehouse:
        assert between_two_batches(warehouse)[DAY] == 1
    assert not (target.data / "notifications/mine.json").exists()
    assert (target.data / "transport.sqlite3").read_text() == "pacing"
    assert (Path(aside) / "notifications/mine.json").read_text() == "mine"
    if not servers:
        with Installation(Path(aside)).warehouse() as warehouse:
            assert between_two_batches(warehouse)[DAY] == 2
        return
    # The old tables of a server are beside the new ones, and no backup has them.
    stamp = Path(aside).name.removeprefix("replaced-")
    with target.warehouse() as warehouse:
        old = warehouse.query(f"SELECT COUNT(*) FROM replaced_{stamp}_sys_batch")
    assert old == [(2,)]
    again = backup(target.settings, tmp_path / "again")
    names = {file.path for file in read_manifest(to).files}
    assert {file.path for file in again.files} - names == set()


@pytest.mark.parametrize(
    ("both", "step"), [("sqlite", 0), ("sqlite", 1), ("sqlite", 2), ("servers", 1)], indirect=["both"]
)
def test_a_restore_that_fails_or_is_killed_leaves_the_old_state(
    both: tuple[Installation, Installation], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """The renames fail at their `step`-th call; once an error is raised, once the process ends there."""
    source, target = both
    if step == 3 and target.warehouse_url:
        pytest.skip("the warehouse of a server is no folder that is renamed: there are three steps")
    for installation, name in ((source, "source"), (target, "target")):
        with installation.dagster() as instance:
            instance.add_dynamic_partitions("days", [name])
    to = small_backup(source, tmp_path / "backup")
    target.prepare()
    with target.warehouse() as warehouse:
        write(warehouse, DAY, 1.0)
        write(warehouse, DAY, 2.0)
    before = tree(target.data)

    def unchanged() -> bool:
        with target.warehouse() as warehouse:
            batches = between_two_batches(warehouse)[DAY]
        with target.dagster() as instance:
            partitions = instance.get_dynamic_partitions("days")
        return (tree(target.data), batches, partitions) == (before, 2, ["target"])

    rename, calls = Path.rename, [0]

    def failing(path: Path, to: Path) -> Path:
        calls[0] += 1
        if calls[0] == 2 * step + 1:
            raise OSError(5, "Input/output error", str(path))
        return rename(path, to)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", failing)
        with pytest.raises(PlatformError, match="Input/output error"):
            restore(target.settings, to, replace=True)
    assert unchanged()

    calls[0] = 0
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", failing)
        patch.setattr(restoring, "_bring_back", lambda _settings: None)
        with pytest.raises(PlatformError):
            restore(target.settings, to, replace=True)
    with pytest.raises(StartRefused, match=r"a restore of .* was interrupted"):
        refuse_half_restored(target.data)
    with pytest.raises(BackupError, match="the target is not empty"):
        restore(target.settings, to)
    refuse_half_restored(target.data)
    assert unchanged()
    assert not [path for path in target.data.iterdir() if path.name.startswith((".restore", "replaced"))]


def test_a_warehouse_outside_of_the_data_folder_goes_where_the_settings_say(
    pair: tuple[Installation, Installation], tmp_path: Path
) -> None:
    to = small_backup(pair[0], tmp_path / "backup")
    place = tmp_path / "elsewhere/own.sqlite3"
    place.parent.mkdir()
    (place.parent / "foreign").write_text("not ours")
    target = Installation(tmp_path / "other", f"sqlite:///{place}")

    restore(target.settings, to)
    (aside, _) = sorted(restore(target.settings, to, replace=True).aside)

    with target.warehouse() as warehouse:
        assert between_two_batches(warehouse)[DAY] == 1
    assert {path.name for path in place.parent.iterdir()} >= {"foreign", "own.sqlite3", Path(aside).name}
    assert (Path(aside) / "own.sqlite3").is_file()
    assert not (target.data / "warehouse.sqlite3").exists()


# -- client tools of PostgreSQL -----------------------------------------------------------------------


def test_a_client_tool_gets_the_password_in_a_file_of_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, noted = tmp_path / "bin/psql", tmp_path / "noted"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\n(echo "$@"; env; stat -c %a "$PGPASSFILE"; cat "$PGPASSFILE") > {noted}\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")

    postgres.run_tool(
        "psql", "postgresql+psycopg2://me:top%3Asecret@host:5/name?sslmode=require", ["--quiet"]
    )

    arguments, *environment, mode, content = noted.read_text().splitlines()
    assert (
        arguments
        == "--no-password --dbname=host='host' port='5' user='me' dbname='name' sslmode='require' --quiet"
    )
    assert "secret" not in "".join(environment)
    assert (mode, content) == ("600", "*:*:*:*:top\\:secret")
    assert not Path(
        next(line for line in environment if line.startswith("PGPASSFILE=")).split("=")[1]
    ).exists()


def test_a_client_tool_that_is_missing_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/none")

    with pytest.raises(
        BackupError, match=r"^DAGSTER_POSTGRES_URL: pg_dump is not installed; .*postgresql-client"
    ):
        postgres.tool("pg_dump")
