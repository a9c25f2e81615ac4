"""The console's login: a cookie with the token of the API, and the layer that makes a bearer token of it.

The cookie is `HttpOnly` and `SameSite=Strict`, and counts only with the header `X-Console`, which the scripts
of the console send: a page of another site cannot make a browser send it (that takes a permission by CORS,
which the API gives nobody for this header). So neither reads nor writes can be forged from outside. A login
is refused unless the browser says that the form is our own, so that nobody is logged in to the account of
somebody else.
"""

from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from core.errors import Forbidden, PlatformError
from serving_api.auth.service import Accounts
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.error_responses import error_response_of
from serving_api.framework.state import state_of
from serving_api.framework.user import User

COOKIE = "console_session"
HEADER = b"x-console"
MAX_FORM = 4096
"""Bytes of a login form."""
NOT_OURS = "登录请求不是由控制台页面发出的"


def cookie_of(headers: list[tuple[bytes, bytes]]) -> str | None:
    """The session's token in the Cookie headers of a request; None without one."""
    cookies: SimpleCookie = SimpleCookie()
    for name, value in headers:
        if name == b"cookie":
            try:
                cookies.load(value.decode("latin-1"))
            except CookieError:
                continue
    found = cookies.get(COOKIE)
    return found.value if found and found.value else None


class SessionLayer:
    """Below /api/: the session cookie becomes the Authorization header of a request that has none."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/api/"):
            headers = scope["headers"]
            names = {name for name, _ in headers}
            if HEADER in names and b"authorization" not in names:
                token = cookie_of(headers)
                if token is not None:
                    bearer = (b"authorization", f"Bearer {token}".encode("latin-1"))
                    scope = {**scope, "headers": [*headers, bearer]}
        await self.app(scope, receive, send)


async def user_of(request: Request) -> User | None:
    """The user of the session cookie; None without a valid one, or while the database is away."""
    token = cookie_of(request.scope["headers"])
    if token is None:
        return None
    try:
        return await state_of(request).members.user_of(f"Bearer {token}")
    except PlatformError:
        return None


def _is_own_form(request: Request) -> bool:
    """Whether the browser says that a page of this origin sent the request."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == request.headers.get("host")


async def _form(request: Request) -> dict[str, str] | None:
    """The fields of our own small form; None for any other."""
    if not _is_own_form(request):
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM:
            return None
    return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}


def _cookie(request: Request) -> dict[str, Any]:
    """How the cookie is set. Without a path it belongs to the folder of this request's address, which is the
    path prefix of a reverse proxy, if there is one: the API is below it as well."""
    secure = request.headers.get("origin", "").startswith("https:") or request.url.scheme == "https"
    return {"path": None, "httponly": True, "samesite": "strict", "secure": secure}


async def change_session(request: Request) -> Response:
    """POST of the login form: sets the cookie and leads back to the console; with `leave` removes it."""
    form = await _form(request)
    if form is None:
        return error_response_of(Forbidden(NOT_OURS)).response()
    if "leave" in form:
        response: Response = RedirectResponse("console/", 303)
        response.delete_cookie(COOKIE, **_cookie(request))
    else:
        try:
            accounts = state_of(request).part(Accounts)
            token, _ = await accounts.login(
                form.get("username", ""), form.get("password", ""), request.state.client_address
            )
            response = RedirectResponse("console/", 303)
            response.set_cookie(COOKIE, token, max_age=accounts.tokens.ttl_s, **_cookie(request))
        except PlatformError as error:
            status = error_response_of(error).response().status_code
            response = RedirectResponse(f"console/login?refused={status}", 303)
    response.headers["Cache-Control"] = NO_STORE
    return response
