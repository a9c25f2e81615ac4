"""The payload store: the same behaviour in a folder and in an object store, which a real server plays."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from core.clock import FrozenClock
from core.errors import InputError, StorageError
from resources.fetch_record import Fetch, Outcome
from resources.settings import Settings
from resources.warehouse.object_payloads import ObjectPayloads
from resources.warehouse.payloads import FolderPayloads, PayloadStore
from resources.warehouse.warehouse import Warehouse, open_payloads

BUCKET = "research"
LARGE = bytes(range(256)) * 4000


def fetch_of(body: bytes, day: str = "2026-08-21") -> Fetch:
    """A response of a day."""
    at = datetime.fromisoformat(f"{day}T16:00:00")
    return Fetch("tencent", "quotes", "GET https://quotes.example/", Outcome.OK, body, at)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an S3-compatible server on loopback."""
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket; the process has the variables of the AWS libraries."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_S3": server,
    }.items():
        monkeypatch.setenv(name, value)
    store = boto3.resource("s3")
    made = store.Bucket(BUCKET)
    made.create()
    made.objects.all().delete()
    return BUCKET


@pytest.fixture(params=["folder", "objects"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> PayloadStore:
    if request.param == "folder":
        return open_payloads("", tmp_path)
    return open_payloads(f"s3://{request.getfixturevalue('bucket')}/deployment one/", tmp_path)


def test_a_body_comes_back_to_the_byte_and_is_stored_once_a_day(store: PayloadStore) -> None:
    one, again, other = fetch_of(LARGE), fetch_of(LARGE), fetch_of(LARGE, "2026-08-20")
    nothing = fetch_of(b"")

    paths = store.put_all([one, again, other, nothing])

    assert nothing.fetch_id not in paths
    assert paths[one.fetch_id] == paths[again.fetch_id] != paths[other.fetch_id]
    assert store.get(paths[one.fetch_id]) == store.get(paths[other.fetch_id]) == LARGE
    assert store.get("2026-08-21/ab/absent.zst") is None


def test_days_go_after_their_retention(store: PayloadStore) -> None:
    days = ("2026-07-20", "2026-07-21", "2026-07-22", "2026-08-21")
    paths = [next(iter(store.put_all([fetch_of(f"of {day}".encode(), day)]).values())) for day in days]

    assert store.purge("2026-08-21", 30) == 2
    assert [store.get(path) is None for path in paths] == [True, True, False, False]
    assert store.purge("2026-08-21", 30) == 0


def test_another_client_finds_the_objects(bucket: str, tmp_path: Path) -> None:
    """By boto3 alone: their keys, and what a standard zstd tool makes of one."""
    import zstandard

    paths = open_payloads(f"s3://{bucket}/x", tmp_path).put_all([fetch_of(b"one"), fetch_of(b"two")])

    keys = {one.key: one for one in boto3.resource("s3").Bucket(bucket).objects.all()}
    assert set(keys) == {f"x/{path}" for path in paths.values()}
    bodies = {zstandard.decompress(one.get()["Body"].read()) for one in keys.values()}
    assert bodies == {b"one", b"two"}


def test_more_objects_than_one_deletion_takes_go(bucket: str, tmp_path: Path) -> None:
    store = open_payloads(f"s3://{bucket}", tmp_path)
    store.put_all([fetch_of(str(number).encode(), "2026-01-05") for number in range(1100)])

    assert store.purge("2026-08-21", 30) == 1100
    assert list(boto3.resource("s3").Bucket(bucket).objects.all()) == []


def test_a_store_that_is_away_or_refuses_is_an_error_of_storage(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StorageError, match="NoSuchBucket") as refused:
        open_payloads("s3://absent/x", tmp_path).put_all([fetch_of(b"one")])
    assert "hunter2" not in str(refused.value)

    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    away = open_payloads(f"s3://{bucket}/x", tmp_path)
    with pytest.raises(StorageError, match="EndpointConnectionError"):
        away.get("2026-08-21/ab/x.zst")
    with pytest.raises(StorageError):
        away.check()


@pytest.mark.parametrize(
    "url", ["research", "https://host/bucket", "s3://", "s3://key:secret@bucket/x", "s3://bucket?endpoint=x"]
)
def test_an_address_that_is_none_names_the_setting(url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="PAYLOAD_URL") as refused:
        open_payloads(url, tmp_path)
    assert "secret" not in str(refused.value)


def test_a_body_that_is_damaged_is_an_error(tmp_path: Path) -> None:
    store = FolderPayloads(tmp_path)
    path = next(iter(store.put_all([fetch_of(b"one")]).values()))
    (tmp_path / path).write_bytes(b"no zstd")

    with pytest.raises(StorageError):
        store.get(path)


def test_the_warehouse_of_the_settings_uses_the_object_store(bucket: str, tmp_path: Path) -> None:
    from core.declaration.registry import builtin_registry
    from resources.composition import open_warehouse

    settings = Settings(data_dir=str(tmp_path), payload_url=f"s3://{bucket}/x")
    warehouse: Warehouse = open_warehouse(
        settings, builtin_registry(), FrozenClock(datetime(2026, 8, 21, 16))
    )

    assert isinstance(warehouse.payloads, ObjectPayloads)
    assert warehouse.payloads.check() == f"s3://{bucket}/x/"
    assert not (tmp_path / "payloads").exists()
    warehouse.close()
