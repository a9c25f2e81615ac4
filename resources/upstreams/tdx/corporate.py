"""Capital changes 0x000f (xdxr) and the finance snapshot 0x0010 -> canonical columns."""

import math
import struct
from collections.abc import Sequence
from typing import Any

from resources.upstreams.tdx.frames import Call
from resources.upstreams.tdx.instruments import Instrument
from resources.upstreams.tdx.primitives import (
    Columns,
    accepted,
    date_text,
    known_date_text,
    read_count,
    read_float,
    require,
    require_end,
    shortest,
)

CATEGORIES = {
    1: "除权除息",
    2: "送配股上市",
    3: "非流通股上市",
    4: "未知股本变动",
    5: "股本变化",
    6: "增发新股",
    7: "股份回购",
    8: "增发新股上市",
    9: "转配股上市",
    10: "可转债上市",
    11: "扩缩股",
    12: "非流通股缩股",
    13: "送认购权证",
    14: "送认沽权证",
    15: "重整调整",
}
#: What the four floats of a category mean: (column, factor to the canonical unit). Shares come in 10k.
_DIVIDEND = (("cash_per10", 1), ("rights_price", 1), ("bonus_per10", 1), ("rights_per10", 1))
_CAPITAL = (
    ("float_before", 10_000),
    ("total_before", 10_000),
    ("float_after", 10_000),
    ("total_after", 10_000),
)
_MEANINGS: dict[int, tuple[tuple[str, int] | None, ...]] = (
    {1: _DIVIDEND}
    | dict.fromkeys((2, 3, 4, 5, 7, 8, 9, 10), _CAPITAL)
    | {6: (None, ("issue_price", 1), ("issued_shares", 10_000), None)}
    | dict.fromkeys((11, 12), (None, None, ("consolidation_ratio", 1), None))
    | dict.fromkeys((13, 14), (("strike_price", 1), None, ("warrants_per10", 1), None))
    # Public clients name the kind of a reorganisation's record, none its four numbers.
    | {15: (None, None, None, None)}
)
_MEASURES = tuple(
    dict.fromkeys(cell[0] for cells in _MEANINGS.values() for cell in cells if cell is not None)
)
_RAW = ("f1", "f2", "f3", "f4")
XDXR_SCHEMA = (
    {"date": "str", "code": "str", "symbol": "str", "category": "int64", "name": "str"}
    | dict.fromkeys(_MEASURES, "float64")
    | dict.fromkeys(_RAW, "float64")
)
_HEAD = struct.Struct("<HB6s")
_RECORD = struct.Struct("<B6sBIB4f")
# market and code of the head are unpacked apart
_FINANCE = struct.Struct("<fHHII30f")
_FINANCE_SIZE = _HEAD.size + _FINANCE.size

#: The 30 floats behind the dates, in order; unit s = 10k shares, m = money, n = as it is, - = not used
#: (recorded values of state, promoter and legal shares contradict their names).
_FLOATS: tuple[tuple[str, str], ...] = (
    ("total_shares", "s"), ("state_shares", "-"), ("promoter_shares", "-"), ("legal_shares", "-"),
    ("b_shares", "s"), ("h_shares", "s"), ("eps", "n"), ("total_assets", "m"), ("current_assets", "m"),
    ("fixed_assets", "m"), ("intangible_assets", "m"), ("holders", "n"), ("current_liabilities", "m"),
    ("long_liabilities", "m"), ("capital_reserve", "m"), ("net_assets", "m"), ("revenue", "m"),
    ("main_profit", "m"), ("receivables", "m"), ("operating_profit", "m"), ("investment_income", "m"),
    ("operating_cash_flow", "m"), ("total_cash_flow", "m"), ("inventory", "m"), ("total_profit", "m"),
    ("profit_after_tax", "m"), ("net_profit", "m"), ("undistributed_profit", "m"), ("bvps", "n"),
    ("report_months", "n"),
)  # fmt: skip
FINANCE_SCHEMA = (
    {"code": "str", "symbol": "str", "report_period": "str", "updated_date": "str", "ipo_date": "str"}
    | {"province": "int64", "industry": "int64", "float_shares": "float64"}
    | {name: "float64" for name, unit in _FLOATS if unit != "-"}
    | {"money_factor": "int64"}
)
_MONEY_FACTORS = (1000, 10_000)
# Half of the distance between the two factors, on a log scale.
_FACTOR_MARGIN = math.log(10) / 2


def xdxr_call(what: Instrument) -> Call:
    payload = struct.pack("<HB6s", 1, what.market, what.code.encode())
    return Call("xdxr", 0x000F, payload, f"tdx://xdxr?symbol={what.symbol}", what.symbol)


def finance_call(what: Instrument) -> Call:
    payload = struct.pack("<HB6s", 1, what.market, what.code.encode())
    return Call("finance", 0x0010, payload, f"tdx://finance?symbol={what.symbol}", what.symbol)


