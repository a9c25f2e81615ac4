"""Upstream bodies in an S3-compatible object store, so that several machines share them."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from core.days import moved
from core.errors import InputError, StorageError
from resources.fetch_record import Fetch
from resources.warehouse.payloads import packed, path_of, unpacked

try:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as error:
    raise InputError(
        "PAYLOAD_URL", "an object store needs the package boto3: install the extra `s3`"
    ) from error

THREADS = 16
"""Bodies written at a time: one takes a round trip to the store."""
DELETED_AT_ONCE = 1000
"""The most keys that S3 takes in one deletion."""
_GONE = {"NoSuchKey", "404"}


class ObjectPayloads:
    """Objects `<prefix>/<day>/…` of a bucket. Credentials, region and the address of a server are those of
    the AWS libraries: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL_S3."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        self._client, self._bucket = client, bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    @classmethod
    def at(cls, url: str) -> "ObjectPayloads":
        """The store at `s3://bucket/prefix`; asks nothing yet. Raises InputError."""
        parts = urlsplit(url)
        if parts.scheme != "s3" or not parts.netloc or parts.username or parts.query:
            raise InputError(
                "PAYLOAD_URL", "is no s3://bucket/prefix (credentials belong into the AWS variables)"
            )
        config = Config(
            connect_timeout=5,
            read_timeout=30,
            retries={"total_max_attempts": 3},
            max_pool_connections=THREADS,
        )
        try:
            client = boto3.session.Session().client("s3", config=config)
        except (BotoCoreError, ValueError) as error:
            raise InputError("PAYLOAD_URL", f"the object store cannot be set up: {error}") from error
        return cls(client, parts.netloc, parts.path)

    def put_all(self, fetches: Iterable[Fetch]) -> dict[str, str]:
        stored = [(one.fetch_id, path_of(one), one.body) for one in fetches if one.body]
        bodies = {path: body for _, path, body in stored}
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self._put, bodies, bodies.values()))
        return {fetch_id: path for fetch_id, path, _ in stored}

    def _put(self, path: str, body: bytes) -> None:
        with _failures("written"):
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + path, Body=packed(body))

    def get(self, path: str) -> bytes | None:
        with _failures("read"):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + path)
                return unpacked(answer["Body"].read())
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") in _GONE:
                    return None
                raise

    def purge(self, today: str, keep_days: int) -> int:
        limit = moved(today, -keep_days)
        removed = 0
        with _failures("cleaned up"):
            for prefix in self._days():
                if prefix.removeprefix(self._prefix).rstrip("/") < limit:
                    removed += self._delete(prefix)
        return removed

    def _days(self) -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix, Delimiter="/"):
            for one in page.get("CommonPrefixes", ()):
                yield str(one["Prefix"])

    def _delete(self, prefix: str) -> int:
        removed = 0
        pages = self._client.get_paginator("list_objects_v2")
        options = {"PageSize": DELETED_AT_ONCE}
        for page in pages.paginate(Bucket=self._bucket, Prefix=prefix, PaginationConfig=options):
            keys = [{"Key": one["Key"]} for one in page.get("Contents", ())]
            if keys:
                answer = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": keys, "Quiet": True}
                )
                if answer.get("Errors"):
                    raise StorageError(f"{len(answer['Errors'])} objects of {prefix} cannot be deleted")
                removed += len(keys)
        return removed

    def check(self) -> str:
        key = f"{self._prefix}.probe"
        with _failures("written"):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=b"")
            self._client.delete_object(Bucket=self._bucket, Key=key)
        return f"s3://{self._bucket}/{self._prefix}"


@contextmanager
def _failures(what: str) -> Iterator[None]:
    """Errors of the store as StorageError, without what was sent."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        raise StorageError(f"the payload store cannot be {what}: {code}") from error
    except BotoCoreError as error:
        raise StorageError(f"the payload store cannot be {what}: {type(error).__name__}") from error
