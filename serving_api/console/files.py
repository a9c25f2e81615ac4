"""Scripts and styles of the console: our own, and those of installed packages, which are not copied here.

Addresses contain a hash of all contents, so a browser keeps what it has until one of them changes.
"""

import hashlib
from functools import cache
from importlib import resources
from pathlib import Path

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

_OWN = Path(__file__).parent / "static"
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
KEPT = "public, max-age=31536000, immutable"


@cache
def known() -> dict[str, Path]:
    """Every file that is served, by its name below the version. Only the path of Plotly is looked up: to
    import it takes a second, and nothing of it is needed in Python."""
    own = {
        path.relative_to(_OWN).as_posix(): path for path in sorted(_OWN.rglob("*")) if path.suffix in _TYPES
    }
    plotly = Path(str(resources.files("plotly"))) / "package_data" / "plotly.min.js"
    return {**own, plotly.name: plotly}


@cache
def version() -> str:
    """A hash of all contents."""
    digest = hashlib.sha256()
    for name, path in known().items():
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


async def read_file(request: Request) -> Response:
    """One file; of another version it is the newest, which is not kept."""
    name = request.path_params["name"]
    if name not in known():
        raise HTTPException(404)
    body = await anyio.to_thread.run_sync(known()[name].read_bytes)
    is_newest = request.path_params["version"] == version()
    headers = {
        "Cache-Control": KEPT if is_newest else "no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(body, media_type=_TYPES[known()[name].suffix], headers=headers)
