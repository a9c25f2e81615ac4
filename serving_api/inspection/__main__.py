"""`python -m serving_api.inspection`: lists what is empty in the running installation of this data folder.
The exit code is 1 when something is empty without a stated reason."""

import http.client
import json
import sys
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from core.declaration.registry import builtin_registry
from core.errors import PlatformError
from resources.settings import Settings
from resources.stored_settings import platform_settings
from resources.warehouse.engine import make_engine, reading
from serving_api.framework.envelope import PREFIX
from serving_api.inspection.walk import Walk

PATIENCE_S = 60.0
TOO_MANY = 429


class Caller:
    """A client of the API on this machine, logged in as administrator."""

    def __init__(self, settings: Settings) -> None:
        self._at = (settings.api_host if settings.api_host != "0.0.0.0" else "127.0.0.1", settings.api_port)  # noqa: S104
        self._headers = {"Content-Type": "application/json"}
        given = settings.admin_seed_password
        path = settings.data_path / "secrets" / "admin_password"
        password = given or path.read_text(encoding="utf-8").strip()
        body = {"username": settings.admin_seed_username, "password": password}
        status, answer = self("POST", f"{PREFIX}/auth/login", {}, body)
        if status != 200:
            raise PlatformError(f"the API refused the administrator's login ({status})")
        self._headers["Authorization"] = f"Bearer {answer['access_token']}"

    def __call__(self, method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, Any]:
        while True:
            status, wait_s, answer = self._once(method, path, query, body)
            if status != TOO_MANY:
                return status, answer
            time.sleep(wait_s)

    def _once(self, method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, float, Any]:
        """Status, seconds to wait before the next try, and the JSON of the body."""
        connection = http.client.HTTPConnection(*self._at, timeout=PATIENCE_S)
        try:
            asked = quote(path) + (f"?{urlencode(query)}" if query else "")
            connection.request(method, asked, None if body is None else json.dumps(body), self._headers)
            answer = connection.getresponse()
            content = answer.read()
            is_json = "json" in (answer.headers.get("Content-Type") or "")
            wait_s = float(answer.headers.get("Retry-After") or 1)
            return answer.status, wait_s, json.loads(content) if is_json else None
        finally:
            connection.close()


def main() -> int:
    settings = platform_settings()
    engine = make_engine(settings.warehouse_address)

    def query(statement: str) -> list[tuple[Any, ...]]:
        with reading(engine) as connection:
            return [tuple(row) for row in connection.exec_driver_sql(statement).all()]

    try:
        walk = Walk(builtin_registry(), Caller(settings), query)
        found = walk.all()
    except (PlatformError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        engine.dispose()
    for one in found:
        sys.stdout.writelines(f"{line}\n" for line in one.lines())
    return 1 if any(one.unexplained for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
