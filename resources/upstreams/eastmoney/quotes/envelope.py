"""The common form of all answers of push2 and push2his: the envelope, `diff`, and rows in comma strings.

`{"rc":0,...,"data":{...}}`; rc 100 and 102 with `data` null mean 'nothing for this request'. `diff` is
a list or an object, a missing value is the text "-".
"""

from typing import Any

from core.errors import PayloadError
from core.market.symbols import listed_symbol
from resources.upstreams.parsing.payload import json_of, list_of, object_of, string_of

# Not a secret: every visitor's browser sends it.
PUBLIC_TOKEN = "bd1d9ddb04089700cf9c27f6f7426281"  # noqa: S105

_NOTHING = frozenset({100, 102})


def data_of(body: bytes, what: str, *, known: bool = False) -> dict[str, Any] | None:
    """The `data` object; None when the upstream has nothing for the request. `known`: the requested object
    exists, so that an answer without it is a PayloadError instead of None."""
    document = object_of(json_of(body), what)
    if "rc" not in document or "data" not in document:
        raise PayloadError(f"{what}: no push2 envelope, keys {', '.join(map(str, list(document)[:5]))}")
    rc, data = document["rc"], document["data"]
    if type(rc) is not int:
        raise PayloadError(f"{what}: rc {rc!r}")
    if data is None and (rc == 0 or (rc in _NOTHING and not known)):
        return None
    if rc != 0:
        raise PayloadError(f"{what}: rc {rc!r}")
    return object_of(data, f"{what} data")


def diff_of(data: dict[str, Any], what: str) -> list[dict[str, Any]]:
    """The rows of `diff`, whether it came as a list or as an object with numbers for keys."""
    diff = data.get("diff")
    if diff is None:
        return []
    if isinstance(diff, dict):
        keys = list(diff)
        if keys != [str(number) for number in range(len(keys))]:
            raise PayloadError(f"{what}: diff is an object whose keys are no row numbers")
        diff = list(diff.values())
    return [object_of(row, f"{what} row") for row in list_of(diff, f"{what} diff")]


def csv_rows(data: dict[str, Any], name: str, what: str, width: int) -> list[list[str]]:
    """Comma strings split; each must have at least `width` values. An absent list is no rows."""
    rows = []
    for raw in list_of(data.get(name) or [], f"{what} {name}"):
        values = string_of(raw, f"{what} row").split(",")
        if len(values) < width:
            raise PayloadError(f"{what}: a row of {len(values)} values, {width} asked for: {raw[:60]!r}")
        rows.append(values)
    return rows


def check_secid(data: dict[str, Any], secid: str, what: str) -> None:
    """The answer must be about the instrument that was asked for (an index and a stock share digits)."""
    market, _, code = secid.partition(".")
    if str(data.get("code")) != code or str(data.get("market")) != market:
        raise PayloadError(f"{what}: asked for {secid}, got {data.get('market')}.{data.get('code')}")


# -- Which security a row is of: its six digits and the portal's number of the market.

_MARKETS = {0: 0, 1: 1, "0": 0, "1": 1}


def symbol_of(code: Any, market: Any, what: str) -> str:
    """The symbol; the market is a number or its text. Raises PayloadError."""
    if not isinstance(code, str) or len(code) != 6 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what}: {code!r} is no code")
    known = _MARKETS.get(market) if type(market) in {int, str} else None
    if known is None:
        raise PayloadError(f"{what}: {code} is of market {market!r}")
    return listed_symbol(known, code)
