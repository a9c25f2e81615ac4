"""Margin trading by security, a report of the data centre (RPTA_WEB_RZRQ_GGMX)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report, among, code_of, day_of, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import (
    AMT,
    amount,
    check_unit,
    number,
    price,
    promised,
    required,
    string_of,
)

MARGIN_COLUMNS: dict[str, str] = {
    **texts("code date name"),
    **numbers("rzye rzmre rzche rqye loan_volume rqmcl rqchl rzrqye fin_ratio_pct close change_pct"),
}
_PROMISED = ("DATE", "SCODE", "RZYE")
_RATIO_SLACK = 0.01


def margin_report(day: str, codes: Sequence[str] | None = None) -> Report:
    """All margin securities of one trade date, or some."""
    where = (on_day("DATE", day), *(() if codes is None else (among("SCODE", codes),)))
    return Report("RPTA_WEB_RZRQ_GGMX", EVERY_COLUMN, where, sort=("SCODE",), key=("code", "date"))


def margin_history_report(since: str, until: str, codes: Sequence[str]) -> Report:
    """Some securities over all dates of a range."""
    where = (on_day("DATE", since, ">="), on_day("DATE", until, "<="), among("SCODE", codes))
    return Report("RPTA_WEB_RZRQ_GGMX", EVERY_COLUMN, where, sort=("DATE", "SCODE"), key=("code", "date"))


def margin_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `MARGIN_COLUMNS`; CNY and shares. PayloadError when a row contradicts itself."""
    return frame([_row(row) for row in rows], MARGIN_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _PROMISED, "margin")
    code = code_of(row["SCODE"], "margin")
    what = f"margin {code}"
    made: dict[str, Any] = {
        "code": code,
        "date": day_of(row["DATE"], f"{what} DATE"),
        "name": None if row.get("SECNAME") is None else string_of(row["SECNAME"], f"{what} SECNAME").strip(),
        "rzye": required(amount(row["RZYE"], f"{what} RZYE"), f"{what} RZYE"),
        "rzmre": amount(row.get("RZMRE"), f"{what} RZMRE"),
        "rzche": amount(row.get("RZCHE"), f"{what} RZCHE"),
        "rqye": amount(row.get("RQYE"), f"{what} RQYE"),
        "loan_volume": amount(row.get("RQYL"), f"{what} RQYL"),
        "rqmcl": amount(row.get("RQMCL"), f"{what} RQMCL"),
        "rqchl": amount(row.get("RQCHL"), f"{what} RQCHL"),
        "rzrqye": amount(row.get("RZRQYE"), f"{what} RZRQYE"),
        "fin_ratio_pct": number(row.get("RZYEZB"), f"{what} RZYEZB"),
        "close": price(row.get("SPJ"), f"{what} SPJ"),
        "change_pct": number(row.get("ZDF"), f"{what} ZDF"),
    }
    _check(made, amount(row.get("SZ"), f"{what} SZ"), what)
    return made


def _check(row: Mapping[str, Any], float_cap: float, what: str) -> None:
    """The identities of the report: they fail when a column is shifted or in another unit."""
    gap = abs(round(row["rzye"] + row["rqye"], AMT) - row["rzrqye"])
    if not math.isnan(gap) and gap > 1:
        raise PayloadError(f"{what}: RZYE + RQYE is not RZRQYE by {gap:.2f}")
    check_unit(
        shares=row["loan_volume"],
        amount_cny=row["rqye"],
        low=row["close"],
        high=row["close"],
        what=f"{what} RQYE / RQYL",
    )
    if float_cap > 0 and not math.isnan(row["fin_ratio_pct"]):
        stated, meant = row["fin_ratio_pct"], row["rzye"] / float_cap * 100
        if abs(stated - meant) > _RATIO_SLACK + 0.01 * abs(meant):
            raise PayloadError(f"{what}: RZYEZB {stated} is not RZYE / SZ = {meant:.4f} percent")
