"""The ten largest holders of a company, of all its shares and of its float, at the ends of report periods:
two reports of the data centre, each a list by rank. Ranks tie and repeat."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import security_code, text_or_none
from resources.upstreams.eastmoney.reports.gateway import Report, among, on_day
from resources.upstreams.eastmoney.reports.institutions import amount_pct
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, number, promised, required, string_of, whole

HOLDER_COLUMNS: dict[str, str] = {
    **texts("code report_period holder_type holder_name share_nature change_text"),
    **numbers("rank_no hold_shares ratio_pct change_shares"),
}
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


def holders_report(kind: str, period: str, part: str) -> Report:
    """One slice of a list of all companies at the end of a report period."""
    of = LISTS[kind]
    return _report(of, (on_day("END_DATE", period), part))


def holders_of_report(kind: str, codes: Sequence[str], since: str, until: str) -> Report:
    """A list of some companies at the ends of the periods in [since, until]."""
    days = (on_day("END_DATE", since, ">="), on_day("END_DATE", until, "<="))
    return _report(LISTS[kind], (among("SECURITY_CODE", codes), *days))


def _report(of: HolderList, where: tuple[str, ...]) -> Report:
    # Equal lines are ordinary (one holder, two share natures left untold), so no key finds repeated rows.
    sort = ("SECURITY_CODE", "END_DATE", of.rank, "HOLDER_NAME", "HOLD_NUM")
    return Report(of.report, of.fields, where, sort, ())


def holder_rows(rows: Sequence[Mapping[str, Any]], kind: str) -> pd.DataFrame:
    """Columns `HOLDER_COLUMNS`: shares, percent. PayloadError for a row that cannot be."""
    return frame([_row(row, LISTS[kind]) for row in rows], HOLDER_COLUMNS)


def _row(row: Mapping[str, Any], of: HolderList) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", "END_DATE", of.rank, "HOLDER_NAME", "HOLD_NUM"), of.report)
    code = security_code(row["SECURITY_CODE"], of.report)
    what = f"{of.report} {code}"
    name = text_or_none(row["HOLDER_NAME"], f"{what} HOLDER_NAME")
    if name is None:
        raise PayloadError(f"{what}: a holder without a name")
    rank = whole(number(row[of.rank], f"{what} {of.rank}"), f"{what} {of.rank}")
    if not 1 <= rank <= 100:
        raise PayloadError(f"{what}: rank {rank}")
    change, label = _change(row.get("HOLD_NUM_CHANGE"), what)
    return {
        "code": code,
        "report_period": iso_day(string_of(row["END_DATE"], f"{what} END_DATE")[:10], f"{what} END_DATE"),
        "holder_type": of.kind,
        "rank_no": rank,
        "holder_name": name,
        "share_nature": text_or_none(row.get("SHARES_TYPE"), f"{what} SHARES_TYPE"),
        "hold_shares": required(amount(row["HOLD_NUM"], f"{what} HOLD_NUM"), f"{what} HOLD_NUM"),
        "ratio_pct": amount_pct(row.get(of.ratio), f"{what} {of.ratio}"),
        "change_shares": change,
        "change_text": text_or_none(row.get("HOLDNUM_CHANGE_NAME"), f"{what} HOLDNUM_CHANGE_NAME") or label,
    }


def _change(value: Any, what: str) -> tuple[float, str | None]:
    """(change in shares, the text in its place): a number, or 不变 or 新进."""
    text = value.strip() if isinstance(value, str) else ""
    if text == _UNCHANGED:
        return 0.0, text
    if text in _WITHOUT_NUMBER:
        return math.nan, text
    return number(value, f"{what} HOLD_NUM_CHANGE"), None
