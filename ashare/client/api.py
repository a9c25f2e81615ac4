"""An API as an address: rows come as Arrow, everything else as JSON."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pyarrow as pa

from ashare.client.answers import answered, refusal
from core.errors import InputError, Unavailable
from core.loopback import is_loopback
from platform_assets.research.queries import RowQuery

_TIMEOUT_S = 300.0


class ApiBackend:
    """Asks one API with the token of a login."""

    kind = "API"
    judges_codes = True

    def __init__(self, address: str, token: str | None) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError("address", f"{address!r} is no http or https address")
        if parts.username or parts.password:
            raise InputError("address", "holds a password; log in and give the token")
        self._base = address.rstrip("/").removesuffix("/api/v1") + "/api/v1"
        self._token = token
        proxies = [urllib.request.ProxyHandler({})] if is_loopback(parts.hostname) else []
        self._opener = urllib.request.build_opener(*proxies)

    def rows(self, query: RowQuery) -> pa.Table:
        parts = [self._part(query, since, until) for since, until in _windows(query)]
        if len(parts) == 1:
            return parts[0]
        order = [(name, "ascending") for name in query.table.key if name in query.columns]
        joined = pa.concat_tables(parts)
        return joined.sort_by(order) if order else joined

    def _part(self, query: RowQuery, since: str | None, until: str | None) -> pa.Table:
        body = {
            "columns": list(query.columns),
            "codes": None if query.codes is None else list(query.codes),
            "since": since,
            "until": until,
            "as_of": None if query.as_of is None else query.as_of.isoformat(),
        }
        status, content, _ = self._sent("POST", f"/research/rows/{quote(query.table.name)}", body, {})
        if status >= 400:
            raise refusal(status, content)
        with pa.ipc.open_stream(content) as reader:
            return reader.read_all()

    def tables(self) -> None:
        return None

    def freshness(self, table: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"/research/datasets/{quote(table)}", None, {})["freshness"]
        return found

    def lineage(self, table: str, key: Mapping[str, str], column: str | None) -> dict[str, Any]:
        asked = {**key, **({"column": column} if column else {})}
        found: dict[str, Any] = self.ask("GET", f"/datamgr/lineage/{quote(table)}", None, asked)["results"]
        return found

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]) -> Any:
        return answered(*self._sent(method, path, body, query))

    def _sent(
        self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]
    ) -> tuple[int, bytes, str | None]:
        """(status, body, factor)."""
        url = self._base + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310  checked above
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as response:
                return int(response.status), response.read(), response.headers.get("X-Factor")
        except urllib.error.HTTPError as error:
            return error.code, error.read(), None
        except OSError as error:
            raise Unavailable(f"{self._base} does not answer ({getattr(error, 'reason', error)})") from None

    def about(self, query: RowQuery) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        """Each question has a connection of its own."""


def _windows(query: RowQuery) -> list[tuple[str | None, str | None]]:
    """A year at a time of questions for the whole market over years: an answer has a limit of rows."""
    since, until = query.since, query.until
    if query.codes is not None or since is None or until is None or query.table.date_column is None:
        return [(since, until)]
    years = range(int(since[:4]), int(until[:4]) + 1)
    return [(max(since, f"{year}-01-01"), min(until, f"{year}-12-31")) for year in years]
