"""A data folder as an address: its warehouse (and lake, where that is faster), in this process.

Rows need the extra `lake` of the client. Lineage, screens and backtests are answered by the API's own code,
called in this process: they work in the environment of a platform alone.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from ashare.client.answers import answered
from ashare.client.backends import NotSupported
from core.declaration.registry import builtin_registry
from core.errors import InputError
from platform_assets.research.queries import RowQuery
from resources.composition import market_clock, open_warehouse
from resources.lake.location import Lake
from resources.lake.old_years import old_years
from resources.lake.reading import LakeReader
from resources.settings import Settings, load_settings
from resources.warehouse.stored import ANY

T = TypeVar("T")
_FILE = "warehouse.sqlite3"


class FolderBackend:
    """Reads the warehouse that the settings of a data folder name: its SQLite file, else WAREHOUSE_URL or
    DB_* of the environment."""

    kind = "folder"
    judges_codes = False

    def __init__(self, folder: str) -> None:
        settings = load_settings({**os.environ, "DATA_DIR": folder})
        path = Path(folder)
        if settings.warehouse_address.startswith("sqlite") and not settings.warehouse_url:
            if not path.is_dir():
                raise InputError("address", f"{folder!r} is no folder, and no address like http:// or s3://")
            if not (path / _FILE).exists():
                raise InputError("address", f"{folder!r} holds no {_FILE}: is it the DATA_DIR of a platform?")
        clock = market_clock(settings)
        self._settings: Settings = settings
        self._warehouse = open_warehouse(settings, builtin_registry(), clock, read_only=True)
        self._lake = Lake.of(settings.lake_url, settings.data_path)

    def rows(self, query: RowQuery) -> pa.Table:
        return LakeReader(self._warehouse, self._lake).read(
            query.table.name,
            columns=query.columns,
            codes=query.codes,
            since=query.since,
            until=query.until,
            as_of=query.as_of,
        )

    def tables(self) -> None:
        return None

    def freshness(self, table: str) -> dict[str, Any]:
        (row,) = self._warehouse.rows("table_version", ANY.table_name == table) or ({},)
        old = old_years(self._lake, table)
        rows = int(row.get("row_count") or 0) + (0 if old is None else old.rows)
        return {"newest": row.get("latest_date"), "rows": rows}

    def lineage(self, table: str, key: Mapping[str, str], column: str | None) -> dict[str, Any]:
        try:
            from ashare.session import with_state  # noqa: PLC0415  of the server's packages
            from serving_api.admin.lineage.service import lineage  # noqa: PLC0415
        except ImportError as error:
            raise _without_server("lineage", error) from None
        asked: dict[str, Any] = {"column": column, "payload": False, "as_of": None}
        return _in_a_thread(
            lambda: with_state(
                lambda state: lineage(state, table, list(key.items()), **asked), self._settings
            )
        )

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]) -> Any:
        try:
            from serving_api.app import create_app  # noqa: PLC0415  of the server's packages
        except ImportError as error:
            raise _without_server(path.strip("/").partition("/")[0], error) from None
        app = create_app(self._settings)
        return answered(*_in_a_thread(lambda: asyncio.run(_called(app, method, path, body, query))))

    def about(self, query: RowQuery) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        self._warehouse.close()


def _without_server(question: str, error: ImportError) -> NotSupported:
    return NotSupported(
        f"{question}: a folder answers it with the packages of the server (no {error.name}): "
        "in a checkout pip install -e '.[server]', or open the address of an API"
    )


def _in_a_thread(work: Callable[[], T]) -> T:
    """The result of `work` from a thread of its own: a notebook's has an event loop already."""
    pool = ThreadPoolExecutor(1, "ashare-client")
    made = pool.submit(work)
    pool.shutdown(wait=False)
    return made.result()


async def _called(
    app: Any, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]
) -> tuple[int, bytes, str | None]:
    """(status, body, factor) of one request to the app, without a socket."""
    import json  # noqa: PLC0415
    from urllib.parse import urlencode  # noqa: PLC0415

    content = b"" if body is None else json.dumps(body).encode()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": f"/api/v1{path}",
        "raw_path": f"/api/v1{path}".encode(),
        "root_path": "",
        "query_string": urlencode(query).encode(),
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    status, parts, sent = 500, [], False
    factor: str | None = None

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            await asyncio.sleep(3600)
        sent = True
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        nonlocal status, factor
        if message["type"] == "http.response.start":
            status = message["status"]
            factor = next((value.decode() for name, value in message["headers"] if name == b"x-factor"), None)
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))

    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
    return status, b"".join(parts), factor
