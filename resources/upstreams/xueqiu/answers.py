"""What all answers of the social site share: the visitor's token, its errors, block pages, symbols, times."""

from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import PayloadError, Permanent, Refused
from core.market.symbols import Instrument, instrument
from resources.transport.request import Request
from resources.upstreams.parsing.payload import json_of, number, object_of, present, required

_EXPIRED = "400016"
_LOGIN = "10022"
_SITE = "雪球".encode()
"""Part of the title of every page."""


class TokenExpired(Permanent):
    """The visitor's token is missing or too old: a visit brings another one."""


def visit_requests() -> tuple[Request, Request]:
    """The two pages of a visit: the first brings the site's own cookies, the second, asked with them, the
    token. Cookies stay in the transport and are stored nowhere."""
    return (
        Request("xueqiu.home", "visit", "/", label="cookies"),
        Request("xueqiu.home", "visit", "/hq", label="token"),
    )


def parse_visit(body: bytes) -> int:
    """Bytes of the page; what matters came in its headers. Refused for the slider of a blocked client,
    PayloadError for what is no whole page: its cookies are not those of a visit."""
    text = body.strip().lower()
    if text[:9] == b"<textarea":
        raise Refused("a slider instead of the page")
    if text[:1] != b"<" or not text.endswith(b"</html>"):
        raise PayloadError(f"no page but {text[:40]!r}")
    if _SITE not in body:
        raise Refused("a block page in front of the site")
    return len(body)


def data_of(body: bytes, what: str) -> Any:
    """`data` of an answer. TokenExpired, Refused (block page, or only for users who log in)."""
    if present(body)[:1] == b"<":
        raise Refused(f"{what}: a page instead of data")
    document = object_of(json_of(body), what)
    code = str(document.get("error_code", ""))
    if code == _EXPIRED:
        raise TokenExpired(f"{what}: the visitor's token is missing or too old")
    if code == _LOGIN:
        raise Refused(f"{what}: only for users who log in")
    if code not in {"0", ""}:
        raise PayloadError(f"{what}: error {code[:12]} {str(document.get('error_description'))[:60]}")
    if "data" not in document:
        raise PayloadError(f"{what} has no data")
    return document["data"]


def wire_symbol(symbol: str) -> str:
    """SH600519 of a mainland symbol, 00700 of Hong Kong."""
    what: Instrument = instrument(symbol)
    return what.code if what.market in {"HK", "US"} else f"{what.market}{what.code}"


def time_of(value: Any, what: str) -> str:
    """Milliseconds since 1970 as local exchange time."""
    seconds = required(number(value, what, digits=0), what) / 1000
    try:
        when = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) + timedelta(hours=8)
    except (OverflowError, ValueError, OSError) as error:
        raise PayloadError(f"{what} is no time: {value!r}") from error
    if not 1985 <= when.year <= 2100:
        raise PayloadError(f"{what} is no valid time: {value!r}")
    return when.strftime("%Y-%m-%d %H:%M:%S")
