"""Registration of a client that the site refuses.

The site answers a client that it does not know, or that sends too many requests, with a page (mostly HTTP
403) instead of data. A browser that opens the curve's page registers itself; afterwards the address may ask
for a day. Two public clients do the same in these steps.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from core.errors import PayloadError, Permanent, Refused
from resources.transport.request import Request
from resources.upstreams.parsing.payload import json_of, list_of, object_of, present, string_of

TURNED_AWAY = (403,)
_SITE = "chinamoney.rates"
_PAGE = "/chinese/bkcurvclosedyhis/"
_PAGE_PARAMS = (("bondType", "CYCC000"), ("reference", "1"))
_APPLY = "/dqs/rest/cm-u-rbt/apply"
_USER = "/lss/rest/cm-s-account/getSessionUser"
_KEY = "TThwSjc2NWkzV0VSOVRzOA=="
"""Not a secret: the script of the page sends it for every browser."""
_FORM = (("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),)
_BACKGROUND = (("X-Requested-With", "XMLHttpRequest"),)
_GOVERNMENT_LABEL = "国债"


class TurnedAway(Permanent):
    """A page instead of data: a registration may help."""


def registration_requests() -> tuple[Request, ...]:
    """The page, its registration, and the session of the visitor. The transport holds the cookies."""
    return (
        Request(_SITE, "visit", _PAGE, _PAGE_PARAMS, label="page", explained=TURNED_AWAY),
        Request(
            _SITE,
            "register",
            _APPLY,
            label="apply",
            method="POST",
            headers=_FORM + _BACKGROUND,
            content=urlencode({"key": _KEY}).encode(),
        ),
        Request(_SITE, "register", _USER, label="session", method="POST", headers=_FORM + _BACKGROUND),
    )


def parse_registration(body: bytes) -> int:
    """Bytes of the answer; they are not read. Success shows in the answer to the next request."""
    return len(body)


def curves_request() -> Request:
    """Names and numbers of the curves."""
    path = "/ags/ms/cm-u-bk-currency/ClsYldCurvCurvGO"
    return Request(_SITE, "curves", path, label="curves", headers=_BACKGROUND)


def parse_curves(body: bytes) -> dict[str, str]:
    """Name of a curve -> its number. PayloadError without the one of government bonds."""
    records = list_of(answer_of(body, "curves").get("records"), "curves records")
    found: dict[str, str] = {}
    for one in records:
        record: Mapping[str, Any] = object_of(one, "curve")
        number = string_of(record.get("value"), "curve value")
        if not number.isascii() or not number.isalnum():
            raise PayloadError(f"curve {number[:20]!r}")
        found[string_of(record.get("cnLabel"), "curve cnLabel").strip()] = number
    if _GOVERNMENT_LABEL not in found:
        raise PayloadError(f"curves: none of {len(found)} is {_GOVERNMENT_LABEL}")
    return found


def government_of(curves: Mapping[str, str]) -> str:
    return curves[_GOVERNMENT_LABEL]


def answer_of(body: bytes, what: str) -> dict[str, Any]:
    """The JSON object of an answer. Refused for a page in its place."""
    if present(body)[:1] == b"<":
        raise Refused(f"{what}: a page instead of data")
    return object_of(json_of(body), what)
