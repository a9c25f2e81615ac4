"""Envelope, JSONP and number formats of push2: `fltt`, `np`, "-" for missing values."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulated_market.wire import HttpRequest, Reply, json_reply
from simulated_market.world.model import Security, World

# rt = endpoint type, as recorded.
RT_LIST, RT_ULIST, RT_SECURITY, RT_KLINE, RT_TRENDS, RT_FLOW, RT_CONNECT = 6, 11, 4, 17, 10, 21, 7


def reply(request: HttpRequest, rt: int, data: Any, *, rc: int = 0) -> Reply:
    """`rc` 100 and 102 go with `data` null."""
    document = {
        "rc": rc,
        "rt": rt,
        "svr": 181669693,
        "lt": 1,
        "full": 1,
        "dlmkts": "",
        "dsc": "0",
        "data": data,
    }
    return json_reply(document, request.params().get("cb"), "application/javascript; charset=UTF-8", end=");")


def bars_reply(
    request: HttpRequest,
    named: Mapping[str, Any],
    lines: Sequence[str],
    *,
    decimals: int,
    total: int | None = None,
    previous: float = 0.0,
) -> Reply:
    """Lines of bars under the code, market and name of what they are of; `total` is the number of the bars
    that there are, `previous` the close before the first line (CNY)."""
    data = {
        **named,
        "decimal": decimals,
        "dktotal": len(lines) if total is None else total,
        "preKPrice": previous,
        "klines": lines,
    }
    return reply(request, RT_KLINE, data)


def report(version: str, rows: Sequence[Any], *, pages: int, count: int) -> dict[str, Any]:
    """A page of a report of the data centre; `pages` and `count` are those of the whole report."""
    result = {"pages": pages, "data": rows, "count": count}
    return {"version": version, "result": result, "success": True, "message": "ok", "code": 0}


def no_report(code: int, message: str) -> dict[str, Any]:
    """9201: no rows; 9501: a report, column or condition that does not exist."""
    return {"version": None, "result": None, "success": False, "message": message, "code": code}


_EXTRA = {"f128": ("f140", "f141"), "f205": ("f206",), "f258": ("f259",), "f261": ("f262",)}
"""Fields that the wire adds to the one that names a security: its code, its market."""
_BOOK = tuple(f"f{number}" for number in (*range(11, 21), *range(31, 41)))


def sent_fields(asked: str) -> list[str]:
    """The fields of a row in the order of the wire: ascending, whatever the order they were asked in; `f530`
    is the book of five levels."""
    names = {name for name in asked.split(",") if name.startswith("f") and name[1:].isdigit()}
    names |= {extra for name in names for extra in _EXTRA.get(name, ())}
    if "f530" in names:
        names |= set(_BOOK)
        names.remove("f530")
    return sorted(names, key=lambda name: int(name[1:]))


def asked_fields(params: Mapping[str, str], otherwise: str = "f12,f13,f14") -> tuple[list[str], bool]:
    """The fields of a row, and whether figures are in natural units (`fltt=2`)."""
    return sent_fields(params.get("fields", otherwise)), params.get("fltt") == "2"


def chosen(params: Mapping[str, str], line: str) -> str:
    """The parts of a series' row that `fields2` asks for, in ascending order; all where it is not given."""
    asked = {name[1:] for name in params.get("fields2", "").split(",") if name.startswith("f")}
    if not asked:
        return line
    # The first part is f51 in every series.
    return ",".join(part for number, part in enumerate(line.split(","), start=51) if str(number) in asked)


def rows(params: Mapping[str, str], items: Sequence[Any]) -> Any:
    """`diff`: a list with np=1, else an object with row numbers for keys."""
    if params.get("np") == "1":
        return list(items)
    return {str(number): item for number, item in enumerate(items)}


def security_of(world: World, secid: str) -> Security | None:
    """1.600519 -> sh600519; market 0 holds Shenzhen and Beijing."""
    market, _, code = secid.partition(".")
    if market == "1":
        return world.find(f"sh{code}")
    if market == "0":
        return world.find(f"sz{code}") or world.find(f"bj{code}")
    return None


def market_of(security: Security) -> int:
    return 1 if security.market == "SH" else 0


def shown(value: Any, kind: str, digits: int, *, natural: bool) -> Any:
    """One value on the wire. `kind`: px price (CNY), pct percent or ratio, else as it is. Without
    fltt=2 prices are integers times 10**digits and percentages times 100."""
    if value is None or value != value:  # noqa: PLR0124  NaN
        return "-"
    if kind == "px":
        return round(value, digits) if natural else round(value * 10**digits)
    if kind == "pct":
        return round(value, 2) if natural else round(value * 100)
    return value