@accepted("xdxr")
def parse_xdxr(body: bytes, what: Instrument) -> Columns:
    """All records, as ordered by the server. Amounts per 10 shares in CNY or shares, capital in shares;
    what a category does not have is NaN; `f1`..`f4` are the wire's own values."""
    columns: Columns = {name: [] for name in XDXR_SCHEMA}
    if body == b"\0\0":
        return columns
    _require_echo(body, what)
    number = read_count(body, _HEAD.size)
    first = _HEAD.size + 2
    require_end(body, first + number * _RECORD.size)
    for pos in range(first, len(body), _RECORD.size):
        market, code, _zero, day, category, *_floats = _RECORD.unpack_from(body, pos)
        require(
            (market, code) == (what.market, what.code.encode()), f"a record of {code!r} under {what.symbol}"
        )
        require(category in CATEGORIES, f"category {category}")
        values = [read_float(body, pos + 13 + 4 * at) for at in range(4)]
        row = event_row(date_text(day), what, category, values)
        for name, value in row.items():
            columns[name].append(value)
    return columns


def event_row(date: str, what: Instrument, category: int, values: Sequence[float]) -> dict[str, Any]:
    """One row of `XDXR_SCHEMA`: what the four numbers of a record mean in its category."""
    row: dict[str, Any] = dict.fromkeys(_MEASURES, float("nan")) | dict(zip(_RAW, values, strict=True))
    row |= {"date": date, "code": what.code, "symbol": what.symbol, "category": category}
    row["name"] = CATEGORIES[category]
    for cell, value in zip(_MEANINGS[category], values, strict=True):
        if cell is not None:
            column, factor = cell
            # Capital has no more than whole shares; the rest are prices and ratios.
            row[column] = float(round(value * factor)) if factor > 1 else shortest(value)
    return row


@accepted("finance")
def parse_finance(body: bytes, what: Instrument) -> Columns:
    """One row, or none when the server knows nothing. Shares in shares, money in CNY.

    The money unit is 1,000 CNY in recorded answers and 10,000 in old descriptions: the factor is the
    one that makes net assets per share meet the record's own book value per share.
    """
    columns: Columns = {name: [] for name in FINANCE_SCHEMA}
    if body == b"\0\0":
        return columns
    require_end(body, _FINANCE_SIZE)
    _require_echo(body, what)
    floating, province, industry, updated, listed, *floats = _FINANCE.unpack_from(body, _HEAD.size)
    require(all(math.isfinite(value) for value in (floating, *floats)), "a number that is not finite")
    wire = {name: value for (name, unit), value in zip(_FLOATS, floats, strict=True) if unit != "-"}
    units = dict(_FLOATS)
    if updated == 0 and wire["total_shares"] == 0:
        return columns
    factor = money_factor(wire["net_assets"], wire["total_shares"] * 10_000, wire["bvps"])
    months = round(wire["report_months"])
    row: dict[str, Any] = {"code": what.code, "symbol": what.symbol, "money_factor": factor}
    row |= {
        "updated_date": known_date_text(updated),
        "ipo_date": known_date_text(listed),
    }
    row |= {"province": province, "industry": industry, "float_shares": float(round(floating * 10_000))}
    row["report_period"] = report_period(updated, months)
    for name, value in wire.items():
        row[name] = _canonical(value, units[name], factor)
    for name in columns:
        columns[name].append(row[name])
    return columns


def _canonical(value: float, unit: str, factor: int) -> float:
    if unit == "s":
        return float(round(value * 10_000))
    return round(shortest(value) * factor, 2) if unit == "m" else shortest(value)


def money_factor(net_assets: float, total_shares: float, bvps: float) -> int:
    """1000 or 10000: CNY in one unit of the record's money. ValueError when neither fits."""
    if net_assets * bvps <= 0 or total_shares <= 0:
        return _MONEY_FACTORS[0]
    # Preferred shares and share issues since the report move the quotient, but not by half a power of ten.
    distances = {k: abs(math.log(net_assets * k / total_shares / bvps)) for k in _MONEY_FACTORS}
    best = min(_MONEY_FACTORS, key=lambda k: distances[k])
    require(
        distances[best] < _FACTOR_MARGIN,
        f"net assets {net_assets} do not meet {bvps} CNY per share in any unit",
    )
    return best


def report_period(updated: int, months: int) -> str | None:
    """End of the newest period of `months` (3, 6, 9, 12) that is not after `updated` (YYYYMMDD)."""
    ends = {3: 331, 6: 630, 9: 930, 12: 1231}
    if months not in ends or updated == 0:
        return None
    year = updated // 10_000
    return date_text((year if ends[months] <= updated % 10_000 else year - 1) * 10_000 + ends[months])


def _require_echo(body: bytes, what: Instrument) -> None:
    number, market, code = _HEAD.unpack_from(body, 0)
    require(number == 1, f"{number} securities instead of one")
    require(
        (market, code) == (what.market, what.code.encode()),
        f"{code!r} (market {market}) instead of {what.symbol}",
    )
