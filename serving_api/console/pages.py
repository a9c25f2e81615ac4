"""The pages of the console: rendered shells. What they show is read by their scripts from the public API.

Every address in a page is relative to it, so the console works below any path prefix that a reverse proxy
adds, without a setting.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from core.errors import InputError
from core.market.symbols import security_code
from platform_assets.compute.parameters.scorecards import CARD_HORIZON, HOLD_DAYS
from serving_api.console import files, session
from serving_api.console.texts import LANGUAGES, preferred, texts_of
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.state import state_of

PREFIX = "/console"
SESSION = "/console-session"
# Plotly adds one empty style element, whose rules it then sets by the object model, and one of its map view;
# it sets style attributes as well. Nothing of that runs a script.
_PLOTLY_STYLES = (
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='",
)
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src-elem 'self' {' '.join(_PLOTLY_STYLES)}",
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": NO_STORE,
}
THEMES = ("light", "dark")
HABITS = ("chinese", "western")
"""Colours of rise and fall: red and green, or green and red."""


@dataclass(frozen=True)
class Page:
    """A page of the console: its name in the navigation and its path below /console/."""

    name: str
    path: str


PAGES = (
    Page("today", "today"),
    Page("stock", "stock/"),
    Page("market", "market"),
    Page("screens", "screens"),
    Page("scorecards", "scorecards"),
    Page("data", "data"),
    Page("ask", "ask"),
)
_ABOUT = {"scorecards": {"picks": HOLD_DAYS, "cards": CARD_HORIZON}}
"""Page -> what its template shows besides words: the trade dates that picks are held."""


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _chosen(request: Request, name: str, allowed: tuple[str, ...], default: str) -> str:
    """A preference: of the address, else of the cookie, else the default."""
    for value in (request.query_params.get(name), request.cookies.get(f"console_{name}")):
        if value in allowed:
            return value
    return default


async def _rendered(
    request: Request, template: str, *, page: str, about: Mapping[str, Any] | None = None, status: int = 200
) -> Response:
    user = await session.user_of(request)
    language = _chosen(request, "lang", LANGUAGES, preferred(request.headers.get("accept-language", "")))
    below = request.scope["path"].removeprefix(request.scope.get("root_path", "")).count("/") - 1
    state = state_of(request)
    text = (
        _environment()
        .get_template(template)
        .render(
            language=language,
            theme=_chosen(request, "theme", THEMES, "light"),
            habit=_chosen(request, "habit", HABITS, "chinese"),
            t=texts_of(language, page),
            root="../" * below,
            files=f"{'../' * below}console/files/{files.version()}/",
            page=page,
            pages=PAGES,
            role=user.role if user else "none",
            user=user.username if user else None,
            world=state.settings.world,
            session=SESSION.removeprefix("/"),
            about=dict(about or {}),
        )
    )
    return HTMLResponse(text, status, HEADERS)


async def redirect_to_console(request: Request) -> Response:
    """The address alone, and /console without its slash: relative addresses of the pages need it."""
    return RedirectResponse("console/", 307)


async def read_start(request: Request) -> Response:
    """The first page: of the day for an administrator, who alone may read it, else of a stock."""
    user = await session.user_of(request)
    first = "today" if user is not None and user.role == "admin" else "stock/"
    choices = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{first}{choices}", 307, {"Cache-Control": NO_STORE})


async def read_login(request: Request) -> Response:
    """The login form; `refused` is the status with which the last attempt ended."""
    refused = request.query_params.get("refused", "")
    reason = refused if refused in {"401", "403", "429", "503"} else ""
    return await _rendered(request, "login.html", page="login", about={"refused": reason})


async def read_stock(request: Request) -> Response:
    """One stock, or the question for one where the address names none."""
    given = request.path_params.get("code", "")
    try:
        code = security_code(given) if given else ""
    except InputError:
        return await _rendered(request, "missing.html", page="stock", status=404)
    if code != given:
        choices = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{code}{choices}", 307)
    return await _rendered(request, "stock.html", page="stock", about={"code": code})


def _reader(page: Page) -> Callable[[Request], Awaitable[Response]]:
    """The handler of a page that has one address."""

    async def read_page(request: Request) -> Response:
        return await _rendered(request, f"{page.name}.html", page=page.name, about=_ABOUT.get(page.name))

    return read_page


async def read_missing(request: Request) -> Response:
    """Any other address below /console/."""
    return await _rendered(request, "missing.html", page="missing", status=404)


def add_console(app: FastAPI) -> None:
    """Add the pages, their files and the login form."""
    routes: tuple[tuple[str, Any, str], ...] = (
        ("/", redirect_to_console, "GET"),
        (PREFIX, redirect_to_console, "GET"),
        (f"{PREFIX}/", read_start, "GET"),
        (f"{PREFIX}/login", read_login, "GET"),
        (f"{PREFIX}/files/{{version}}/{{name:path}}", files.read_file, "GET"),
        (f"{PREFIX}/stock/", read_stock, "GET"),
        (f"{PREFIX}/stock/{{code}}", read_stock, "GET"),
        *((f"{PREFIX}/{page.path}", _reader(page), "GET") for page in PAGES if page.name != "stock"),
        (f"{PREFIX}/{{rest:path}}", read_missing, "GET"),
        (SESSION, session.change_session, "POST"),
    )
    for path, endpoint, method in routes:
        app.add_route(path, endpoint, methods=[method], include_in_schema=False)
