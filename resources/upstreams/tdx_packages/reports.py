"""`gpcw`: one report period of every company, the latest values (restated ones too) as float32.

A head of 20 bytes (version, period, number of companies, length of an index item, length of a record), an
index (code, flag, place of the record), the records. Their length has grown over the years: a column is known
by its number, counted from 1.
"""

import re
import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.report_periods import is_period
from resources.upstreams.tdx_packages.arrays import damaged, iso

_HEAD = struct.Struct("<hIHIII")
_ITEM = np.dtype([("code", "S6"), ("flag", "u1"), ("offset", "<u4")])
_LIST_LINE = re.compile(r"(gpcw(\d{8})\.zip),([0-9a-fA-F]{32}),(\d+)")
_ANNOUNCED = 314
"""Number of the column with the day of announcement, as YYMMDD."""
FIGURES = {
    "eps": 1, "deducted_eps": 2, "undistributed_ps": 3, "bvps": 4, "capital_reserve_ps": 5, "ocfps": 7,
    "cash": 8, "accounts_receivable": 11, "inventory": 17, "fixed_assets": 27, "goodwill": 35,
    "total_assets": 40, "short_debt": 41, "long_debt": 55, "total_liabilities": 63, "total_equity": 72,
    "revenue": 74, "operating_cost": 75, "sell_expense": 77, "admin_expense": 78, "finance_expense": 80,
    "operating_profit": 86, "total_profit": 92, "net_profit": 96, "operating_cash_flow": 107, "capex": 114,
    "investing_cash_flow": 119, "financing_cash_flow": 128, "current_ratio": 159, "quick_ratio": 160,
    "revenue_yoy": 183, "net_profit_yoy": 184, "gross_margin": 202, "deducted_net_profit": 206,
    "debt_ratio": 210, "parent_equity": 271, "roe": 281, "rd_expense": 304,
}  # fmt: skip
"""Key figure -> number of its column: CNY (cumulative since 1 January), CNY a share, or percent. Only what
the amounts of a real file, or a second source, confirm."""
_TINY = 1e-30
"""Below it a float32 stands for nothing."""


@dataclass(frozen=True)
class ListedReport:
    """One line of `gpcw.txt`: a file with its period (ISO), MD5 and size in bytes."""

    name: str
    period: str
    md5: str
    size: int


@dataclass(frozen=True)
class Reports:
    """Reports of one period (ISO). `values[row, number - 1]` is a column of the company `codes[row]`; 0 where
    a report has none."""

    period: str
    codes: npt.NDArray[np.str_]
    values: npt.NDArray[np.float32]

    def column(self, number: int) -> npt.NDArray[np.float64]:
        """A column by its number, counted from 1; NaN where the file does not have it. A column that is 0 for
        every company is missing as well."""
        missing = np.full(len(self.codes), np.nan)
        if not 1 <= number <= self.values.shape[1]:
            return missing
        found = self.values[:, number - 1].astype(np.float64)
        found[~np.isfinite(found)] = np.nan
        found[np.abs(found) < _TINY] = 0.0
        return found if np.any(np.nan_to_num(found)) else missing

    @property
    def announced(self) -> list[str | None]:
        """Days of announcement (ISO); None where the file tells none."""
        return [_day(value) for value in np.nan_to_num(self.column(_ANNOUNCED)).tolist()]


def _day(value: float) -> str | None:
    """240403.0 -> '2024-04-03'; years up to 50 are of this century."""
    number = round(value)
    if number <= 0:
        return None
    try:
        return iso(number + (20_000_000 if number < 500_000 else 19_000_000))
    except ValueError:
        return None


def read_reports(content: bytes) -> Reports:
    """The reports of a `.dat`. PayloadError for a file that is cut off or of another layout."""
    if len(content) < _HEAD.size:
        raise damaged(f"gpcw: {len(content)} bytes hold no head")
    _version, day, count, item_length, length, _zero = _HEAD.unpack_from(content)
    period = _period(day)
    if item_length >> 16 != _ITEM.itemsize or not length or length % 4:
        raise damaged(f"gpcw {period}: items of {item_length >> 16} and records of {length} bytes")
    first = _HEAD.size + count * _ITEM.itemsize
    if len(content) != first + count * length:
        raise damaged(f"gpcw {period}: {len(content)} bytes, {first + count * length} of {count} companies")
    index = np.frombuffer(content, dtype=_ITEM, count=count, offset=_HEAD.size)
    if not np.array_equal(np.sort(index["offset"]), first + np.arange(count) * length):
        raise damaged(f"gpcw {period}: records do not follow each other")
    strange = [code for code in index["code"].tolist() if len(code) != 6 or not code.isdigit()]
    if strange:
        raise damaged(f"gpcw {period}: {strange[0]!r} is no code")
    values = np.frombuffer(content, dtype="<f4", offset=first).reshape(count, length // 4)
    return Reports(period, *_once(index["code"].astype(str), values[(index["offset"] - first) // length]))


def _once(
    codes: npt.NDArray[np.str_], values: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.float32]]:
    """One record of each code. Real files list some companies twice: a number that only one record has is
    taken from it, two different ones are not known (NaN)."""
    unique, firsts = np.unique(codes, return_index=True)
    merged = values[firsts].copy()
    for at in np.setdiff1d(np.arange(len(codes)), firsts).tolist():
        place = int(np.searchsorted(unique, codes[at]))
        own, other = merged[place], values[at]
        differs = (own != other) & (own != 0) & (other != 0)
        merged[place] = np.where(differs, np.float32(np.nan), np.where(own == 0, other, own))
    return unique, merged


def read_report_list(content: bytes) -> list[ListedReport]:
    """The lines of `gpcw.txt`, oldest period first. PayloadError for another form, no line, a file twice."""
    found = []
    for line in content.decode("ascii", errors="replace").split():
        match = _LIST_LINE.fullmatch(line)
        if match is None:
            raise damaged(f"gpcw.txt: {line[:60]!r} names no file with its hash and size")
        found.append(ListedReport(match[1], _period(int(match[2])), match[3].lower(), int(match[4])))
    if not found:
        raise damaged("gpcw.txt: names no file")
    if len({one.name for one in found}) != len(found):
        raise damaged("gpcw.txt: a file twice")
    return sorted(found, key=lambda one: one.period)


def _period(day: int) -> str:
    try:
        period = iso(day)
    except ValueError:
        raise damaged(f"gpcw: {day} is no day") from None
    if not is_period(period):
        raise damaged(f"gpcw: {period} is the end of no quarter")
    return period
