"""The ten largest holders of a company, of all its shares and of its float, at the ends of report periods:
two reports of the data centre, each a list by rank; ranks tie and repeat. And the funds that hold a company
(RPT_MAINDATA_MAIN_POSITIONDETAILS)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.f10.pages import secucode
from resources.upstreams.parsing.frames import texts
from resources.upstreams.parsing.payload import amount, number, string_of, whole
from resources.upstreams.parsing.rows import (
    Table,
    day_of,
    may,
    must,
    needed,
    security_code,
    share_pct,
    text_or_none,
)

_UNCHANGED, _WITHOUT_NUMBER = "不变", ("新进", "新增", "退出")
_HALF = 5


@dataclass(frozen=True)
class HolderList:
    """One of the two lists: its report, and what the report calls rank and ratio."""

    kind: str
    report: str
    rank: str
    ratio: str

    @property
    def fields(self) -> tuple[str, ...]:
        return ("SECURITY_CODE", "END_DATE", self.rank, "HOLDER_NAME", "SHARES_TYPE", "HOLD_NUM", self.ratio,
                "HOLD_NUM_CHANGE", "HOLDNUM_CHANGE_NAME")  # fmt: skip

    @property
    def slices(self) -> tuple[str, ...]:
        """Clauses that cut a period of the market into parts below the gateway's 50,000 rows."""
        return (f"({self.rank}<={_HALF})", f"({self.rank}>{_HALF})")


LISTS: dict[str, HolderList] = {
    "top10": HolderList("top10", "RPT_DMSK_HOLDERS", "RANK", "HOLD_RATIO"),
    "float10": HolderList("float10", "RPT_F10_EH_FREEHOLDERS", "HOLDER_RANK", "FREE_HOLDNUM_RATIO"),
}


def holders_report(kind: str, period: str, part: str) -> data_centre.Report:
    """One slice of a list of all companies at the end of a report period."""
    of = LISTS[kind]
    return _report(of, (data_centre.on_day("END_DATE", period), part))


def holders_of_report(kind: str, codes: Sequence[str], since: str, until: str) -> data_centre.Report:
    """A list of some companies at the ends of the periods in [since, until]."""
    return _report(
        LISTS[kind],
        (data_centre.among("SECURITY_CODE", codes), *data_centre.between("END_DATE", since, until)),
    )


def _report(of: HolderList, where: tuple[str, ...]) -> data_centre.Report:
    # Ranks tie, and a holder may have two lines: a repeated line is alike in everything.
    sort = ("SECURITY_CODE", "END_DATE", of.rank, "HOLDER_NAME", "HOLD_NUM")
    return data_centre.Report(of.report, of.fields, where, sort, tuple(HOLDER_COLUMNS))


def _rank(value: Any, what: str) -> float:
    rank = whole(number(value, what), what)
    if not 1 <= rank <= 100:
        raise PayloadError(f"{what}: rank {rank}")
    return rank


def _change(value: Any, what: str) -> float:
    """Change in shares: a number, or 不变 or 新进."""
    text = _words(value)
    return 0.0 if text == _UNCHANGED else math.nan if text else number(value, what)


def _words(value: Any, what: str = "") -> str | None:
    """The words in the place of a change."""
    text = value.strip() if isinstance(value, str) else ""
    return text if text in {_UNCHANGED, *_WITHOUT_NUMBER} else None


def _check(row: dict[str, Any], what: str, kind: str) -> None:
    if row["holder_name"] is None:
        raise PayloadError(f"{what}: a holder without a name")
    row |= {"holder_type": kind, "change_text": row["_stated"] or row["_words"]}


def _table(of: HolderList) -> Table:
    return Table(
        of.report,
        must(security_code, SECURITY_CODE="code"),
        must(day_of, END_DATE="report_period"),
        must(_rank, **{of.rank: "rank_no"}),
        must(text_or_none, HOLDER_NAME="holder_name"),
        may(text_or_none, SHARES_TYPE="share_nature", HOLDNUM_CHANGE_NAME="_stated"),
        must(needed(amount), HOLD_NUM="hold_shares"),
        may(share_pct, **{of.ratio: "ratio_pct"}),
        may(_change, HOLD_NUM_CHANGE="change_shares"),
        may(_words, HOLD_NUM_CHANGE="_words"),
        check=partial(_check, kind=of.kind),
        more=texts("holder_type change_text"),
    )


_TABLES = {kind: _table(of) for kind, of in LISTS.items()}
HOLDER_COLUMNS = _TABLES["top10"].columns
"""Shares, percent."""


def holder_rows(rows: Sequence[Mapping[str, Any]], kind: str) -> pd.DataFrame:
    """Columns `HOLDER_COLUMNS`. PayloadError for a row that cannot be."""
    return _TABLES[kind].frame(rows)


# -- funds that hold one company

_FUNDS = "基金"
"""As public clients ask for them; other reports number the kinds of institutions (01)."""
_POSITION_KEY = ("code", "report_period", "fund_code")


def positions_report(symbol: str, periods: Sequence[str]) -> data_centre.Report:
    """The funds that held one company at the ends of some report periods."""
    where = (
        data_centre.equals("SECURITY_CODE", symbol[2:]),
        data_centre.days_among("REPORT_DATE", periods),
        data_centre.equals("ORG_TYPE", _FUNDS),
    )
    name = "RPT_MAINDATA_MAIN_POSITIONDETAILS"
    return data_centre.Report(
        name, data_centre.EVERY_COLUMN, where, ("REPORT_DATE", "HOLDER_CODE"), _POSITION_KEY
    )


def _fund(value: Any, what: str) -> str:
    fund = string_of(value, what).strip()
    if not fund or len(fund) > 16:
        raise PayloadError(f"{what} {fund[:20]!r}")
    return fund


POSITIONS = Table(
    "positions",
    must(security_code, SECURITY_CODE="code"),
    must(day_of, REPORT_DATE="report_period"),
    must(_fund, HOLDER_CODE="fund_code"),
    may(text_or_none, HOLDER_NAME="fund_name"),
    must(needed(amount), TOTAL_SHARES="hold_shares"),
    may(amount, HOLD_MARKET_CAP="hold_value"),
    may(number, NETASSET_RATIO="nav_ratio_pct"),
    may(share_pct, FREE_SHARES_RATIO="float_ratio_pct"),
)
"""Shares, CNY, percent of the fund's assets and of the float."""


def position_rows(rows: Sequence[Mapping[str, Any]], symbol: str) -> pd.DataFrame:
    """The columns of `POSITIONS`. PayloadError for another company or kind of institution, and for a row that
    cannot be."""
    what = f"positions {symbol}"
    for row in rows:
        for name, asked in (("SECURITY_CODE", symbol[2:]), ("SECUCODE", secucode(symbol))):
            if row.get(name, asked) != asked:
                raise PayloadError(f"{what}: answered for {str(row[name])[:20]!r}")
        if row.get("ORG_TYPE") != _FUNDS:
            raise PayloadError(f"{what}: ORG_TYPE {str(row.get('ORG_TYPE'))[:8]!r} is no fund")
    return POSITIONS.frame(rows)
